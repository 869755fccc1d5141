/* What the parts of the fakes share; both libraries use the state that libcuda has. */
#ifndef FAKE_NVIDIA_INTERNAL_H
#define FAKE_NVIDIA_INTERNAL_H

#include "fakes/nvidia/fake_nvidia.h"

enum {
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_NOT_INITIALIZED = 3,
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_DEVICE = 101,
    CUDA_INVALID_CONTEXT = 201,
    CUDA_INVALID_HANDLE = 400,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_NOT_SUPPORTED = 801,
    CUPTI_INVALID_CONTEXT = 3,
    CUPTI_INVALID_OPERATION = 7,
    CUPTI_NOT_INITIALIZED = 15,
    CUPTI_INVALID_CHIP = 46,
    CUPTI_UNKNOWN = 999,
    NAME_MAX_BYTES = 128,
    DEVICES_MAX = 8
};

/* One lock for all. Functions named *_locked want it held; callbacks are called without it. */
FAKE_EXPORT void fake_lock(void);
FAKE_EXPORT void fake_unlock(void);

/* ---- script.c ----
 */

typedef struct fake_settings {
    long drop;
    long drop_every;
    long extra_ranges;
    long device_error;
    long context_reset_after;
    long endless;
    long gap;
    long no_passes;
    long range_bytes;
    long report_dropped;
    long devices;
    long driver_version;
    long cupti_version; /* 0: the library's own */
    long compute_capability;
    long architecture; /* of supported. */
    long sli;
    long vgpu;
    long confidential;
    long cmp;
    long wsl;
    long mig;
    long mps;
    long margin; /* 0: the board's */
    char chip[32];
    char holder[32];
    char driver[32];
} fake_settings;

FAKE_EXPORT extern fake_settings fake_set;

/** Enter a function of the vendor's. @return what the script has it give; 0: nothing special */
FAKE_EXPORT int fake_enter(const char *function);

/** Leave with what the script says, if it says something of this function. */
#define ENTER(function)                       \
    do {                                      \
        int fault_of_ = fake_enter(function); \
        if (fault_of_ != 0) {                 \
            return fault_of_;                 \
        }                                     \
    } while (0)

/** Launches since the script was given: the number of one more. */
long fake_next_launch_locked(void);

/* ---- model.c ----
 */

/** Of one launch; NaN if it was not told. `metric` is a full name. */
FAKE_EXPORT double fake_value_locked(const char *kernel, const char *metric, double blocks);
bool fake_is_known_locked(const char *kernel);
int fake_function_attribute_locked(const char *kernel, int attribute);
void fake_forget_kernels_locked(void);

/* ---- driver.c ----
 */

typedef struct ks_cuda_context_st {
    ks_cuda_device device;
    uint32_t id;
    bool alive;
    ks_cuda_context next; /* took its place */
} fake_context;

struct ks_cuda_function_st {
    char name[NAME_MAX_BYTES];
    ks_cuda_module module; /* NULL: of the program */
};

FAKE_EXPORT bool fake_context_is_good_locked(ks_cuda_context context);
FAKE_EXPORT bool fake_device_is_broken_locked(void);
void fake_break_device_locked(bool broken);
/** The context of this thread; NULL: none. */
FAKE_EXPORT ks_cuda_context fake_current_locked(void);
/** That, for work: 0, or why none can be done. */
ks_cuda_result fake_can_work_locked(ks_cuda_context *current);
ks_cuda_result fake_check_function_locked(ks_cuda_function function, ks_cuda_context current);
void fake_reset_context_locked(ks_cuda_context context);
void fake_forget_devices_locked(void);
FAKE_EXPORT extern fake_alive fake_now; /* under the lock */

/* ---- board.c ----
 */

void fake_forget_boards_locked(void);
/** What the counter of energy of a device says, in mJ. */
FAKE_EXPORT double fake_energy_locked(int device);

/* ---- launch.c ----
 */

/** A kernel that runs. */
typedef struct fake_run {
    char name[NAME_MAX_BYTES];
    double blocks;
} fake_run;

/** What CUPTI wants to know. */
typedef struct fake_hooks {
    /** Before and after a launch, without the lock. */
    void (*call)(uint32_t function, ks_cupti_callback_data *data);
    /** Kernels run: one, or with `graph` set any number of them. `drop`: they find no slot. */
    void (*run_locked)(ks_cuda_context context, const fake_run *runs, size_t count, bool graph,
                       bool drop);
} fake_hooks;

FAKE_EXPORT void fake_set_hooks(const fake_hooks *hooks);
/** When a library goes that another one has not taken the place of. */
FAKE_EXPORT void fake_clear_hooks(const fake_hooks *hooks);
bool fake_is_capturing_locked(ks_cuda_stream stream);
void fake_forget_runs_locked(void);

#endif
