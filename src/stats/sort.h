/* Sorting and medians. */
#ifndef KS_STATS_SORT_H
#define KS_STATS_SORT_H

#include <stddef.h>

/** Up to so many values are sorted without a branch that depends on them. */
#define KS_SORT_SMALL 32

/** A sorted copy; the two may not overlap. */
void ks_sort(const double *values, size_t n, double *sorted);

double ks_sorted_median(const double *sorted, size_t n);

/** Median of the deviations of sorted values from their median. */
double ks_sorted_mad(const double *sorted, size_t n, double median);

/** Median of many values, in time linear in n; reorders them. */
double ks_median_of(double *values, size_t n);

#endif
