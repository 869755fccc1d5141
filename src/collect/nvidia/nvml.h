/* NVML, the library that manages devices: what the driver's and CUPTI's interfaces do not tell. */
#ifndef KS_COLLECT_NVIDIA_NVML_H
#define KS_COLLECT_NVIDIA_NVML_H

#include <stdbool.h>

#include "collect/nvidia/abi_nvml.h"
#include "collect/nvidia/library.h"

/** Room for "GPU-...", terminator included. */
#define KS_BOARD_UUID_MAX 48

typedef struct ks_nvml {
    ks_library library;
#define KS_NVML_MEMBER(type, member, arguments, name) type(*member) arguments;
    KS_NVML_FUNCTIONS(KS_NVML_MEMBER)
    KS_NVML_OPTIONAL_FUNCTIONS(KS_NVML_MEMBER)
#undef KS_NVML_MEMBER
} ks_nvml;

/**
 * It, initialised; it stays.
 *
 * @return KS_UNAVAILABLE: it is not there, or cannot be used; KS_ENOMEM
 *
 * Threads: any.
 */
ks_status ks_nvml_get(const ks_nvml **out, ks_error *err);

typedef enum ks_mig {
    KS_MIG_UNKNOWN,
    KS_MIG_OFF,
    KS_MIG_ON,   /**< the GPU is divided */
    KS_MIG_PART, /**< ... and this is a part of it */
} ks_mig;

/** Whether a device is divided. @param[in] uuid  "GPU-...", as ks_gpu_uuid() writes it */
ks_mig ks_nvml_mig(const ks_nvml *nvml, const char *uuid);

/** A GPU, as NVML knows it. */
typedef struct ks_board {
    const ks_nvml *nvml;
    ks_nvml_device device; /**< of a part (MIG): the whole GPU, whose clocks and heat are its own */
    bool part;
    char uuid[KS_BOARD_UUID_MAX]; /**< "GPU-...", as ks_gpu_uuid() writes it */
} ks_board;

/** @return KS_UNAVAILABLE: there is no NVML, or it does not know the device; KS_ENOMEM */
ks_status ks_board_open(const char *uuid, ks_board *out, ks_error *err);

/**
 * How many degrees Celsius it is below the temperature at which it slows down.
 *
 * @return KS_UNAVAILABLE: the driver does not tell
 */
ks_status ks_board_margin(const ks_board *board, int *out, ks_error *err);

/** "cannot WHAT: reason (number)". `result` KS_NVML_NO_FUNCTION: the driver is too old.
 * @return KS_UNAVAILABLE; KS_EPERM for KS_NVML_NO_PERMISSION */
ks_status ks_board_fail(const ks_board *board, ks_nvml_result result, const char *what,
                        ks_error *err);

/** No function of that name: not one of NVML's results. */
#define KS_NVML_NO_FUNCTION (-1)

/** The result of an optional function, KS_NVML_NO_FUNCTION without it. */
#define KS_BOARD_ASK(board, function, ...)                 \
    ((board)->nvml->function == NULL ? KS_NVML_NO_FUNCTION \
                                     : (board)->nvml->function((board)->device, __VA_ARGS__))

#endif
