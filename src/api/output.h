/* Files of results. */
#ifndef KS_API_OUTPUT_H
#define KS_API_OUTPUT_H

#include <stdio.h>

#include "kernsight/results.h"

/** The failure of a function that was given no results. */
ks_status ks_need_results(const ks_results *results, ks_error *err);

/** What is written: `write` gets `arg`. */
typedef struct ks_results_writer {
    ks_status (*write)(const ks_results *results, const void *arg, FILE *to, ks_error *err);
    const void *arg;
} ks_results_writer;

/** To a file, or to its `.partial` if the results are not complete. */
ks_status ks_results_write(const ks_results *results, const char *path,
                           const ks_results_writer *writer, ks_error *err);

#endif
