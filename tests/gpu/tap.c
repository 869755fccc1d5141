#include "tap.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static struct {
    bool failed;
    const char *skipped;
} now;

int tap_main(const tap_test *tests, size_t count)
{
    size_t passed = 0;
    size_t skipped = 0;
    setvbuf(stdout, NULL, _IOLBF,
            0); /* so that nothing is lost if the driver takes the program down */
    printf("1..%zu\n", count);
    for (size_t i = 0; i < count; i++) {
        now.failed = false;
        now.skipped = NULL;
        tests[i].run();
        printf("%sok %zu - %s%s%s\n", now.failed ? "not " : "", i + 1, tests[i].name,
               now.skipped != NULL ? " # SKIP " : "", now.skipped != NULL ? now.skipped : "");
        fflush(stdout);
        skipped += !now.failed && now.skipped != NULL;
        passed += !now.failed && now.skipped == NULL;
    }
    printf("# %zu passed, %zu failed, %zu skipped\n", passed, count - passed - skipped, skipped);
    return passed + skipped == count ? 0 : 1;
}

int tap_skip_all(const char *why)
{
    printf("1..0 # SKIP %s\n", why);
    return 77;
}

void tap_skip(const char *why)
{
    now.skipped = why;
}

void tap_note(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("# ", stdout);
    vprintf(fmt, args);
    putchar('\n');
    va_end(args);
}

bool tap_check(bool good, const char *file, int line, const char *fmt, ...)
{
    if (!good) {
        const char *name = strrchr(file, '/');
        va_list args;
        va_start(args, fmt);
        printf("# %s:%d: ", name == NULL ? file : name + 1, line);
        vprintf(fmt, args);
        putchar('\n');
        va_end(args);
        now.failed = true;
    }
    return good;
}

bool tap_has(const char *text, const char *part, const char *file, int line)
{
    return tap_check(text != NULL && strstr(text, part) != NULL, file, line,
                     "it does not say '%s': %.400s", part, text != NULL ? text : "(nothing)");
}

bool tap_near(double is, double want, double share, const char *what, const char *file, int line)
{
    return tap_check(fabs(is - want) <= share * fabs(want), file, line, "%s is %.17g, not %.17g%s",
                     what, is, want, share > 0.0 ? " or near it" : "");
}
