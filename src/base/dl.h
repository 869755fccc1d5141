/* Functions of libraries that are there or not: tables filled by name. */
#ifndef KS_BASE_DL_H
#define KS_BASE_DL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ks_dl_symbol {
    const char *name;
    size_t offset; /**< of its pointer in the table */
    bool optional; /**< NULL where it is missing */
} ks_dl_symbol;

/**
 * Fill a table of function pointers.
 *
 * @param[in]  library  of dlopen(3)
 * @param[out] table    as `symbols` describe it
 * @return name of the first required function that is missing; NULL: none is
 */
const char *ks_dl_bind(void *library, const ks_dl_symbol *symbols, size_t count, void *table);

#endif
