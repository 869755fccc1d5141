#include "output/scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct step {
    double divisor;
    const char *unit;
} step;

static const step times[] = {{1.0, "ns"}, {1e3, "\u00b5s"}, {1e6, "ms"}, {1e9, "s"}};
static const step times_ascii[] = {{1.0, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
static const step prefixes[] = {{1.0, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}};

enum {
    TIMES = sizeof times / sizeof times[0],
    PREFIXES = sizeof prefixes / sizeof prefixes[0]
};

static size_t pick(const step *steps, size_t count, double typical)
{
    size_t at = 0;
    while (at + 1 < count && fabs(typical) >= steps[at + 1].divisor) {
        at++;
    }
    return at;
}

/* What a unit is called behind a prefix; NULL for one that takes none. */
static const char *base_of(const char *unit)
{
    static const struct {
        const char *unit;
        const char *base;
    } bases[] = {
        {"byte", "B"},
        {"byte/second", "B/s"},
        {"byte/s", "B/s"},
        {"inst", "inst"},
        {"cycle", "cycles"},
        {"FLOP", "FLOP"},
        {"FLOP/s", "FLOP/s"},
        {"hz", "Hz"},
        {"Hz", "Hz"},
        {"sector", "sectors"},
        {"request", "requests"},
        {"access", "accesses"},
        {"miss", "misses"},
        {"branch", "branches"},
        {"fault", "faults"},
        {"switch", "switches"},
        {"migration", "migrations"},
    };
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        if (strcmp(unit, bases[i].unit) == 0) {
            return bases[i].base;
        }
    }
    return NULL;
}

ks_scale ks_scale_for(const char *unit, double typical, bool ascii)
{
    ks_scale scale = {1.0, ""};
    if (unit == NULL) {
        return scale;
    }
    const char *base = base_of(unit);
    bool seconds = strcmp(unit, "s") == 0;
    if (seconds || strcmp(unit, "ns") == 0) {
        const step *steps = ascii ? times_ascii : times;
        double in_ns = seconds ? 1e9 : 1.0;
        size_t at = pick(steps, TIMES, typical * in_ns);
        scale.divisor = steps[at].divisor / in_ns;
        snprintf(scale.unit, sizeof scale.unit, "%s", steps[at].unit);
    } else if (base != NULL) {
        size_t at = pick(prefixes, PREFIXES, typical);
        scale.divisor = prefixes[at].divisor;
        /* a prefix stands by itself before a word: "M inst", but "MB" */
        bool word = strlen(base) > 1 && strchr(base, '/') == NULL && at > 0;
        snprintf(scale.unit, sizeof scale.unit, "%s%s%s", prefixes[at].unit, word ? " " : "", base);
    } else {
        snprintf(scale.unit, sizeof scale.unit, "%s", unit);
    }
    return scale;
}

static int compare_sizes(const void *a, const void *b)
{
    double x = fabs(*(const double *)a);
    double y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

ks_scale ks_scale_for_all(const char *unit, double *numbers, size_t count, bool ascii)
{
    qsort(numbers, count, sizeof *numbers, compare_sizes);
    return ks_scale_for(unit, count > 0 ? numbers[count / 2] : 0.0, ascii);
}

/* Decimals that show `digits` significant digits of a number. */
static int decimals_for(double number, int digits)
{
    if (number == 0.0) {
        return 0;
    }
    int decimals = digits - 1 - (int)floor(log10(fabs(number)));
    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

/* As few decimals as show the same as `most` of them do. */
static int fewest_decimals(double number, int most)
{
    for (int decimals = 0; decimals < most; decimals++) {
        double scale = pow(10.0, decimals);
        double rest = fabs(number * scale - round(number * scale));
        if (rest < 0.5 * pow(10.0, decimals - most)) {
            return decimals;
        }
    }
    return most;
}

int ks_decimals(double number, double half)
{
    int most = decimals_for(number, 6);
    if (half == 0.0) {
        return fewest_decimals(number, most); /* every run gave this number: all of it is known */
    }
    if (isnan(half)) {
        bool whole = number == trunc(number) && fabs(number) < 1e6;
        return whole ? 0 : decimals_for(number, 4);
    }
    int wanted = decimals_for(half, 2);
    return wanted < most ? wanted : most;
}

size_t ks_number_text(double number, char to[KS_NUM_MAX])
{
    if (!isfinite(number)) {
        return ks_num_f64(number, to);
    }
    if (number == trunc(number) && fabs(number) < 1e15) {
        return ks_num_i64((int64_t)number, to);
    }
    if (fabs(number) < 1e-4 || fabs(number) >= 1e9) {
        return ks_num_f64(number, to);
    }
    return ks_num_fixed(number, decimals_for(number, 6), to);
}
