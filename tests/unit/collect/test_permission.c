/* What the driver says about who may read counters. */
#include "harness.h"

#include <stdlib.h>
#include <unistd.h>

#include "collect/nvidia/permission.h"

static ks_permission told(const char *params)
{
    kt_write(kt_path("params"), params);
    return ks_counters_permission(kt_path("params"));
}

static void any_user_may_where_the_driver_says_so(void **state)
{
    (void)state;
    assert_int_equal(told("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\nPreserve: 1\n"),
                     KS_PERMISSION_ALL);
}

static void administrators_are_told_from_others(void **state)
{
    (void)state;
    /* root with all capabilities, or a user without any */
    ks_permission mine = geteuid() == 0 ? KS_PERMISSION_ADMIN : KS_PERMISSION_REFUSED;
    char status[4096] = "";
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    status[fread(status, 1, sizeof status - 1, file)] = '\0';
    fclose(file);
    const char *line = strstr(status, "CapEff:");
    assert_non_null(line);
    bool capable = (strtoull(line + 7, NULL, 16) & 1u << 21) != 0;
    if (capable != (mine == KS_PERMISSION_ADMIN)) {
        skip(); /* a container whose root has not all */
    }
    assert_int_equal(told("RmProfilingAdminOnly: 1\n"), mine);
}

static void a_driver_that_does_not_tell_is_no_refusal(void **state)
{
    (void)state;
    assert_int_equal(told("ResmanDebugLevel: 4294967295\n"), KS_PERMISSION_UNKNOWN);
    assert_int_equal(told(""), KS_PERMISSION_UNKNOWN);
    assert_int_equal(ks_counters_permission("/no/such/file"), KS_PERMISSION_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_user_may_where_the_driver_says_so),
        cmocka_unit_test(administrators_are_told_from_others),
        cmocka_unit_test(a_driver_that_does_not_tell_is_no_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
