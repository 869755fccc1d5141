/* What is known of the launches of one kernel, added up. */
#ifndef KS_SAMPLES_KERNEL_SUM_H
#define KS_SAMPLES_KERNEL_SUM_H

#include <stdbool.h>
#include <stdint.h>

/** What is known of a kernel as it was launched. All 0: nothing. */
typedef struct ks_kernel_facts {
    bool known;           /**< the others are; each of them is negative if it is not */
    int32_t registers;    /**< of a thread */
    int64_t shared_bytes; /**< of a block: what the kernel declares, and what the launch adds */
    int64_t local_bytes;  /**< of a thread: registers that did not fit, arrays, the stack */
    double occupancy;     /**< most warps on an SM, of those that it can hold, in % */
} ks_kernel_facts;

/** Launches of one kernel. All 0: there was none. */
typedef struct ks_kernel_sum {
    uint64_t launches;
    uint64_t timed; /**< those of them whose time is known */
    double ns;      /**< of the timed ones together; the shortest, the longest */
    double least_ns;
    double most_ns;
    ks_kernel_facts facts; /**< in which all agree */
} ks_kernel_sum;

/** Take from others what is not known. */
void ks_kernel_facts_fill(ks_kernel_facts *facts, const ks_kernel_facts *others);

/** @param[in] ns  0: not known */
void ks_kernel_sum_launch(ks_kernel_sum *sum, double ns, const ks_kernel_facts *facts);

void ks_kernel_sum_add(ks_kernel_sum *sum, const ks_kernel_sum *others);

#endif
