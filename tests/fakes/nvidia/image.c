/* Images: a header, the names of metrics, and for counter data a record for each range. */
#include "fakes/nvidia/cupti.h"

#include <math.h>
#include <string.h>

static const uint64_t config_magic = 0x4b53636f6e666967;
static const uint64_t image_magic = 0x4b5372616e676573;

typedef struct header {
    uint64_t magic;
    uint64_t bytes; /* of all */
    uint64_t name_bytes;
    uint64_t count;  /* of metrics */
    uint64_t slots;  /* counter data only, ... */
    uint64_t ranges; /* ... how many of them are full */
} header;

/* ---- lists ------------------------------------------------------------------------------------
 */

const char *fake_list_next(const char *name)
{
    return name + strlen(name) + 1;
}

size_t fake_list_find(const fake_list *list, const char *name)
{
    const char *at = list->names;
    size_t i = 0;
    for (; i < list->count && strcmp(at, name) != 0; i++) {
        at = fake_list_next(at);
    }
    return i;
}

unsigned fake_list_passes(const fake_list *list, unsigned *each)
{
    unsigned all = 0;
    const char *name = list->names;
    for (size_t i = 0; i < list->count; i++, name = fake_list_next(name)) {
        const fake_metric *m = fake_find_base(name, -1);
        all |= m != NULL ? m->passes : 0;
    }
    all = all != 0 ? all : 1u;
    name = list->names;
    for (size_t i = 0; i < list->count && each != NULL; i++, name = fake_list_next(name)) {
        const fake_metric *m = fake_find_base(name, -1);
        bool anywhere = m == NULL || m->passes == 0;
        each[i] = anywhere ? all & (0u - all) : m->passes; /* the lowest bit: the first pass */
    }
    return all;
}

/* ---- both kinds -------------------------------------------------------------------------------
 */

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static size_t head_bytes(size_t name_bytes)
{
    return sizeof(header) + padded(name_bytes);
}

/* Images lie where the caller likes: nothing in them is read in place but text. */
static header read_header(const uint8_t *image)
{
    header h;
    memcpy(&h, image, sizeof h);
    return h;
}

static void write_head(const header *h, const fake_list *list, uint8_t *image)
{
    memcpy(image, h, sizeof *h);
    memset(image + sizeof *h, 0, padded(list->bytes));
    memcpy(image + sizeof *h, list->names, list->bytes);
}

static bool read_head(const uint8_t *image, size_t bytes, uint64_t magic, header *h,
                      fake_list *list)
{
    if (image == NULL || bytes < sizeof *h) {
        return false;
    }
    *h = read_header(image);
    if (h->magic != magic || h->bytes > bytes) {
        return false;
    }
    if (list != NULL) {
        *list = (fake_list){(const char *)image + sizeof *h, h->name_bytes, h->count};
    }
    return true;
}

size_t fake_config_bytes(const fake_list *list)
{
    return head_bytes(list->bytes);
}

void fake_config_write(const fake_list *list, uint8_t *image)
{
    const header h = {.magic = config_magic,
                      .bytes = fake_config_bytes(list),
                      .name_bytes = list->bytes,
                      .count = list->count};
    write_head(&h, list, image);
}

bool fake_config_read(const uint8_t *image, size_t bytes, fake_list *list)
{
    header h;
    return read_head(image, bytes, config_magic, &h, list);
}

/* ---- counter data -----------------------------------------------------------------------------
 */

static size_t record_bytes(size_t metrics)
{
    return RANGE_NAME_BYTES + metrics * sizeof(double);
}

size_t fake_image_bytes(const fake_list *list, size_t slots)
{
    return head_bytes(list->bytes) + slots * record_bytes(list->count);
}

void fake_image_init(const fake_list *list, size_t slots, uint8_t *image, size_t bytes)
{
    const header h = {.magic = image_magic,
                      .bytes = bytes,
                      .name_bytes = list->bytes,
                      .count = list->count,
                      .slots = slots};
    memset(image, 0, bytes);
    write_head(&h, list, image);
}

bool fake_image_read(const uint8_t *image, size_t bytes, fake_list *list, size_t *slots,
                     size_t *ranges)
{
    header h;
    bool good = read_head(image, bytes, image_magic, &h, list);
    if (good && slots != NULL) {
        *slots = h.slots;
    }
    if (good && ranges != NULL) {
        *ranges = h.ranges;
    }
    return good;
}

void fake_image_set_ranges(uint8_t *image, size_t ranges)
{
    header h = read_header(image);
    h.ranges = ranges;
    memcpy(image, &h, sizeof h);
}

static size_t record_at(const uint8_t *image, size_t range, size_t *values)
{
    header h = read_header(image);
    *values = h.count * sizeof(double);
    return head_bytes(h.name_bytes) + range * record_bytes(h.count);
}

void fake_image_put(uint8_t *image, size_t range, const char *name, const double *values)
{
    size_t bytes = 0;
    uint8_t *to = image + record_at(image, range, &bytes);
    memset(to, 0, RANGE_NAME_BYTES);
    memcpy(to, name, strnlen(name, RANGE_NAME_BYTES - 1));
    memcpy(to + RANGE_NAME_BYTES, values, bytes);
}

void fake_image_get(const uint8_t *image, size_t range, char *name, double *values)
{
    size_t bytes = 0;
    const uint8_t *from = image + record_at(image, range, &bytes);
    if (name != NULL) {
        memcpy(name, from, RANGE_NAME_BYTES);
    }
    if (values != NULL) {
        memcpy(values, from + RANGE_NAME_BYTES, bytes);
    }
}
