#include "option_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

ks_status read_flag(const char *name, const char *value, bool *out, ks_error *err)
{
    static const char *const words[][2] = {{"false", "true"}, {"no", "yes"}, {"off", "on"}};
    for (size_t i = 0; value != NULL && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(value, words[i][0]) == 0 || strcmp(value, words[i][1]) == 0) {
            *out = strcmp(value, words[i][1]) == 0;
            return KS_OK;
        }
    }
    *out = true; /* on the command line there is no value */
    return value == NULL
               ? KS_OK
               : ks_fail(err, KS_EINVAL, "cli", 0, "%s is true or false, not '%s'", name, value);
}

ks_status read_number(const char *name, const char *value, uint64_t least, uint64_t most,
                      uint64_t *out, ks_error *err)
{
    errno = 0;
    char *end = NULL;
    unsigned long long number = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || number < least ||
        number > most) {
        return ks_fail(err, KS_EINVAL, "cli", 0,
                       "%s takes a whole number from %llu to %llu, not '%s'", name,
                       (unsigned long long)least, (unsigned long long)most, value);
    }
    *out = number;
    return KS_OK;
}

/* Whether a text is a decimal number above 0 and up to `most`, with a point in every locale (only
 * LC_CTYPE is ever set here). */
static bool read_decimal(const char *value, double most, double *out)
{
    char *end = NULL;
    bool digit = value[0] == '.' || (value[0] >= '0' && value[0] <= '9');
    *out = strtod(value, &end);
    return digit && *end == '\0' && *out > 0.0 && *out <= most;
}

ks_status read_seconds(const char *name, const char *value, double *out, ks_error *err)
{
    return read_decimal(value, 1e9, out)
               ? KS_OK
               : ks_fail(err, KS_EINVAL, "cli", 0,
                         "%s takes seconds above 0, such as 0.5, not '%s'", name, value);
}

ks_status read_percent(const char *name, const char *value, double *out, ks_error *err)
{
    return read_decimal(value, 99.0, out)
               ? KS_OK
               : ks_fail(err, KS_EINVAL, "cli", 0,
                         "%s takes percent from above 0 to 99, such as 0.5, not '%s'", name, value);
}

/* `*out` is 0 for auto. */
ks_status read_runs(const char *name, const char *value, uint64_t *out, ks_error *err)
{
    if (strcmp(value, "auto") == 0) {
        *out = 0;
        return KS_OK;
    }
    ks_status status = read_number(name, value, 1, UINT32_MAX, out, NULL);
    return status == KS_OK ? KS_OK
                           : ks_fail(err, KS_EINVAL, "cli", 0,
                                     "%s takes a whole number from 1 to %u, or auto, not '%s'",
                                     name, UINT32_MAX, value);
}

/* One of some words. @param[in] said  them, for the message @param[out] out  its place */
static ks_status read_word(const char *name, const char *value, const char *const *words,
                           const char *said, int *out, ks_error *err)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(value, words[i]) == 0) {
            *out = i;
            return KS_OK;
        }
    }
    return ks_fail(err, KS_EINVAL, "cli", 0, "%s is %s, not '%s'", name, said, value);
}

ks_status read_order(const char *name, const char *value, ks_order *out, ks_error *err)
{
    static const char *const words[] = {"given", "shuffled", "interleaved", NULL};
    int at = (int)*out;
    ks_status status = read_word(name, value, words, "given, shuffled or interleaved", &at, err);
    *out = (ks_order)at;
    return status;
}

ks_status read_clocks(const char *name, const char *value, ks_clock_control *out, ks_error *err)
{
    static const char *const words[] = {"none", "base", NULL};
    int at = (int)*out;
    ks_status status = read_word(name, value, words, "none or base", &at, err);
    *out = (ks_clock_control)at;
    return status;
}

ks_status read_thermal(const char *name, const char *value, ks_thermal_mode *out, ks_error *err)
{
    static const char *const words[] = {"off", "auto", "manual", NULL};
    int at = (int)*out;
    ks_status status = read_word(name, value, words, "off, auto or manual", &at, err);
    *out = (ks_thermal_mode)at;
    return status;
}
