/* Texts for people: how wide they are, how they are shortened, how control characters are shown. */
#ifndef KS_OUTPUT_TEXT_H
#define KS_OUTPUT_TEXT_H

#include "base/buf.h"

/** Columns that a text takes on a terminal. */
size_t ks_text_width(const char *text);

/** Add a text with control characters as escapes (`\n`, `\x1b`). */
void ks_text_escape(ks_buf *to, const char *text);

/**
 * Shorten texts to at most `width` columns, in the middle and marked by "…" ("..." in ASCII), so
 * that those that differ still differ: by what is kept, else by a number at the end.
 *
 * @param[in,out] texts  n of them, from ks_alloc(); replaced where they were shortened
 */
ks_status ks_text_elide(char **texts, size_t n, size_t width, bool ascii, ks_error *err);

#endif
