/* Clocks and memory of this process, or of a program that it runs. Always there. */
#ifndef KS_COLLECT_CLOCK_H
#define KS_COLLECT_CLOCK_H

#include "collect/collector.h"

extern const ks_collector_ops ks_clock_ops;

#endif
