/* What `kernsight doctor --noise` says, of times and of files that are known. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "noise.h"

enum {
    PAIRS = 400
};

static ks_error err;

/* A number in (0, 1): the same sequence on every machine. */
static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double u = uniform(state);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * uniform(state));
}

/* Times of 1 ms with a deviation, and side b or the later half longer by a share. */
static noise_report report_of(double deviation, double b_longer, double later_longer)
{
    static double a[PAIRS];
    static double b[PAIRS];
    uint64_t seed = 3;
    noise_report r;
    for (int i = 0; i < PAIRS; i++) {
        double base = i < PAIRS / 2 ? 1e6 : 1e6 * (1.0 + later_longer);
        a[i] = base * (1.0 + deviation * normal(&seed));
        b[i] = base * (1.0 + b_longer) * (1.0 + deviation * normal(&seed));
    }
    KT_OK(judge_noise(a, b, PAIRS, &r, &err));
    return r;
}

static void a_quiet_machine_shows_what_theory_says(void **state)
{
    (void)state;
    noise_report r = report_of(0.002, 0.0, 0.0);
    KT_NEAR(r.kernel_ns, 1e6, 0.001);
    KT_NEAR(r.spread_pct, 0.2, 0.1);
    KT_NEAR(r.mad_pct, 0.6745 * 0.2, 0.15);
    KT_NEAR(r.slow_pct, 2.326 * 0.2, 0.3);
    assert_true(fabs(r.drift_pct) < 0.1);
    assert_int_equal(r.groups[0].comparisons, 39);
    assert_int_equal(r.groups[2].comparisons, 3);
    /* medians of 100 normal samples vary by 1.2533 / 10 deviations; two of them, and 2.80 of that
     */
    KT_NEAR(r.groups[2].difference_pct, 2.80 * 1.4142 * 0.12533 * 0.2, 0.3);
    assert_true(r.groups[0].difference_pct > r.groups[1].difference_pct);
    assert_true(r.groups[0].alarms <= 5);
    assert_false(is_noisy(&r));
}

static void a_machine_whose_sides_or_times_differ_is_noisy(void **state)
{
    (void)state;
    noise_report r = report_of(0.002, 0.02, 0.0);
    assert_int_equal(r.groups[0].alarms, r.groups[0].comparisons);
    assert_true(is_noisy(&r));
    r = report_of(0.002, 0.0, 0.05);
    KT_NEAR(r.drift_pct, 5.0, 0.05);
    assert_int_equal(r.groups[2].alarms_later, 1); /* before and after the step */
    r = report_of(0.1, 0.0, 0.0);
    assert_true(r.groups[0].difference_pct > 1.0);
    assert_true(is_noisy(&r));
}

static char root[512];

static void put_file(const char *path, const char *text)
{
    char name[1024];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(name, 0755);
        *at = '/';
    }
    kt_write(name, text);
}

typedef struct machine {
    double load;
    int hints;
} machine;

static ks_status print_hints(void *arg, FILE *to, ks_error *e)
{
    machine *m = arg;
    (void)e;
    m->hints = print_noise_hints(root, m->load, 4, to);
    return KS_OK;
}

static void what_hurts_is_named_with_its_cure(void **state)
{
    (void)state;
    machine m = {.load = 0.1};
    snprintf(root, sizeof root, "%s", kt_path("machine"));
    mkdir(root, 0755);
    char *text = kt_capture(print_hints, &m);
    assert_int_equal(m.hints, 0);
    assert_string_equal(text, "");
    free(text);
    put_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    put_file("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    put_file("/sys/devices/system/cpu/smt/active", "1\n");
    put_file("/proc/cpuinfo", "processor: 0\nflags\t: fpu vme hypervisor lm\n");
    m.load = 2.5;
    text = kt_capture(print_hints, &m);
    assert_int_equal(m.hints, 5);
    KT_HAS(text, "the frequency governor is 'powersave': cpupower frequency-set -g performance");
    KT_HAS(text, "turbo is on");
    KT_HAS(text, "SMT is on");
    KT_HAS(text, "the load average is 2.5 on 4 CPUs");
    KT_HAS(text, "this is a virtual machine");
    free(text);
    put_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put_file("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    put_file("/sys/devices/system/cpu/smt/active", "0\n");
    put_file("/proc/cpuinfo", "flags\t: fpu vme lm\n");
    m.load = 0.0;
    text = kt_capture(print_hints, &m);
    assert_int_equal(m.hints, 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_machine_shows_what_theory_says),
        cmocka_unit_test(a_machine_whose_sides_or_times_differ_is_noisy),
        cmocka_unit_test(what_hurts_is_named_with_its_cure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
