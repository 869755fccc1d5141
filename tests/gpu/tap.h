/*
 * Tests that say in TAP what they found: no library is needed for them. A check that fails says
 * what it compared, marks its test and goes on, so that one run on a GPU tells as much as it can.
 */
#ifndef GT_TAP_H
#define GT_TAP_H

#include <stdbool.h>
#include <stdio.h>

typedef struct tap_test {
    const char *name; /* a sentence */
    void (*run)(void);
} tap_test;

/* Run them all. 0, or 1 if one failed: the exit status. */
int tap_main(const tap_test *tests, size_t count);

/* Say why nothing can be tested; 77, the exit status. */
int tap_skip_all(const char *why);

/* The rest of this test cannot be run here. */
void tap_skip(const char *why);

#define TAP_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))

void tap_note(const char *fmt, ...) TAP_PRINTF(1, 2);
bool tap_check(bool good, const char *file, int line, const char *fmt, ...) TAP_PRINTF(4, 5);

/* TAP_CHECK(condition, "what it was, %g", values...) gives the condition. */
#define TAP_CHECK(condition, ...) tap_check((condition), __FILE__, __LINE__, __VA_ARGS__)

/* That a text is there and holds another one. */
#define TAP_HAS(text, part) tap_has((text), (part), __FILE__, __LINE__)
bool tap_has(const char *text, const char *part, const char *file, int line);

/* |is - want| <= share of want; NaN fails. */
#define TAP_NEAR(is, want, share) tap_near((is), (want), (share), #is, __FILE__, __LINE__)
#define TAP_EXACT(is, want)       tap_near((is), (want), 0.0, #is, __FILE__, __LINE__)
bool tap_near(double is, double want, double share, const char *what, const char *file, int line);

#endif
