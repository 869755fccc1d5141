/* What measuring costs, by what it cost on one GPU (docs/gpu.md): about. */
#ifndef KS_COLLECT_NVIDIA_COST_H
#define KS_COLLECT_NVIDIA_COST_H

#include <stddef.h>

/** Milliseconds that each launch takes longer in each pass, where these counters are read and
 * caches are swept. */
double ks_cost_of_launch(const char *const *counters, size_t count);

/** Milliseconds that each pass of a config takes longer, however many runs it has. */
double ks_cost_of_pass(const char *const *counters, size_t count);

#endif
