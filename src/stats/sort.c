#include "stats/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void insertion_sort(double *values, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) {
            values[at] = values[at - 1];
        }
        values[at] = value;
    }
}

static double middle_of_three(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Bring the k-th smallest to its place, smaller ones before it and larger ones behind it. */
static void select_kth(double *values, size_t n, size_t k)
{
    size_t low = 0;
    size_t high = n;
    for (int round = 0; high - low > 16; round++) {
        if (round == 64) {
            /* pivots keep failing: take the sure way */
            qsort(values + low, high - low, sizeof *values, compare_doubles);
            return;
        }
        double pivot =
            middle_of_three(values[low], values[low + (high - low) / 2], values[high - 1]);
        size_t i = low;
        size_t j = high - 1;
        for (;;) {
            while (values[i] < pivot) {
                i++;
            }
            while (values[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            double swap = values[i];
            values[i++] = values[j];
            values[j--] = swap;
        }
        if (k <= j) {
            high = j + 1;
        } else {
            low = j + 1;
        }
    }
    insertion_sort(values + low, high - low);
}

/* Sort up to KS_SORT_SMALL values by their ranks: no branch depends on them, so none is guessed
 * wrong. */
static void rank_sort(const double *values, size_t n, double *sorted)
{
    for (size_t i = 0; i < n; i++) {
        size_t rank = 0;
        for (size_t j = 0; j < i; j++) {
            rank += values[j] <= values[i]; /* of equal ones the earlier comes first */
        }
        for (size_t j = i + 1; j < n; j++) {
            rank += values[j] < values[i];
        }
        sorted[rank] = values[i];
    }
}

void ks_sort(const double *values, size_t n, double *sorted)
{
    if (n <= KS_SORT_SMALL) {
        rank_sort(values, n, sorted);
        return;
    }
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
}

static double between(double below, double above)
{
    return below + (above - below) / 2.0;
}

double ks_sorted_median(const double *sorted, size_t n)
{
    return n % 2 == 1 ? sorted[n / 2] : between(sorted[n / 2 - 1], sorted[n / 2]);
}

/* Deviations grow to both sides of the median, so the smaller half is found by going outwards. */
double ks_sorted_mad(const double *sorted, size_t n, double median)
{
    size_t right = n / 2;
    size_t left = right; /* one above the next on the left */
    double previous = 0.0;
    double last = 0.0;
    for (size_t taken = 0; taken <= n / 2; taken++) {
        double to_left = left > 0 ? median - sorted[left - 1] : INFINITY;
        double to_right = right < n ? sorted[right] - median : INFINITY;
        previous = last;
        last = to_left < to_right ? to_left : to_right;
        left -= to_left < to_right;
        right += !(to_left < to_right);
    }
    return n % 2 == 1 ? last : between(previous, last);
}

double ks_median_of(double *values, size_t n)
{
    size_t half = n / 2;
    select_kth(values, n, half);
    if (n % 2 == 1) {
        return values[half];
    }
    double below = values[0];
    for (size_t i = 1; i < half; i++) {
        below = fmax(below, values[i]);
    }
    return between(below, values[half]);
}
