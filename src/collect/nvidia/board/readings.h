/* The metrics that NVML's readings give, and taking them. */
#ifndef KS_COLLECT_NVIDIA_BOARD_READINGS_H
#define KS_COLLECT_NVIDIA_BOARD_READINGS_H

#include "collect/collector.h"
#include "collect/nvidia/nvml.h"

enum ks_board_reading {
    KS_BOARD_ENERGY,
    KS_BOARD_POWER,
    KS_BOARD_SM_CLOCK,
    KS_BOARD_MEMORY_CLOCK,
    KS_BOARD_TEMPERATURE,
    KS_BOARD_MARGIN,
    KS_BOARD_READINGS
};

/** Tell all metrics. @param[in] reason  why they cannot be measured here; NULL: they can */
ks_status ks_board_list(const ks_metric_sink *to, const char *reason, ks_error *err);

/** Which reading a metric is. KS_BOARD_READINGS: none. */
enum ks_board_reading ks_board_reading_of(const char *metric);

/** Fill in all of a metric but its name, source and card. */
void ks_board_reading_describe(enum ks_board_reading reading, ks_metric *metric);

/** Take one of KS_BOARD_ENERGY (mJ) and those behind KS_BOARD_POWER. @return NVML's result */
ks_nvml_result ks_board_reading_take(enum ks_board_reading reading, const ks_board *board,
                                     int64_t *out);

/** What cannot be done where that result is not 0, for ks_board_fail(). */
const char *ks_board_reading_what(enum ks_board_reading reading);

#endif
