/* Student's t distribution. */
#ifndef KS_STATS_STUDENT_H
#define KS_STATS_STUDENT_H

/**
 * The t with P(T <= t) = p, for 0.5 < p < 1 and dof > 0 (need not be whole).
 *
 * Newton steps on the tail probability, half the regularised incomplete beta function
 * I_x(dof/2, 1/2) at x = dof/(dof + t^2) (Abramowitz and Stegun 26.7.1, 26.5.8); above 100,000
 * degrees of freedom the Cornish-Fisher series of the normal quantile (26.7.5).
 */
double ks_student_quantile(double p, double dof);

/** The z with P(Z <= z) = p for the normal distribution, 0.5 < p < 1. */
double ks_normal_quantile(double p);

#endif
