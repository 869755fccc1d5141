/* The CSV reader without its file, for those who have the text already. */
#ifndef KS_OUTPUT_CSV_READ_H
#define KS_OUTPUT_CSV_READ_H

#include "kernsight/table.h"

/** Read `length` bytes, which are changed on the way. As ks_table_read_csv(). */
ks_status ks_table_parse_csv(char *text, size_t length, ks_table **out, ks_error *err);

#endif
