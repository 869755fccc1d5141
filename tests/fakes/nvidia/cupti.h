/* What the parts of the fake CUPTI share. */
#ifndef FAKE_NVIDIA_CUPTI_H
#define FAKE_NVIDIA_CUPTI_H

#include "fakes/nvidia/internal.h"

#define FAKE_DECLARE_CUPTI(member, arguments, name) \
    FAKE_EXPORT ks_cupti_result cupti_##member arguments __asm__(name);
KS_CUPTI_FUNCTIONS(FAKE_DECLARE_CUPTI)
KS_CUPTI_OPTIONAL_FUNCTIONS(FAKE_DECLARE_CUPTI)
#undef FAKE_DECLARE_CUPTI

/** Enter a function with parameters that are known up to a member, at least. */
#define ENTER_WITH(function, p, type, member)                    \
    do {                                                         \
        ENTER(function);                                         \
        if ((p) == NULL || (p)->size < KS_KNOWN(type, member)) { \
            return KS_CUPTI_INVALID_PARAMETER;                   \
        }                                                        \
    } while (0)

/* ---- metrics.c ----
 */

typedef struct fake_metric {
    const char *name;
    int type;
    const char *unit;
    const char *unit_of;
    const char *description;
    unsigned passes; /* that it needs, a bit each; 0: it fits in any */
    unsigned chips;  /* that have it, a bit each; 0: all */
} fake_metric;

/** Number of a chip; -1: there is none. */
int fake_find_chip(const char *name);
const char *const *fake_chip_names(size_t *count);

/** A base metric by the text up to a point. */
const fake_metric *fake_find_base(const char *name, int chip);
/** ... that has the sub-metric behind the point; `chip` -1: of any. */
const fake_metric *fake_find_metric(const char *full_name, int chip);
const char **fake_sub_metrics(int type, size_t *count);
/** Names, the list's for ever. */
const char **fake_base_metrics(int type, int chip, size_t *count);
/** Whether it adds up over kernels; else it is a mean by their time. */
bool fake_adds_up(const char *full_name);
bool fake_is_time(const char *full_name);

/* ---- image.c: a config image and a counter data image ----
 * Both are bytes that may lie anywhere; names are kept as text in them.
 */

/** A list of full names: one text, each with its end. */
typedef struct fake_list {
    const char *names;
    size_t bytes;
    size_t count;
} fake_list;

const char *fake_list_next(const char *name);
/** Place of a name in a list; count: it is not there. */
size_t fake_list_find(const fake_list *list, const char *name);
/** Passes that the list needs, as bits, and those of each metric; `each` may be NULL. */
unsigned fake_list_passes(const fake_list *list, unsigned *each);

size_t fake_config_bytes(const fake_list *list);
void fake_config_write(const fake_list *list, uint8_t *image);
/** @return whether it is one */
bool fake_config_read(const uint8_t *image, size_t bytes, fake_list *list);

enum {
    RANGE_NAME_BYTES = 128
};

size_t fake_image_bytes(const fake_list *list, size_t slots);
void fake_image_init(const fake_list *list, size_t slots, uint8_t *image, size_t bytes);
/** @return whether it was initialised; what is NULL is not wanted */
bool fake_image_read(const uint8_t *image, size_t bytes, fake_list *list, size_t *slots,
                     size_t *ranges);
void fake_image_set_ranges(uint8_t *image, size_t ranges);
void fake_image_put(uint8_t *image, size_t range, const char *name, const double *values);
void fake_image_get(const uint8_t *image, size_t range, char *name, double *values);

/* ---- ranges.c ----
 */

void fake_ranges_run_locked(ks_cuda_context context, const fake_run *runs, size_t count, bool graph,
                            bool drop);

#endif
