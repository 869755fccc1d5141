/* Values of options, from the texts that they are given as. `name` is what the user calls the
 * option; a value that it does not take is KS_EINVAL. */
#ifndef CLI_OPTION_VALUES_H
#define CLI_OPTION_VALUES_H

#include "command.h"

ks_status read_flag(const char *name, const char *value, bool *out, ks_error *err);
ks_status read_number(const char *name, const char *value, uint64_t least, uint64_t most,
                      uint64_t *out, ks_error *err);
ks_status read_seconds(const char *name, const char *value, double *out, ks_error *err);
ks_status read_percent(const char *name, const char *value, double *out, ks_error *err);
ks_status read_runs(const char *name, const char *value, uint64_t *out, ks_error *err);
ks_status read_order(const char *name, const char *value, ks_order *out, ks_error *err);
ks_status read_clocks(const char *name, const char *value, ks_clock_control *out, ks_error *err);
ks_status read_thermal(const char *name, const char *value, ks_thermal_mode *out, ks_error *err);

#endif
