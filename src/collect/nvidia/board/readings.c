#include "collect/nvidia/board/readings.h"

#include <string.h>

#include "base/error.h"

static const struct {
    const char *name;
    const char *unit;
    ks_metric_kind kind;
    ks_rule rule;
    const char *description;
    const char *what;
} all[KS_BOARD_READINGS] = {
    [KS_BOARD_ENERGY] = {"nvml__energy.sum", "J", KS_COUNT, KS_RULE_ADD,
                         "energy of the GPU in a call of the body; short ones are repeated",
                         "read the energy that the GPU used"},
    [KS_BOARD_POWER] = {"nvml__power.avg", "W", KS_RATE, KS_RULE_WEIGHTED,
                        "that energy over the time; short ones are repeated",
                        "read the energy that the GPU used"},
    [KS_BOARD_SM_CLOCK] = {"nvml__clock_sm.avg", "MHz", KS_RATE, KS_RULE_WEIGHTED,
                           "clock of the SMs, read at the end of each visit",
                           "read the clock of the SMs"},
    [KS_BOARD_MEMORY_CLOCK] = {"nvml__clock_memory.avg", "MHz", KS_RATE, KS_RULE_WEIGHTED,
                               "clock of the memory, read at the end of each visit",
                               "read the clock of the memory"},
    [KS_BOARD_TEMPERATURE] = {"nvml__temperature.max", "degC", KS_EXTREMUM, KS_RULE_MAX,
                              "temperature of the GPU, at begin and end of each visit",
                              "read the temperature of the GPU"},
    [KS_BOARD_MARGIN] = {"nvml__temperature_margin.min", "degC", KS_EXTREMUM, KS_RULE_MIN,
                         "degrees below where the GPU slows down, at begin and end of each visit",
                         "read how far the GPU is from its limit of heat"},
};

ks_status ks_board_list(const ks_metric_sink *to, const char *reason, ks_error *err)
{
    for (size_t i = 0; i < KS_BOARD_READINGS; i++) {
        const ks_metric_entry entry = {.name = all[i].name,
                                       .unit = all[i].unit,
                                       .kind = all[i].kind,
                                       .description = all[i].description,
                                       .reason = reason,
                                       .targets = KS_TARGET_REGION};
        KS_TRY(to->add(to->self, &entry, err));
    }
    return KS_OK;
}

enum ks_board_reading ks_board_reading_of(const char *metric)
{
    enum ks_board_reading i = 0;
    while (i < KS_BOARD_READINGS && strcmp(all[i].name, metric) != 0) {
        i++;
    }
    return i;
}

void ks_board_reading_describe(enum ks_board_reading reading, ks_metric *metric)
{
    metric->unit = all[reading].unit;
    metric->kind = all[reading].kind;
    metric->rule = all[reading].rule;
    metric->passes = 1;
}

const char *ks_board_reading_what(enum ks_board_reading reading)
{
    return all[reading].what;
}

static ks_nvml_result take_clock(const ks_board *board, ks_nvml_clock which, int64_t *out)
{
    unsigned mhz = 0;
    ks_nvml_result result = KS_BOARD_ASK(board, clock, which, &mhz);
    *out = mhz;
    return result;
}

ks_nvml_result ks_board_reading_take(enum ks_board_reading reading, const ks_board *board,
                                     int64_t *out)
{
    ks_nvml_margin margin = {.version = KS_NVML_MARGIN_VERSION};
    ks_nvml_u64 mj = 0;
    unsigned celsius = 0;
    ks_nvml_result result = 0;
    switch (reading) {
    case KS_BOARD_SM_CLOCK:
        return take_clock(board, KS_NVML_CLOCK_SM, out);
    case KS_BOARD_MEMORY_CLOCK:
        return take_clock(board, KS_NVML_CLOCK_MEMORY, out);
    case KS_BOARD_TEMPERATURE:
        result = KS_BOARD_ASK(board, temperature, KS_NVML_SENSOR_GPU, &celsius);
        *out = celsius;
        return result;
    case KS_BOARD_MARGIN:
        result = KS_BOARD_ASK(board, margin, &margin);
        *out = margin.celsius;
        return result;
    default: /* KS_BOARD_ENERGY */
        result = KS_BOARD_ASK(board, energy, &mj);
        *out = (int64_t)mj;
        return result;
    }
}
