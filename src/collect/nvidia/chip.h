/* What a chip can count, by CUPTI's knowledge of all chips: no device is needed. */
#ifndef KS_COLLECT_NVIDIA_CHIP_H
#define KS_COLLECT_NVIDIA_CHIP_H

#include "base/pool.h"
#include "base/str.h"
#include "collect/nvidia/cupti.h"
#include "kernsight/metrics.h"

typedef struct ks_chip ks_chip;

/**
 * A chip by its name, whatever its case.
 *
 * @param[out] out  free with ks_chip_close()
 * @return KS_UNAVAILABLE (no CUPTI), KS_ENOTFOUND (the message lists all chips), KS_EVENDOR
 */
ks_status ks_chip_open(const char *name, ks_chip **out, ks_error *err);
void ks_chip_close(ks_chip *chip);

/** Its name as CUPTI spells it, borrowed. */
const char *ks_chip_name(const ks_chip *chip);

/** One base metric. Texts are borrowed for the call. */
typedef struct ks_chip_metric {
    const char *name;        /**< base metric, or with the sub-metric that was asked for */
    const char *description; /**< NULL: none */
    const char *unit;        /**< in our words; NULL: none */
    ks_metric_kind kind;
    const char *const *subs; /**< with a point before each */
    size_t sub_count;
} ks_chip_metric;

typedef ks_status (*ks_chip_metric_fn)(void *self, const ks_chip_metric *metric, ks_error *err);

/**
 * Tell of every base metric that a pattern matches, counters first, then ratios, then throughputs;
 * of a pattern with a point in it, every full name that it matches.
 */
ks_status ks_chip_each(const ks_chip *chip, const char *pattern, ks_chip_metric_fn each, void *self,
                       ks_error *err);

/** Whether it has a metric of that name, base or full. */
bool ks_chip_has(const ks_chip *chip, const char *name);

/** One metric by its full name: told as ks_chip_each() would. KS_ENOTFOUND: there is none. */
ks_status ks_chip_describe(const ks_chip *chip, const char *name, ks_chip_metric_fn each,
                           void *self, ks_error *err);

/** Kind of a metric that it has, by its full name. */
ks_metric_kind ks_chip_kind(const ks_chip *chip, const char *name);

/** Offer its names to a search for near ones: base metrics, for a name with a point the full names
 * of those whose first part is near. They live as long as the chip. */
void ks_chip_offer(ks_chip *chip, ks_near *near);

/** The chips that CUPTI knows: an array of `*count` names, borrowed for good. */
ks_status ks_chip_names(const char *const **names, size_t *count, ks_error *err);

/** Metrics that are read together. */
typedef struct ks_chip_config {
    const ks_cupti *cupti;
    ks_cupti_host *host; /**< it turns counters into these metrics */
    uint8_t *image;      /**< what the device is told */
    size_t bytes;        /**< of the image */
    size_t passes;       /**< that they need; a device that lacks counters may need more */
} ks_chip_config;

/**
 * Put metrics together, by their full names.
 *
 * @param[out] out  free with ks_chip_config_fini(); nothing to free on failure
 * @return KS_ENOTFOUND: the first that the chip does not have
 */
ks_status ks_chip_configure(const ks_chip *chip, const char *const *metrics, size_t count,
                            ks_chip_config *out, ks_error *err);
void ks_chip_config_fini(ks_chip_config *config);

/**
 * How many passes metrics need together, by their full names.
 *
 * @return KS_ENOTFOUND: the first that the chip does not have
 */
ks_status ks_chip_count_passes(const ks_chip *chip, const char *const *metrics, size_t count,
                               size_t *passes, ks_error *err);

#endif
