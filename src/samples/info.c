#include "samples/info.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

ks_status ks_info_values_add(ks_info_values *values, uint32_t info, uint32_t run,
                             uint32_t annotation, const ks_value *value, ks_error *err)
{
    KS_TRY(KS_GROW(values->list, values->capacity, values->count + 1, err));
    ks_info_value copy = {info, run, annotation, *value};
    if (value->text != NULL) {
        copy.value.text = ks_strdup(value->text);
        if (copy.value.text == NULL) {
            return ks_enomem(err);
        }
    }
    values->list[values->count++] = copy;
    return KS_OK;
}

void ks_info_values_truncate(ks_info_values *values, size_t count)
{
    while (values->count > count) {
        ks_free((char *)values->list[--values->count].value.text);
    }
}

void ks_info_values_fini(ks_info_values *values)
{
    ks_info_values_truncate(values, 0);
    ks_free(values->list);
    memset(values, 0, sizeof *values);
}
