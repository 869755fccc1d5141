/* What doctor says of NVIDIA's where only a test can make it so: who may read counters, and devices
 * that are not told alike. tests/cli/test_fake_gpu.py has the rest. */
#include "fakes/nvidia/fixture.h"

#include "collect/nvidia/permission.h"
#include "collect/nvidia/probe.h"

enum {
    FACTS_MAX = 32
};

typedef struct told_fact {
    char name[40];
    char text[600];
    char cure[400]; /* "": none */
} told_fact;

static told_fact told[FACTS_MAX];
static size_t count;
static char params_path[512];
static char status_path[512];

static ks_status note(void *self, const char *fact, ks_value value, const char *cure, ks_error *e)
{
    (void)self;
    (void)e;
    assert_true(count < FACTS_MAX);
    told_fact *f = &told[count++];
    snprintf(f->name, sizeof f->name, "%s", fact);
    snprintf(f->text, sizeof f->text, "%s", value.text);
    snprintf(f->cure, sizeof f->cure, "%s", cure != NULL ? cure : "");
    return KS_OK;
}

/* Ask, and look for a fact. */
static const told_fact *ask_for(const char *name)
{
    const ks_fact_sink sink = {NULL, note};
    const told_fact *found = NULL;
    count = 0;
    KT_OK(ks_nvidia_probe(&sink, &err));
    for (size_t i = 0; i < count; i++) {
        found = strcmp(told[i].name, name) == 0 ? &told[i] : found;
    }
    return found;
}

/* The capability of administrators, or none. */
static void be(const char *capabilities, const char *params)
{
    char status[80];
    snprintf(status, sizeof status, "CapEff:\t%s\n", capabilities);
    kt_write(status_path, status);
    kt_write(params_path, params);
}

static int begin(void **state)
{
    snprintf(params_path, sizeof params_path, "%s", kt_path("params"));
    snprintf(status_path, sizeof status_path, "%s", kt_path("status"));
    ks_driver_params = params_path;
    ks_process_status = status_path;
    setenv("KERNSIGHT_NVML_LIB", FAKE_LIBRARIES "/libnvidia-ml.so.1", 1);
    be("0000000000000000", "");
    return start(state);
}

static void who_may_read_counters_is_told(void **state)
{
    (void)state;
    assert_null(ask_for("permission")); /* the driver does not tell */
    be("0000000000000000", "RmProfilingAdminOnly: 0\n");
    KT_HAS(ask_for("permission")->text, "any user");
    be("0000003fffffffff", "RmProfilingAdminOnly: 1\n");
    assert_string_equal(ask_for("permission")->text,
                        "administrators alone may read counters; this process may");
    assert_string_equal(ask_for("permission")->cure, "");
}

static void who_may_not_is_told_what_to_do(void **state)
{
    (void)state;
    static const char *const cures[] = {
        "run as root",         "docker run --cap-add SYS_ADMIN",
        "/etc/modprobe.d/",    "options nvidia NVreg_RestrictProfilingToAdminUsers=0",
        "restart the machine", "kernel__time_duration.sum needs no permission"};
    be("00000000a80425fb", "RmProfilingAdminOnly: 1\n"); /* root in a container of docker's */
    const told_fact *f = ask_for("permission");
    assert_non_null(f);
    KT_HAS(f->text, "administrators alone may read counters; this process may not");
    for (size_t i = 0; i < sizeof cures / sizeof cures[0]; i++) {
        KT_HAS(f->cure, cures[i]);
    }
    assert_string_equal(ask_for("available")->text, "yes"); /* tracing needs none */
}

static void devices_are_told_apart(void **state)
{
    (void)state;
    fake_script("devices=2");
    fake_device_attribute(1, 133, 1);
    assert_null(ask_for("device_0_mps"));
    KT_HAS(ask_for("device_1_mps")->text, "MPS");
    assert_null(ask_for("device_1_mig"));
}

static void a_driver_that_does_not_know_mps_is_no_sharing(void **state)
{
    (void)state;
    fake_script("mps=1; cuDeviceGetAttribute=1");
    assert_null(ask_for("device_0_mps"));
    KT_HAS(ask_for("device_0")->text, "GPU-fafafafa");
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    assert_non_null(ask_for("device_0"));
    assert_int_equal(fake_calls("cuCtxCreate_v2") + fake_calls("cuDevicePrimaryCtxRetain"), 0);
    assert_int_equal(fake_calls("cuptiSubscribe") + fake_calls("cuptiRangeProfilerEnable"), 0);
}

int main(void)
{
#define PROBE(test) cmocka_unit_test_setup_teardown(test, begin, stop)
    const struct CMUnitTest tests[] = {
        PROBE(who_may_read_counters_is_told), PROBE(who_may_not_is_told_what_to_do),
        PROBE(devices_are_told_apart),        PROBE(a_driver_that_does_not_know_mps_is_no_sharing),
        PROBE(nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
