/* The perf collector with an imaginary kernel that refuses: messages, cures, descriptors, doctor.
 */
#include <errno.h>
#include <pthread.h>

#include "base/buf.h"
#include "collect/perf/refusal.h"
#include "fakes/fake_collector.h"
#include "fakes/perf_fixture.h"

static ks_buf facts; /* of the doctor */

static int forget_facts(void **state)
{
    (void)state;
    ks_buf_fini(&facts);
    return 0;
}

static int start_facts(void **state)
{
    (void)state;
    ks_buf_init(&facts, 4096);
    return 0;
}

static ks_status leave_open(const ks_call *call, void *user, ks_error *e)
{
    (void)user;
    ks_token outer = KS_TOKEN_INIT;
    ks_token inner = KS_TOKEN_INIT;
    if (ks_call_run(call) == 1) {
        return work(call, user, e);
    }
    ks_annotate_begin("outer", &outer, e);
    return ks_annotate_begin("inner", &inner, e);
}

static void visits_that_were_left_open_are_closed(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4});
    ASK(CYCLES, FAULTS);
    KT_OK(ks_plan_runs(plan, 2, &err));
    KT_OK(ks_plan_tolerant(plan, true, &err));
    run(leave_open);
    KT_HAS(text("outer", CYCLES, "Failure"), "was still open when the body returned");
    KT_F64(mean("work", CYCLES), 10000);
    assert_int_equal(fake_perf.open, 0);
}

static void *work_elsewhere(void *arg)
{
    (void)arg;
    KS_ANNOTATE("elsewhere") {
        fake_perf_work(300);
    }
    return NULL;
}

static ks_status on_two_threads(const ks_call *call, void *user, ks_error *e)
{
    (void)call;
    (void)user;
    (void)e;
    pthread_t thread;
    KS_ANNOTATE("here") {
        fake_perf_work(100);
        pthread_create(&thread, NULL, work_elsewhere, NULL);
        pthread_join(thread, NULL);
    }
    return KS_OK;
}

static void a_failure_of_another_collector_closes_the_counters(void **state)
{
    (void)state;
    static const ks_collector_ops *const fake_first[] = {&fake_ops, &ks_perf_ops, NULL};
    fake_reset((fake_script){.fault = FAKE_FAIL_RUN_END, .shares_first = true});
    use((fake_perf_script){.counters = 4});
    ASK(CYCLES, "fake__duration.sum");
    KT_FAILS(ks_run_with(fake_first, plan, work, NULL, &results, &err), KS_EVENDOR,
             "the fake device broke");
    assert_int_equal(fake_perf.open, 0);
}

static void without_descriptors_there_is_no_value(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .descriptors = 2, .threads = 1});
    ASK(CYCLES, FAULTS);
    run(on_two_threads);
    KT_F64(mean("here", CYCLES), 200);
    KT_HAS(text("elsewhere", CYCLES, "Failure"), "no file descriptor left");
    KT_HAS(text("elsewhere", CYCLES, "Failure"), "ulimit -n");
    KT_HAS(text("elsewhere", FAULTS, "Failure"), "no file descriptor left");
}

static void only_what_needs_the_counter_that_is_not_there_is_missing(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .descriptors = 5, .threads = 1});
    ASK(CYCLES, IPC, FAULTS);
    run(on_two_threads);
    /* page faults come first, then a group of instructions and cycles */
    KT_F64(mean("elsewhere", FAULTS), 300);
    KT_HAS(text("elsewhere", IPC, "Failure"), "no file descriptor left");
    use_again((fake_perf_script){.counters = 4, .descriptors = 4, .threads = 1});
    ASK(CYCLES, INSTRUCTIONS, FAULTS);
    run(on_two_threads);
    KT_F64(mean("elsewhere", FAULTS), 300);
    KT_HAS(text("elsewhere", CYCLES, "Failure"), "no file descriptor left");
    KT_HAS(text("elsewhere", INSTRUCTIONS, "Failure"), "no file descriptor left");
}

static void a_trial_without_descriptors_says_so(void **state)
{
    (void)state;
    use((fake_perf_script){.counters = 4, .descriptors = 1});
    ASK(CYCLES, INSTRUCTIONS);
    KT_FAILS(ks_run_with(perf_alone, plan, work, NULL, &results, &err), KS_UNAVAILABLE,
             "metric cpu__instructions.sum cannot be measured: there was no file descriptor left");
}

/* What is said of an event that is refused: in a run, and by its class in the doctor. */
static void refused(fake_perf_script script, const char *metric, const char *why, const char *cure)
{
    ks_refusal refusal;
    const ks_perf_event *event = strcmp(metric, FAULTS) == 0 ? &ks_perf_faults : &ks_perf_cycles;
    script.counters = 4;
    use_again(script);
    ASK(metric);
    KT_FAILS(ks_run_with(perf_alone, plan, work, NULL, &results, &err), KS_UNAVAILABLE, why);
    ks_perf_refusal(event, ks_perf_try(event), &refusal);
    KT_HAS(refusal.why, why);
    KT_HAS(refusal.cure, cure);
}

static void every_refusal_has_its_message_and_cure(void **state)
{
    (void)state;
    const fake_text paranoid_2 = {"/proc/sys/kernel/perf_event_paranoid", "2\n"};
    const fake_text paranoid_4 = {"/proc/sys/kernel/perf_event_paranoid", "4\n"};
    const uint64_t cycles = PERF_COUNT_HW_CPU_CYCLES;
    const uint64_t faults = PERF_COUNT_SW_PAGE_FAULTS;
    refused((fake_perf_script){.refusals = {{HARD, cycles, ENOENT}}}, CYCLES,
            "there are no performance counters (PMU)", "-cpu host,pmu=on");
    refused((fake_perf_script){.refusals = {{FAKE_ANY, 0, EACCES}}, .files = {paranoid_4}}, CYCLES,
            "events of the processor here: kernel.perf_event_paranoid is 4",
            "sysctl kernel.perf_event_paranoid=2");
    refused((fake_perf_script){.refusals = {{SOFT, faults, EACCES}}, .files = {paranoid_2}}, FAULTS,
            "events in the kernel here: kernel.perf_event_paranoid is 2",
            "sysctl kernel.perf_event_paranoid=1");
    refused((fake_perf_script){.refusals = {{HARD, cycles, EACCES}}, .files = {paranoid_2}}, CYCLES,
            "a security module of the kernel", "ask who looks after");
    refused((fake_perf_script){.refusals = {{FAKE_ANY, 0, EPERM}}, .files = {paranoid_2}}, CYCLES,
            "perf_event_open is blocked, as it is in most containers", "--cap-add PERFMON");
    refused((fake_perf_script){.refusals = {{FAKE_ANY, 0, ENOSYS}}, .files = {paranoid_2}}, CYCLES,
            "perf_event_open is blocked", "seccomp=unconfined");
    refused((fake_perf_script){.refusals = {{FAKE_ANY, 0, ENOSYS}}}, CYCLES,
            "this kernel has no perf_event_open", "CONFIG_PERF_EVENTS");
    refused((fake_perf_script){.refusals = {{HARD, cycles, EINVAL}}}, CYCLES,
            "does not count this event for a thread", "events of the whole machine");
    refused((fake_perf_script){.refusals = {{HARD, cycles, EBUSY}}}, CYCLES,
            "somebody else holds the performance counters", "end other profilers");
    refused((fake_perf_script){.refusals = {{FAKE_ANY, 0, EMFILE}}}, CYCLES,
            "no file descriptor left", "ulimit -n");
    refused((fake_perf_script){.absent = "this build of kernsight has no perf collector"}, CYCLES,
            "this build of kernsight has no perf collector", "-DKS_WITH_PERF=ON");
}

static void an_event_that_this_processor_lacks_is_told_from_no_counters_at_all(void **state)
{
    (void)state;
    const fake_perf_script script = {.counters = 4,
                                     .refusals = {{HARD, PERF_COUNT_HW_BRANCH_MISSES, ENOENT}}};
    use(script);
    ASK("cpu__branch_misses.sum");
    KT_FAILS(ks_run_with(perf_alone, plan, work, NULL, &results, &err), KS_UNAVAILABLE,
             "this processor has no such event; ask for another one");
    use_again(script);
    ASK("cpu__branch*"); /* patterns take what there is */
    run(work);
    assert_int_equal(ks_table_rows(ks_results_table(results)), 1);
}

/* ---- doctor -----------------------------------------------------------------------------------
 */

/* A line per fact: "name=value" and " to do: cure". */
static ks_status write_fact(void *self, const char *fact, ks_value value, const char *cure,
                            ks_error *e)
{
    ks_buf *to = self;
    (void)e;
    ks_buf_addf(to, "%s=", fact);
    if (value.type == KS_I64) {
        ks_buf_add_i64(to, value.as.i64);
    } else {
        ks_buf_add(to, value.text);
    }
    ks_buf_addf(to, "%s%s\n", cure != NULL ? " to do: " : "", cure != NULL ? cure : "");
    return KS_OK;
}

/* Everything that it tells, in `facts`. */
static const char *doctor(fake_perf_script script)
{
    const ks_fact_sink sink = {&facts, write_fact};
    ks_buf_clear(&facts);
    use(script);
    KT_OK(ks_perf_ops.probe(&sink, &err));
    return ks_buf_text(&facts);
}

static void the_doctor_tells_what_works(void **state)
{
    (void)state;
    const char *told = doctor((fake_perf_script){
        .counters = 4,
        .library = "libfake",
        .files = {{"/proc/sys/kernel/perf_event_paranoid", "-1\n"},
                  {"/proc/sys/kernel/nmi_watchdog", "1\n"},
                  {"/proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\n"}}});
    assert_string_equal(told,
                        "available=yes\nprocessor_events=yes\nkernel_events=yes\n"
                        "paranoid_level=-1\ncap_perfmon=yes\n"
                        "nmi_watchdog=on: it holds one of the counters to do: as root, sysctl "
                        "kernel.nmi_watchdog=0, for fewer passes\nevent_names=libfake\n");
}

static void the_doctor_tells_what_does_not_and_what_to_do(void **state)
{
    (void)state;
    const fake_text paranoid = {"/proc/sys/kernel/perf_event_paranoid", "2\n"};
    const char *told = doctor((fake_perf_script){
        .counters = 4,
        .refusals = {{HARD, PERF_COUNT_HW_CPU_CYCLES, ENOENT},
                     {SOFT, PERF_COUNT_SW_PAGE_FAULTS, EACCES}},
        .files = {paranoid, {"/proc/self/status", "CapEff:\t0000000000000000\n"}}});
    KT_HAS(told, "available=no\n");
    KT_HAS(told, "processor_events=no: there are no performance counters (PMU) to do: most");
    KT_HAS(told, "kernel_events=no: this user may not count events in the kernel");
    KT_HAS(told, "perf_event_paranoid is 2 to do: as root, sysctl");
    KT_HAS(told, "cap_perfmon=no\n");
    KT_HAS(told, "event_names=/sys/bus/event_source to do: install libpfm4");
    assert_null(strstr(told, "nmi_watchdog"));
    told = doctor(
        (fake_perf_script){.counters = 4, .refusals = {{HARD, PERF_COUNT_HW_CPU_CYCLES, ENOENT}}});
    KT_HAS(told, "available=events of the kernel only\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(visits_that_were_left_open_are_closed),
        T(a_failure_of_another_collector_closes_the_counters),
        T(without_descriptors_there_is_no_value),
        T(only_what_needs_the_counter_that_is_not_there_is_missing),
        T(a_trial_without_descriptors_says_so),
        T(every_refusal_has_its_message_and_cure),
        T(an_event_that_this_processor_lacks_is_told_from_no_counters_at_all),
        T(the_doctor_tells_what_works),
        T(the_doctor_tells_what_does_not_and_what_to_do),
    };
    return cmocka_run_group_tests(tests, start_facts, forget_facts);
}
