/* What kernels count. */
#include "fakes/nvidia/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUES_MAX = 512
};

typedef struct value {
    char kernel[NAME_MAX_BYTES];
    char metric[NAME_MAX_BYTES]; /* "": an attribute */
    int attribute;
    double value;
    bool per_block;
} value;

static value values[VALUES_MAX];
static size_t count;

static value *find_locked(const char *kernel, const char *metric, int attribute)
{
    for (size_t i = 0; i < count; i++) {
        value *v = &values[i];
        if (v->attribute == attribute && strcmp(v->kernel, kernel) == 0 &&
            strcmp(v->metric, metric) == 0) {
            return v;
        }
    }
    return NULL;
}

static void tell(const char *kernel, const char *metric, int attribute, double number,
                 bool per_block)
{
    fake_lock();
    value *v = find_locked(kernel, metric, attribute);
    if (v == NULL && count == VALUES_MAX) {
        fprintf(stderr, "fake_kernel: there is room for %d values\n", VALUES_MAX);
        abort();
    }
    v = v != NULL ? v : &values[count++];
    snprintf(v->kernel, sizeof v->kernel, "%s", kernel);
    snprintf(v->metric, sizeof v->metric, "%s", metric);
    v->attribute = attribute;
    v->value = number;
    v->per_block = per_block;
    fake_unlock();
}

void fake_kernel(const char *kernel, const char *metric, double number)
{
    tell(kernel, metric, -1, number, false);
}

void fake_kernel_per_block(const char *kernel, const char *metric, double number)
{
    tell(kernel, metric, -1, number, true);
}

void fake_kernel_attribute(const char *kernel, int attribute, int number)
{
    tell(kernel, "", attribute, number, false);
}

double fake_value_locked(const char *kernel, const char *metric, double blocks)
{
    char base[NAME_MAX_BYTES];
    snprintf(base, sizeof base, "%.*s", (int)strcspn(metric, "."), metric);
    const value *v = find_locked(kernel, metric, -1);
    v = v != NULL ? v : find_locked(kernel, base, -1);
    if (v == NULL) {
        return NAN;
    }
    return v->per_block ? v->value * blocks : v->value;
}

bool fake_is_known_locked(const char *kernel)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(values[i].kernel, kernel) == 0 && values[i].metric[0] != '\0') {
            return true;
        }
    }
    return false;
}

int fake_function_attribute_locked(const char *kernel, int attribute)
{
    static const int usual[] = {[0] = 1024, [4] = 32, [5] = 90, [6] = 90, [8] = 49152, [9] = -1};
    const value *v = find_locked(kernel, "", attribute);
    if (v != NULL) {
        return (int)v->value;
    }
    return (size_t)attribute < sizeof usual / sizeof usual[0] ? usual[attribute] : 0;
}

void fake_forget_kernels_locked(void)
{
    count = 0;
}
