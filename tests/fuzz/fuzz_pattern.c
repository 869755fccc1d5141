/* Patterns of metrics, against a matcher that is too simple to be wrong; near names beside it. */
#include "fuzz.h"

#include "base/str.h"
#include "kernsight/metrics.h"

static bool simple_match(const char *pattern, const char *text, int *steps)
{
    if (++*steps > 100000) {
        return false;
    }
    if (*pattern == '\0') {
        return *text == '\0';
    }
    if (*pattern == '*') {
        return simple_match(pattern + 1, text, steps) ||
               (*text != '\0' && simple_match(pattern, text + 1, steps));
    }
    return *text != '\0' && (*pattern == '?' || *pattern == *text) &&
           simple_match(pattern + 1, text + 1, steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *pattern = text_of(data, size);
    char *separator = strchr(pattern, '\n');
    const char *text = separator != NULL ? separator + 1 : "cpu__time_duration.sum";
    if (separator != NULL) {
        *separator = '\0';
    }
    int steps = 0;
    bool expected = simple_match(pattern, text, &steps);
    if (steps <= 100000) {
        MUST(ks_match(pattern, text) == expected);
    }
    ks_error err = KS_ERROR_INIT;
    ks_table *table = NULL;
    if (ks_metrics_table(pattern, &table, &err) == KS_OK) {
        MUST(ks_table_rows(table) > 0);
        ks_table_free(table);
    } else {
        MUST(err.code == KS_ENOTFOUND && err.message[0] != '\0');
    }
    free(pattern);
    return 0;
}
