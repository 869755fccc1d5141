#include "stats/rank.h"

#include <math.h>
#include <string.h>

enum {
    EXACT_MAX = 50, /* samples: counts stay below 2^53 */
    PAIRS_MAX = EXACT_MAX * EXACT_MAX / 4
};

/* U of the second set, and the sum of t^3 - t over groups of ties. */
static double count_pairs(const double *a, size_t m, const double *b, size_t n, double *ties)
{
    double u = 0.0;
    *ties = 0.0;
    for (size_t i = 0, j = 0; i < m || j < n;) {
        double value = j >= n || (i < m && a[i] < b[j]) ? a[i] : b[j];
        size_t in_a = 0;
        size_t in_b = 0;
        for (; i < m && a[i] == value; i++) {
            in_a++;
        }
        for (; j < n && b[j] == value; j++) {
            in_b++;
        }
        double t = (double)(in_a + in_b);
        *ties += t * t * t - t;
        u += (double)in_b * ((double)(i - in_a) + 0.5 * (double)in_a);
    }
    return u;
}

/* P(U >= u): coefficients of prod (1 - q^(n+k)) / (1 - q^k) for k = 1 to m, which count how many
 * arrangements of m and n samples have each U. */
static double exact_tail(size_t m, size_t n, double u)
{
    double counts[PAIRS_MAX + 1];
    size_t pairs = m * n;
    memset(counts, 0, (pairs + 1) * sizeof counts[0]);
    counts[0] = 1.0;
    for (size_t k = 1; k <= m; k++) {
        for (size_t i = pairs; i >= n + k; i--) {
            counts[i] -= counts[i - n - k];
        }
        for (size_t i = k; i <= pairs; i++) {
            counts[i] += counts[i - k];
        }
    }
    double all = 0.0;
    double tail = 0.0;
    for (size_t i = 0; i <= pairs; i++) {
        all += counts[i];
        tail += (double)i >= u ? counts[i] : 0.0;
    }
    return tail / all;
}

static double normal_tail(double m, double n, double larger_u, double ties)
{
    double all = m + n;
    double variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if (!(variance > 0.0)) {
        return 0.5; /* all samples are equal */
    }
    double z = (larger_u - m * n / 2.0 - 0.5) / sqrt(variance);
    return 0.5 * erfc(z / sqrt(2.0));
}

ks_rank_test ks_rank_compare(const double *a, size_t m, const double *b, size_t n)
{
    double ties = 0.0;
    ks_rank_test test = {.u = count_pairs(a, m, b, n, &ties)};
    double other = (double)m * (double)n - test.u;
    double larger = test.u > other ? test.u : other;
    test.exact = ties == 0.0 && m + n <= EXACT_MAX;
    double tail =
        test.exact ? exact_tail(m, n, larger) : normal_tail((double)m, (double)n, larger, ties);
    test.p = 2.0 * tail < 1.0 ? 2.0 * tail : 1.0;
    return test;
}
