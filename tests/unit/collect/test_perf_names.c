/* Names of events: perf::NAME by a library, by the kernel's own files, by code. */
#include "harness.h"

#include <errno.h>

#include "api/run.h"
#include "collect/perf/names.h"
#include "collect/perf/perf.h"
#include "fakes/fake_perf.h"

static ks_error err;

static const ks_collector_ops *const perf_alone[] = {&ks_perf_ops, NULL};

#define PMU(name) "/sys/bus/event_source/devices/" name

/* As the kernel has them, shortened: a processor of two kinds of cores, and a memory controller. */
static const fake_perf_script hybrid = {
    .counters = 4,
    .files = {{PMU("cpu_core/type"), "4\n"},
              {PMU("cpu_core/format/event"), "config:0-7\n"},
              {PMU("cpu_core/format/umask"), "config:8-15\n"},
              {PMU("cpu_core/format/any"), "config:21\n"},
              {PMU("cpu_core/format/ldlat"), "config1:0-15\n"},
              {PMU("cpu_core/events/mem-loads"), "event=0xcd,umask=0x1,ldlat=3\n"},
              {PMU("cpu_core/events/instructions"), "event=0xc0\n"},
              {PMU("cpu_atom/type"), "10\n"},
              {PMU("cpu_atom/format/event"), "config:0-7,32-35\n"},
              {PMU("cpu_atom/format/any"), "config2:63\n"},
              {PMU("cpu_atom/events/instructions"), "event=0xc0\n"},
              {PMU("cpu_atom/events/wide"), "event=0x7c0,any\n"},
              {PMU("cpu_atom/events/odd"), "event=0xc0,missing=1\n"}},
};

static int stop(void **state)
{
    (void)state;
    ks_perf_use(NULL);
    return 0;
}

#define T(test) cmocka_unit_test_teardown(test, stop)

static ks_perf_event event_of(const char *name)
{
    ks_perf_metric metric;
    KT_OK(ks_perf_find(name, &metric, &err));
    assert_string_equal(metric.entry.name, name);
    return metric.events[0];
}

static void the_files_of_the_kernel_say_how_an_event_is_coded(void **state)
{
    (void)state;
    fake_perf_reset(hybrid);
    ks_perf_event loads = event_of("perf::mem-loads");
    assert_int_equal(loads.type, 4);
    assert_int_equal(loads.config, 0x1cd); /* 0x01 << 8 | 0xcd */
    assert_int_equal(loads.config1, 3);
    assert_true(loads.exclude_kernel);
    assert_false(loads.soft);
    ks_perf_event wide = event_of("perf::wide");
    assert_int_equal(wide.type, 10);
    assert_int_equal(wide.config, 0x7000000c0); /* 0x7c0: 8 bits at 0, the rest at 32 */
    assert_true(wide.config2 == UINT64_C(1) << 63);
}

static void a_name_that_several_pmus_have_asks_for_the_pmu(void **state)
{
    (void)state;
    ks_perf_metric metric;
    fake_perf_reset(hybrid);
    KT_FAILS(ks_perf_find("perf::instructions", &metric, &err), KS_ENOTFOUND,
             "several PMUs have an event of that name (cpu_core, cpu_atom); say which, as in "
             "perf::PMU/instructions");
    assert_int_equal(event_of("perf::cpu_core/instructions").type, 4);
    assert_int_equal(event_of("perf::cpu_atom/instructions.sum").type, 10);
}

static void a_code_in_hexadecimal_is_taken_as_it_is(void **state)
{
    (void)state;
    fake_perf_reset(hybrid);
    ks_perf_event raw = event_of("perf::r01C2");
    assert_int_equal(raw.type, PERF_TYPE_RAW);
    assert_int_equal(raw.config, 0x1c2);
    assert_true(raw.exclude_kernel);
    assert_true(event_of("perf::rffffffffffffffff.sum").config == UINT64_MAX);
}

static void the_library_is_asked_first(void **state)
{
    (void)state;
    fake_perf_script script = hybrid;
    script.library = "libfake";
    fake_perf_reset(script);
    ks_perf_event event = event_of("perf::FAKE:EVENT=7.sum");
    assert_int_equal(event.type, PERF_TYPE_RAW);
    assert_int_equal(event.config, 0x1234);
    assert_true(event.exclude_kernel);
    /* it means user mode by default, where context switches would be 0 */
    ks_perf_event switches = event_of("perf::context-switches");
    assert_true(switches.soft);
    assert_false(switches.exclude_kernel);
}

static void unknown_names_say_what_was_asked(void **state)
{
    (void)state;
    static const char *const names[] = {"perf::nonsense", "perf::",      "perf::r",
                                        "perf::rxyz",     "perf::odd",   "perf::r11112222333344445",
                                        "perf::.sum",     "perf::a/b/c", "perf::cpu_core/none"};
    ks_perf_metric metric;
    fake_perf_script script = hybrid;
    fake_perf_reset(script);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        KT_FAILS(ks_perf_find(names[i], &metric, &err), KS_ENOTFOUND,
                 "no event of that name in /sys/bus/event_source");
    }
    KT_FAILS(ks_perf_find("perf::nonsense", &metric, &err), KS_ENOTFOUND,
             "more names are known where libpfm4 is installed");
    script.library = "libfake";
    fake_perf_reset(script);
    KT_FAILS(ks_perf_find("perf::nonsense", &metric, &err), KS_ENOTFOUND,
             "no event of that name in libpfm4 or /sys/bus/event_source; codes are written "
             "perf::rHEX");
    KT_FAILS(ks_perf_find("cpu__nonsense.sum", &metric, &err), KS_ENOTFOUND,
             "there is no metric cpu__nonsense.sum");
}

static ks_status work(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    KS_ANNOTATE("work") {
        fake_perf_work(500);
    }
    return KS_OK;
}

static ks_status measure(const char *metric, ks_results **results)
{
    ks_plan *plan = NULL;
    ks_error_clear(&err);
    KT_OK(ks_plan_new(&plan, &err));
    KT_OK(ks_plan_metric(plan, metric, &err));
    ks_status status = ks_run_with(perf_alone, plan, work, NULL, results, &err);
    ks_plan_free(plan);
    return status;
}

static void metrics_keep_the_name_that_was_asked_for(void **state)
{
    (void)state;
    static const char *const names[] = {"perf::mem-loads", "perf::mem-loads.sum", "perf::r1c2"};
    fake_perf_reset(hybrid);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ks_results *results = NULL;
        KT_OK(measure(names[i], &results));
        KT_F64(kt_number(ks_results_table(results), (kt_key){"work", names[i], KT_ANY}, "AvgValue"),
               500);
        ks_results_free(results);
    }
}

static void a_known_name_may_still_be_refused(void **state)
{
    (void)state;
    ks_results *results = NULL;
    fake_perf_script script = hybrid;
    script.refusals[0] = (fake_refusal){PERF_TYPE_RAW, 0x1c2, ENOENT};
    fake_perf_reset(script);
    assert_int_equal(measure("perf::r1c2", &results), KS_UNAVAILABLE);
    KT_HAS(err.message,
           "metric perf::r1c2 is not available here: this processor has no such event");
    assert_int_equal(measure("perf::nonsense", &results), KS_ENOTFOUND);
    KT_HAS(err.message, "unknown metric perf::nonsense; perf::nonsense: no event of that name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(the_files_of_the_kernel_say_how_an_event_is_coded),
        T(a_name_that_several_pmus_have_asks_for_the_pmu),
        T(a_code_in_hexadecimal_is_taken_as_it_is),
        T(the_library_is_asked_first),
        T(unknown_names_say_what_was_asked),
        T(metrics_keep_the_name_that_was_asked_for),
        T(a_known_name_may_still_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
