/*
 * The values of a recorded counter data image, by the CUPTI that the library finds: a line per
 * range, a number per metric. No GPU is needed.
 *
 *     counter_values CHIP FILE METRIC...
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "collect/nvidia/chip.h"

/* All of a file; free with free(). */
static uint8_t *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    long size = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    uint8_t *image = size > 0 ? malloc((size_t)size) : NULL;
    if (image != NULL) {
        rewind(file);
        *bytes = fread(image, 1, (size_t)size, file);
    }
    if (file != NULL) {
        fclose(file);
    }
    return image;
}

static ks_status count_ranges(const ks_cupti *cupti, const uint8_t *image, size_t bytes,
                              size_t *ranges, ks_error *err)
{
    ks_cupti_image_info info = {
        .size = KS_KNOWN(ks_cupti_image_info, ranges), .image = image, .bytes = bytes};
    ks_cupti_result result = cupti->image_info(&info);
    *ranges = info.ranges;
    return result == 0 ? KS_OK : ks_cupti_fail(cupti, result, "cannot read the image", err);
}

static ks_status print_range(const ks_chip_config *config, const uint8_t *image, size_t bytes,
                             size_t range, const char *const *metrics, size_t count, ks_error *err)
{
    double values[16] = {0};
    ks_cupti_evaluate params = {.size = KS_KNOWN(ks_cupti_evaluate, values),
                                .host = config->host,
                                .image = image,
                                .bytes = bytes,
                                .range = range,
                                .names = (const char **)(uintptr_t)metrics,
                                .count = count,
                                .values = values};
    ks_cupti_result result = config->cupti->evaluate(&params);
    if (result != 0) {
        return ks_cupti_fail(config->cupti, result, "cannot evaluate a range", err);
    }
    for (size_t i = 0; i < count; i++) {
        printf("%.17g%s", values[i], i + 1 < count ? " " : "\n");
    }
    return KS_OK;
}

static ks_status print_all(const ks_chip *chip, const char *path, const char *const *metrics,
                           size_t count, ks_error *err)
{
    ks_chip_config config;
    size_t bytes = 0;
    size_t ranges = 0;
    KS_TRY(ks_chip_configure(chip, metrics, count, &config, err));
    uint8_t *image = read_file(path, &bytes);
    ks_status status = image != NULL ? count_ranges(config.cupti, image, bytes, &ranges, err)
                                     : ks_fail(err, KS_EINVAL, "file", 0, "cannot read %s", path);
    for (size_t i = 0; i < ranges && status == KS_OK; i++) {
        status = print_range(&config, image, bytes, i, metrics, count, err);
    }
    free(image);
    ks_chip_config_fini(&config);
    return status;
}

int main(int argc, char **argv)
{
    ks_error err = KS_ERROR_INIT;
    ks_chip *chip = NULL;
    if (argc < 4 || argc > 3 + 16) {
        fprintf(stderr, "usage: counter_values CHIP FILE METRIC...\n");
        return 2;
    }
    ks_status status = ks_chip_open(argv[1], &chip, &err);
    if (status == KS_OK) {
        status = print_all(chip, argv[2], (const char *const *)argv + 3, (size_t)argc - 3, &err);
        ks_chip_close(chip);
    }
    if (status != KS_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    return status == KS_OK ? 0 : 1;
}
