/* Bytes and sectors of kernels that move a known number of bytes. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "measure.h"
#include "tap.h"

#define MIB ((size_t)1 << 20)

static const char read_bytes[] = "dram__bytes_read.sum";
static const char written_sectors[] = "lts__t_sectors_srcunit_tex_op_write.sum";
static const char all_written_sectors[] = "lts__t_sectors_op_write.sum";

typedef struct memory {
    gt_ptr a, b, c;
} memory;

static ks_status copy_body(const ks_call *call, void *user, ks_error *err)
{
    (void)err;
    memory *m = user;
    size_t bytes = (size_t)ks_call_i64(call, "mib") * MIB;
    KS_ANNOTATE("copy") {
        gt_copy(m->b, m->a, bytes);
    }
    gt_sync();
    return KS_OK;
}

static void a_copy_reads_and_writes_what_it_copies(void)
{
    const size_t sizes[] = {64, 256};
    memory m = {gt_floats(64 * MIB), gt_alloc(256 * MIB), 0};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "dram__bytes_read.sum,lts__t_sectors_srcunit_tex_op_write.sum,"
                                     "lts__t_sectors_op_write.sum",
                          .axis = "mib=64,256",
                          .warmup = 1};
    ks_results *results = gt_measure(&options, copy_body, &m, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    for (size_t i = 0; i < 2; i++) {
        double bytes = (double)(sizes[i] * MIB);
        TAP_NEAR(gt_value_at(results, "copy", read_bytes, i), bytes, 0.01);
        TAP_EXACT(gt_value_at(results, "copy", written_sectors, i), bytes / 32.0);
        /* all sources: a GPU whose L2 is in two halves hands sectors over, and counts them again */
        double all = gt_value_at(results, "copy", all_written_sectors, i);
        TAP_CHECK(all >= bytes / 32.0, "%zu MiB: %s is %.17g", sizes[i], all_written_sectors, all);
        tap_note("%zu MiB: %s / (bytes / 32) = %g", sizes[i], all_written_sectors,
                 all / (bytes / 32.0));
    }
    ks_results_free(results);
    gt_free(m.a);
    gt_free(m.b);
}

static ks_status vadd_body(const ks_call *call, void *user, ks_error *err)
{
    (void)call;
    (void)err;
    memory *m = user;
    KS_ANNOTATE("vadd") {
        gt_vadd(m->c, m->a, m->b, MIB);
    }
    gt_sync();
    return KS_OK;
}

/* What the second and later calls read from DRAM. */
static double vadd_reads(ks_cache_control cache)
{
    memory m = {gt_floats(MIB), gt_floats(MIB), gt_alloc(4 * MIB)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = read_bytes, .runs = 3, .warmup = 1, .cache = cache};
    ks_results *results = gt_measure(&options, vadd_body, &m, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    double value = gt_value(results, "vadd", read_bytes);
    const char *told = gt_text(results, "vadd", read_bytes, "CacheControl");
    TAP_CHECK(told != NULL, "CacheControl is missing");
    tap_note("CacheControl %s: %g bytes read", told == NULL ? "-" : told, value);
    ks_results_free(results);
    gt_free(m.a);
    gt_free(m.b);
    gt_free(m.c);
    return value;
}

static void a_flushed_cache_holds_nothing_of_the_call_before(void)
{
    TAP_NEAR(vadd_reads(KS_CACHE_FLUSH), 8.0 * (double)MIB, 0.01);
}

static void without_flush_what_fits_into_the_cache_is_not_read_again(void)
{
    if ((size_t)gt_l2_bytes() < 32 * MIB) {
        tap_skip("the 12 MiB may not stay in a cache below 32 MiB");
        return;
    }
    double bytes = vadd_reads(KS_CACHE_NONE);
    TAP_CHECK(bytes >= 0.0 && bytes < 0.02 * 8.0 * (double)MIB, "%g bytes read", bytes);
}

/* The value in the row of a metric under a cache control. */
static double value_under(const ks_results *results, const char *metric, const char *cache)
{
    const ks_table *t = results != NULL ? ks_results_table(results) : NULL;
    double value = NAN;
    for (size_t row = 0; t != NULL && row < ks_table_rows(t); row++) {
        if (gt_equal(ks_table_text(t, row, ks_table_find(t, "Metric")), metric) &&
            gt_equal(ks_table_text(t, row, ks_table_find(t, "CacheControl")), cache)) {
            value = ks_table_number(t, row, ks_table_find(t, "AvgValue"));
        }
    }
    return value;
}

static void cold_and_warm_are_measured_in_one_go(void)
{
    static const char time[] = "gpu__time_duration.sum";
    memory m = {gt_floats(MIB), gt_floats(MIB), gt_alloc(4 * MIB)};
    ks_error err = KS_ERROR_INIT;
    gt_options options = {.metrics = "dram__bytes_read.sum,gpu__time_duration.sum",
                          .runs = 5,
                          .warmup = 1,
                          .cache = KS_CACHE_BOTH};
    ks_results *results = gt_measure(&options, vadd_body, &m, &err);
    TAP_CHECK(err.code == KS_OK, "%s", err.message);
    tap_note("swept: %g bytes, %g ns; left alone: %g bytes, %g ns",
             value_under(results, read_bytes, "all"), value_under(results, time, "all"),
             value_under(results, read_bytes, "none"), value_under(results, time, "none"));
    TAP_NEAR(value_under(results, read_bytes, "all"), 8.0 * (double)MIB, 0.01);
    if ((size_t)gt_l2_bytes() >= 32 * MIB) {
        double bytes = value_under(results, read_bytes, "none");
        TAP_CHECK(bytes >= 0.0 && bytes < 0.02 * 8.0 * (double)MIB, "%g bytes read", bytes);
    }
    TAP_CHECK(value_under(results, time, "none") < value_under(results, time, "all"),
              "what is in the caches is not faster");
    TAP_CHECK(!gt_warned(results, "and yet"), "a row contradicts its cache control");
    ks_results_free(results);
    gt_free(m.a);
    gt_free(m.b);
    gt_free(m.c);
}

int main(void)
{
    static const tap_test tests[] = {
        {"a copy reads and writes what it copies", a_copy_reads_and_writes_what_it_copies},
        {"a flushed cache holds nothing of the call before",
         a_flushed_cache_holds_nothing_of_the_call_before},
        {"without flush what fits into the cache is not read again",
         without_flush_what_fits_into_the_cache_is_not_read_again},
        {"cold and warm are measured in one go", cold_and_warm_are_measured_in_one_go},
    };
    const char *why = gt_open(GT_PTX);
    return why != NULL ? tap_skip_all(why) : tap_main(tests, sizeof tests / sizeof tests[0]);
}
