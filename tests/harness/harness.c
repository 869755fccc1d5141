#include "harness.h"

#include <errno.h>
#include <execinfo.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void kt_near(double value, double expected, double relative, const char *file, int line)
{
    bool same =
        isnan(expected) ? isnan(value) : fabs(value - expected) <= relative * fabs(expected);
    if (!same) {
        print_error("%.17g is not %.17g (to %g)\n", value, expected, relative);
        _fail(file, line);
    }
}

static bool is_row(const ks_table *t, size_t row, kt_key key)
{
    const char *annotation = ks_table_text(t, row, ks_table_find(t, "Annotation"));
    const char *metric = ks_table_text(t, row, ks_table_find(t, "Metric"));
    bool same_annotation = key.annotation == NULL
                               ? annotation == NULL
                               : annotation != NULL && strcmp(annotation, key.annotation) == 0;
    bool same_metric = metric != NULL && strcmp(metric, key.metric) == 0;
    bool same_n =
        key.n == KT_ANY || ks_table_number(t, row, ks_table_find(t, "n")) == (double)key.n;
    return same_annotation && same_metric && same_n;
}

size_t kt_row(const ks_table *table, kt_key key)
{
    for (size_t row = 0; row < ks_table_rows(table); row++) {
        if (is_row(table, row, key)) {
            return row;
        }
    }
    fail_msg("there is no row of annotation '%s', metric '%s', n %lld",
             key.annotation != NULL ? key.annotation : "(missing)", key.metric, (long long)key.n);
    return 0;
}

static size_t column_of(const ks_table *table, const char *name)
{
    size_t column = ks_table_find(table, name);
    if (column == ks_table_columns(table)) {
        fail_msg("there is no column '%s'", name);
    }
    return column;
}

double kt_number(const ks_table *table, kt_key key, const char *column)
{
    return ks_table_number(table, kt_row(table, key), column_of(table, column));
}

const char *kt_text(const ks_table *table, kt_key key, const char *column)
{
    return ks_table_text(table, kt_row(table, key), column_of(table, column));
}

/* An allocator that fails one allocation and counts what lives. */
static atomic_size_t allocations;
static atomic_size_t failing;
static atomic_size_t live;
static atomic_bool failed;

/* Where the allocation was asked for that failed: addr2line -e PROGRAM reads it. */
static void *trace[24];
static int trace_length;

static void *counting_realloc(void *ptr, size_t size, void *user)
{
    (void)user;
    if (atomic_fetch_add(&allocations, 1) + 1 == atomic_load(&failing)) {
        atomic_store(&failed, true);
        trace_length = backtrace(trace, sizeof trace / sizeof trace[0]);
        return NULL;
    }
    void *block = realloc(ptr, size);
    if (ptr == NULL && block != NULL) {
        atomic_fetch_add(&live, 1);
    }
    return block;
}

static void counting_free(void *ptr, void *user)
{
    (void)user;
    atomic_fetch_sub(&live, 1);
    free(ptr);
}

size_t kt_oom_sweep(ks_status (*scene)(void *arg, ks_error *err), void *arg)
{
    ks_error err = KS_ERROR_INIT;
    ks_allocator allocator = KS_ALLOCATOR_INIT;
    allocator.realloc = counting_realloc;
    allocator.free = counting_free;
    KT_OK(ks_set_allocator(&allocator, &err));
    size_t n = 1;
    for (;; n++) {
        atomic_store(&allocations, 0);
        atomic_store(&failing, n);
        atomic_store(&failed, false);
        ks_error_clear(&err);
        ks_status status = scene(arg, &err);
        if (!atomic_load(&failed)) {
            KT_OK(status);
            break;
        }
        if (status != KS_ENOMEM || err.code != KS_ENOMEM) {
            backtrace_symbols_fd(trace, trace_length, 2);
            fail_msg("allocation %zu failed, and the scene returned %s with %s: %s", n,
                     ks_status_name(status), ks_status_name(err.code), err.message);
        }
        if (atomic_load(&live) != 0) {
            backtrace_symbols_fd(trace, trace_length, 2);
            fail_msg("allocation %zu failed, and %zu blocks were left", n, atomic_load(&live));
        }
    }
    atomic_store(&failing, 0);
    assert_int_equal(atomic_load(&live), 0);
    ks_error_clear(&err);
    KT_OK(ks_set_allocator(NULL, &err));
    return n - 1;
}

char *kt_capture(ks_status (*write)(void *arg, FILE *to, ks_error *err), void *arg)
{
    ks_error err = KS_ERROR_INIT;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    KT_OK(write(arg, to, &err));
    fclose(to);
    return text;
}

const char *kt_path(const char *name)
{
    static char folder[64];
    static char path[512];
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "/tmp/kernsight-test-%ld", (long)getpid());
        mkdir(folder, 0755);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

char *kt_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

void kt_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

bool kt_has_programs(void)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (fd < 0) {
        print_message("programs cannot be measured here: pidfd_open: %s\n", strerror(errno));
        return false;
    }
    close(fd);
    return true;
}
