/* Characters that no font here has. */
#ifndef KS_OUTPUT_PLOT_FONTS_H
#define KS_OUTPUT_PLOT_FONTS_H

#include "output/plot_model.h"

/**
 * Spell the characters of a plot's texts that no font here has, as `\u{1F680}`: gnuplot draws such
 * a one as a box over the whole picture.
 */
ks_status ks_plot_spell_unknown(ks_plot *plot, ks_error *err);

#endif
