/* Texts: UTF-8, patterns, near names. */
#ifndef KS_BASE_STR_H
#define KS_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Offset of the first byte that is not valid UTF-8 (surrogates are not); `count` if all is. */
size_t ks_utf8_check(const char *text, size_t count);

/**
 * Decode the character at `*at`, which must be inside valid UTF-8, and move behind it.
 * An invalid byte gives U+FFFD and one step.
 */
uint32_t ks_utf8_next(const char **at, const char *end);

/** Replace every byte that is not part of valid UTF-8 by `?`. */
void ks_utf8_clean(char *text);

/** Whether a text has a control character (C0, DEL, C1). */
bool ks_has_control(const char *text, size_t count);

/** Shell pattern with `*` and `?` against a whole text. */
bool ks_match(const char *pattern, const char *text);
bool ks_is_pattern(const char *text);

/** Number of single-character edits (with swaps of neighbours) between two texts; case is none. */
size_t ks_distance(const char *a, const char *b);

/** The names nearest to a misspelt one, best first. */
#define KS_NEAR_MAX 3
typedef struct ks_near {
    const char *wanted;
    const char *names[KS_NEAR_MAX]; /**< borrowed from the caller */
    size_t distances[KS_NEAR_MAX];
    size_t count;
} ks_near;

void ks_near_init(ks_near *near, const char *wanted);
/** Offer a candidate; kept if it is near enough and among the best. */
void ks_near_offer(ks_near *near, const char *name);

/** FNV-1a. */
uint64_t ks_hash(const void *bytes, size_t count);

/** The last component of a path. */
const char *ks_basename(const char *path);

#endif
