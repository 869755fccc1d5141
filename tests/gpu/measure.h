/* Measure a body with few words, and read single values of the results. */
#ifndef GT_MEASURE_H
#define GT_MEASURE_H

#include <kernsight/kernsight.h>

/* What differs from the defaults; a plan without parameters if `axis` is NULL. */
typedef struct gt_options {
    const char *metrics; /* separated by commas */
    const char *axis;    /* as for ks_plan_axis_spec() */
    uint32_t runs;       /* 0: 1 */
    uint32_t warmup;
    ks_replay replay;
    ks_cache_control cache;
    bool tolerant;
    bool give_back;       /* the counters, at the end of the run */
    const char *ignore;   /* a pattern of kernels */
    double drain_limit_s; /* 0: the plan's own */
    ks_combine combine;
    ks_combine_fn combine_fn;
} gt_options;

/* NULL if the plan was refused. A failure is in `err`. Free with ks_results_free(). */
ks_results *gt_measure(const gt_options *options, ks_body_fn body, void *user, ks_error *err);

/*
 * The mean in the row of an annotation and metric, in the config of that number among those of this
 * row; NaN if there is no such row, or no value in it.
 */
double gt_value_at(const ks_results *results, const char *annotation, const char *metric,
                   size_t config);
double gt_value(const ks_results *results, const char *annotation, const char *metric);

/* Another column of the first such row; NaN, or NULL. */
double gt_number(const ks_results *results, const char *annotation, const char *metric,
                 const char *column);
const char *gt_text(const ks_results *results, const char *annotation, const char *metric,
                    const char *column);

/* Whether there are two texts that are equal; what to print of one that may be missing. */
bool gt_equal(const char *a, const char *b);
const char *gt_shown(const char *text);

/* Whether a warning of the results holds a text. */
bool gt_warned(const ks_results *results, const char *part);

enum {
    GT_SAMPLES = 64
};

/*
 * The samples of an annotation and metric in a config, in the order of the runs; NaN where there is
 * none. Gives their number, at most GT_SAMPLES.
 */
size_t gt_samples(const ks_results *results, const char *annotation, const char *metric,
                  size_t config, double values[GT_SAMPLES]);

#endif
