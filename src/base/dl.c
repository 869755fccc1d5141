#include "base/dl.h"

#include <dlfcn.h>
#include <string.h>

const char *ks_dl_bind(void *library, const ks_dl_symbol *symbols, size_t count, void *table)
{
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (function == NULL && !symbols[i].optional) {
            return symbols[i].name;
        }
        /* ISO C has no cast from an object's pointer to a function's */
        memcpy((char *)table + symbols[i].offset, &function, sizeof function);
    }
    return NULL;
}
