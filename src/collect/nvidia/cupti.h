/* CUPTI, the library that knows the counters. */
#ifndef KS_COLLECT_NVIDIA_CUPTI_H
#define KS_COLLECT_NVIDIA_CUPTI_H

#include "collect/nvidia/abi.h"
#include "collect/nvidia/library.h"

typedef struct ks_cupti {
    ks_library library;
    uint32_t api_version;
#define KS_CUPTI_MEMBER(member, arguments, name) ks_cupti_result(*member) arguments;
    KS_CUPTI_FUNCTIONS(KS_CUPTI_MEMBER)
    KS_CUPTI_OPTIONAL_FUNCTIONS(KS_CUPTI_MEMBER) /* NULL: it has none */
#undef KS_CUPTI_MEMBER
} ks_cupti;

/**
 * CUPTI 12.8 or later, found at the first call that succeeds; it stays. Needs no device.
 *
 * @return KS_UNAVAILABLE: there is none that can be used, with every path that was tried and why
 * not; KS_ENOMEM
 */
ks_status ks_cupti_get(const ks_cupti **out, ks_error *err);

/** A failure of one of its functions, by name and number. */
ks_status ks_cupti_fail(const ks_cupti *cupti, ks_cupti_result result, const char *what,
                        ks_error *err);

#endif
