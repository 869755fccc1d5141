/* Marks behind numbers, and what they mean. */
#ifndef KS_OUTPUT_FOOTNOTES_H
#define KS_OUTPUT_FOOTNOTES_H

#include <stdio.h>

#include "base/buf.h"
#include "base/pool.h"
#include "kernsight/table.h"

typedef struct ks_footnotes {
    ks_pool texts; /**< by letter */
    bool unstable;
    bool outliers;
} ks_footnotes;

void ks_footnotes_init(ks_footnotes *notes);
void ks_footnotes_fini(ks_footnotes *notes);

/** Add the marks of a row of results to a text, and note what they mean. */
ks_status ks_footnotes_mark(ks_footnotes *notes, const ks_table *table, size_t row, ks_buf *to,
                            ks_error *err);

/** Print what the marks mean. @param width  of the terminal; 0: no limit */
ks_status ks_footnotes_print(const ks_footnotes *notes, FILE *to, size_t width, ks_error *err);

/** Print a text in lines of at most `width` columns (0: one line), those after the first indented.
 */
void ks_print_wrapped(FILE *to, const char *text, size_t width, size_t indent);

#endif
