#include "collect/nvidia/cost.h"

#include <string.h>

static int begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* Time comes without hardware counters; memory's are few; those of the SMs are many. */
static double of_counter(const char *name)
{
    if (begins_with(name, "gpu__time_")) {
        return 0.01;
    }
    return begins_with(name, "dram__") || begins_with(name, "fbpa__") ||
                   begins_with(name, "gpu__dram_") || begins_with(name, "gpc__cycles_elapsed")
               ? 0.05
               : 0.8;
}

double ks_cost_of_launch(const char *const *counters, size_t count)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        double cost = of_counter(counters[i]);
        most = cost > most ? cost : most;
    }
    return most;
}

double ks_cost_of_pass(const char *const *counters, size_t count)
{
    double per_launch = ks_cost_of_launch(counters, count);
    return per_launch > 0.01 ? 3.4 : per_launch > 0.0 ? 0.3 : 0.0;
}
