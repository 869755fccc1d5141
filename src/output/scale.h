/* Numbers for people: units scaled, digits that mean something. */
#ifndef KS_OUTPUT_SCALE_H
#define KS_OUTPUT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/num.h"

typedef struct ks_scale {
    double divisor;
    char unit[64]; /**< "" for none */
} ks_scale;

/**
 * The scale in which a number of `typical` size reads best: ns become us, ms, s; bytes,
 * instructions, cycles and what is counted per second take k, M, G, T.
 *
 * @param[in] unit  NULL: none, and nothing is scaled
 */
ks_scale ks_scale_for(const char *unit, double typical, bool ascii);

/** ks_scale_for() the middle one of `count` numbers that are not 0, which are sorted on the way. */
ks_scale ks_scale_for_all(const char *unit, double *numbers, size_t count, bool ascii);

/** Decimals that show a number: two significant digits of its half-width, or four of itself. */
int ks_decimals(double number, double half);

/** A number as it is shown without knowing its spread: whole ones whole, others with 6 digits. */
size_t ks_number_text(double number, char to[KS_NUM_MAX]);

#endif
