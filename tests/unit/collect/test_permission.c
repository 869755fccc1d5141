/* What the driver says about who may read counters. */
#include "harness.h"

#include <stdlib.h>
#include <unistd.h>

#include "collect/nvidia/permission.h"

#define ADMIN_ONLY "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\nPreserve: 1\n"

/* With the capabilities of a process, as the kernel writes them. */
static ks_permission told(const char *params, const char *capabilities)
{
    static char params_path[512];
    static char status_path[512];
    char status[80];
    snprintf(params_path, sizeof params_path, "%s", kt_path("params"));
    snprintf(status_path, sizeof status_path, "%s", kt_path("status"));
    snprintf(status, sizeof status, "Name:\tx\nCapPrm:\t0000003fffffffff\nCapEff:\t%s\n",
             capabilities);
    kt_write(params_path, params);
    kt_write(status_path, status);
    ks_driver_params = params_path;
    ks_process_status = status_path;
    return ks_counters_permission();
}

static void any_user_may_where_the_driver_says_so(void **state)
{
    (void)state;
    assert_int_equal(told("ResmanDebugLevel: 1\nRmProfilingAdminOnly: 0\n", "0000000000000000"),
                     KS_PERMISSION_ALL);
}

static void administrators_are_told_from_others(void **state)
{
    (void)state;
    assert_int_equal(told(ADMIN_ONLY, "0000003fffffffff"), KS_PERMISSION_ADMIN);
    assert_int_equal(told(ADMIN_ONLY, "0000000000200000"), KS_PERMISSION_ADMIN);
    assert_int_equal(told(ADMIN_ONLY, "0000000000000000"), KS_PERMISSION_REFUSED);
    assert_int_equal(told(ADMIN_ONLY, "00000000a80425fb"), KS_PERMISSION_REFUSED); /* docker's */
    ks_process_status = "/no/such/file";
    assert_int_equal(ks_counters_permission(), KS_PERMISSION_REFUSED);
}

/* The kernel writes what is read: a process that has the capability is root, here or by sudo. */
static void the_kernel_is_understood(void **state)
{
    (void)state;
    told(ADMIN_ONLY, "0000000000000000");
    ks_process_status = "/proc/self/status";
    ks_permission mine = ks_counters_permission();
    assert_true(mine == KS_PERMISSION_ADMIN || mine == KS_PERMISSION_REFUSED);
    char *status = kt_read("/proc/self/status");
    const char *line = strstr(status, "CapEff:");
    assert_non_null(line);
    bool capable = (strtoull(line + 7, NULL, 16) & 1u << 21) != 0;
    assert_int_equal(mine, capable ? KS_PERMISSION_ADMIN : KS_PERMISSION_REFUSED);
    free(status);
}

static void a_driver_that_does_not_tell_is_no_refusal(void **state)
{
    (void)state;
    assert_int_equal(told("ResmanDebugLevel: 4294967295\n", "0"), KS_PERMISSION_UNKNOWN);
    assert_int_equal(told("", "0"), KS_PERMISSION_UNKNOWN);
    ks_driver_params = "/no/such/file";
    assert_int_equal(ks_counters_permission(), KS_PERMISSION_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_user_may_where_the_driver_says_so),
        cmocka_unit_test(administrators_are_told_from_others),
        cmocka_unit_test(the_kernel_is_understood),
        cmocka_unit_test(a_driver_that_does_not_tell_is_no_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
