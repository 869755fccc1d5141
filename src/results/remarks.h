#ifndef KS_RESULTS_REMARKS_H
#define KS_RESULTS_REMARKS_H

#include "base/buf.h"
#include "results/rows.h"

/** The text of column Failure; nothing for a row that lacks nothing. */
void ks_say_failure(const ks_results *r, const ks_row *row, ks_buf *to);

/** The text of column Warnings: each one from others by "; ". */
void ks_say_warnings(const ks_results *r, const ks_row *row, ks_buf *to);

#endif
