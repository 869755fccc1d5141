/* The collector of NVML's readings: energy, power, clocks, heat. */
#ifndef KS_COLLECT_NVIDIA_BOARD_BOARD_H
#define KS_COLLECT_NVIDIA_BOARD_BOARD_H

#include "collect/collector.h"

extern const ks_collector_ops ks_board_ops;

#endif
