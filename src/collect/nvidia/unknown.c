#include "collect/nvidia/unknown.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* Whether a chip has a base metric or a full name, without asking for its texts. */
static bool chip_has(const char *chip, const char *name)
{
    ks_chip *other = NULL;
    bool has = ks_chip_open(chip, &other, NULL) == KS_OK && ks_chip_has(other, name);
    ks_chip_close(other);
    return has;
}

static void add_other_chips(const char *name, ks_buf *to)
{
    const char *const *chips = NULL;
    size_t count = 0;
    size_t found = 0;
    if (ks_is_pattern(name) || ks_chip_names(&chips, &count, NULL) != KS_OK) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (chip_has(chips[i], name)) {
            ks_buf_addf(to, "%s%s", found++ == 0 ? "; it exists on " : ", ", chips[i]);
        }
    }
}

ks_status ks_chip_fail_unknown(ks_chip *chip, const char *name, ks_error *err)
{
    ks_near near;
    ks_buf text;
    ks_buf_init(&text, 1u << 16);
    ks_near_init(&near, name);
    add_other_chips(name, &text);
    ks_chip_offer(chip, &near);
    for (size_t i = 0; i < near.count; i++) {
        ks_buf_addf(&text, "%s%s",
                    i == 0                ? "; did you mean "
                    : i + 1 == near.count ? " or "
                                          : ", ",
                    near.names[i]);
    }
    ks_status status = ks_buf_status(&text, err);
    if (status == KS_OK) {
        status = ks_fail(err, KS_ENOTFOUND, "metrics", 0, "chip %s has no metric '%.200s'%s",
                         ks_chip_name(chip), name, ks_buf_text(&text));
    }
    ks_buf_fini(&text);
    return status;
}
