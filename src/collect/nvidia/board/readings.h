/* The metrics that NVML's readings give, and taking them. */
#ifndef KS_COLLECT_NVIDIA_BOARD_READINGS_H
#define KS_COLLECT_NVIDIA_BOARD_READINGS_H

#include "collect/collector.h"
#include "collect/nvidia/nvml.h"

enum ks_reading {
    KS_READ_ENERGY,
    KS_READ_POWER,
    KS_READ_SM_CLOCK,
    KS_READ_MEMORY_CLOCK,
    KS_READ_TEMPERATURE,
    KS_READ_MARGIN,
    KS_READINGS
};

/** Tell all metrics. @param[in] reason  why they cannot be measured here; NULL: they can */
ks_status ks_readings_list(const ks_metric_sink *to, const char *reason, ks_error *err);

/** Which reading a metric is. KS_READINGS: none. */
enum ks_reading ks_reading_of(const char *metric);

/** Fill in all of a metric but its name, source and card. */
void ks_reading_describe(enum ks_reading reading, ks_metric *metric);

/** Take one of KS_READ_ENERGY (mJ) and those behind KS_READ_POWER. @return NVML's result */
ks_nvml_result ks_reading_take(enum ks_reading reading, const ks_board *board, int64_t *out);

/** What cannot be done where that result is not 0, for ks_board_fail(). */
const char *ks_reading_what(enum ks_reading reading);

#endif
