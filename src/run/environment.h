/* Facts about this machine, for the results. */
#ifndef KS_RUN_ENVIRONMENT_H
#define KS_RUN_ENVIRONMENT_H

#include "collect/collector.h"

/** Host, operating system, CPU. What cannot be read is left out. */
ks_status ks_environment(const ks_fact_sink *to, ks_error *err);

#endif
