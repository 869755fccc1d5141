#include "stats/student.h"

#include <float.h>
#include <math.h>

static const double PI = 3.14159265358979323846;

/* Continued fraction of the incomplete beta function by Lentz's method. */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = DBL_MIN * 1e10;
    double c = 1.0;
    double d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double fraction = d;
    for (int m = 1; m <= 10000; m++) {
        double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        double change = 1.0;
        for (int half = 0; half < 2; half++) {
            double step = half == 0 ? even : odd;
            d = 1.0 + step * d;
            d = 1.0 / (fabs(d) < tiny ? tiny : d);
            c = 1.0 + step / c;
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            fraction *= change;
        }
        if (fabs(change - 1.0) < 1e-16) {
            break;
        }
    }
    return fraction;
}

/* Regularised incomplete beta I_x(a, b). */
static double incomplete_beta(double x, double a, double b)
{
    if (x <= 0.0) {
        return 0.0;
    }
    if (x >= 1.0) {
        return 1.0;
    }
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1.0) / (a + b + 2.0)) {
        return front * beta_fraction(x, a, b) / a;
    }
    return 1.0 - front * beta_fraction(1.0 - x, b, a) / b;
}

static double normal_tail(double z)
{
    return 0.5 * erfc(z / sqrt(2.0));
}

double ks_normal_quantile(double p)
{
    double tail = 1.0 - p;
    /* start: Abramowitz and Stegun 26.2.22, good to 3e-3; Newton doubles the digits each time */
    double t = sqrt(-2.0 * log(tail));
    double z = t - (2.30753 + 0.27061 * t) / (1.0 + 0.99229 * t + 0.04481 * t * t);
    for (int i = 0; i < 5; i++) {
        z += (normal_tail(z) - tail) / (exp(-0.5 * z * z) / sqrt(2.0 * PI));
    }
    return z;
}

/* Cornish-Fisher: t in powers of 1/dof around the normal quantile. */
static double series(double z, double dof)
{
    double z2 = z * z;
    double g1 = z * (z2 + 1.0) / 4.0;
    double g2 = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    double g3 = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    return z + (g1 + (g2 + g3 / dof) / dof) / dof;
}

double ks_student_quantile(double p, double dof)
{
    double tail = 1.0 - p;
    double z = ks_normal_quantile(p);
    if (dof > 1e5) {
        return series(z, dof);
    }
    if (dof == 1.0) {
        return 1.0 / tan(PI * tail);
    }
    if (dof == 2.0) {
        return (1.0 - 2.0 * tail) / sqrt(2.0 * tail * (1.0 - tail));
    }
    double scale = exp(lgamma((dof + 1.0) / 2.0) - lgamma(dof / 2.0)) / sqrt(dof * PI);
    /* from below the root Newton steps approach it from one side: the tail is convex in t */
    double t = z;
    for (int i = 0; i < 100; i++) {
        double excess = 0.5 * incomplete_beta(dof / (dof + t * t), dof / 2.0, 0.5) - tail;
        double density = scale * exp(-0.5 * (dof + 1.0) * log1p(t * t / dof));
        double step = excess / density;
        t += step;
        if (fabs(step) <= 1e-14 * fabs(t)) {
            break;
        }
    }
    return t;
}
