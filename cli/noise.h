/* How good this machine is: a fixed kernel measured against itself. */
#ifndef CLI_NOISE_H
#define CLI_NOISE_H

#include "command.h"

enum {
    NOISE_GROUPS = 3
};

/* Comparisons of sets of so many runs, all of the same kernel. */
typedef struct noise_group {
    size_t runs;
    size_t comparisons;
    size_t alarms;         /* that said faster or slower, in turn ... */
    size_t alarms_later;   /* ... and one set after the other */
    double difference_pct; /* that is shown with a chance of 80 %; NaN: too few runs */
} noise_group;

typedef struct noise_report {
    size_t pairs; /* of runs: the kernel, and the kernel again */
    double kernel_ns;
    double spread_pct; /* standard deviation, in % of the mean */
    double mad_pct;    /* median absolute deviation, in % of the median */
    double slow_pct;   /* the 99th percentile above the median */
    double drift_pct;  /* median of the last quarter above that of the first */
    noise_group groups[NOISE_GROUPS];
} noise_report;

/* Times of the two sides, in ns, in the order in which they were measured. */
ks_status judge_noise(const double *a, const double *b, size_t pairs, noise_report *out,
                      ks_error *err);

/* Whether the machine could be better: false alarms beyond chance, or 1 % not shown by 10 runs. */
bool is_noisy(const noise_report *report);

/* Print what may hurt, a line each; `root` is "" for this machine, `load` its load average. @return
 * how many there are */
int print_noise_hints(const char *root, double load, long cpus, FILE *to);

/* `kernsight doctor --noise`. @return exit status */
int measure_noise(double seconds, bool json);

#endif
