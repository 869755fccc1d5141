#include "harness.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "plan/call.h"
#include "plan/plan.h"

static ks_error err;

static ks_plan *new_plan(void)
{
    ks_plan *plan = NULL;
    ks_error_clear(&err);
    KT_OK(ks_plan_new(&plan, &err));
    return plan;
}

/* "n=1, m=2" of a config. */
static const char *config(const ks_plan *plan, size_t number)
{
    static char text[256];
    const ks_call call = {.plan = plan, .config = number};
    ks_call_describe(&call, text, sizeof text);
    return text;
}

static void axes_are_multiplied_with_the_last_one_fastest(void **state)
{
    (void)state;
    ks_plan *plan = new_plan();
    size_t count = 0;
    KT_OK(ks_plan_axis_i64(plan, "n", (int64_t[]){1, 2}, 2, &err));
    KT_OK(ks_plan_axis_text(plan, "kind", (const char *const[]){"a", "b", "c"}, 3, &err));
    KT_OK(ks_plan_axis_f64(plan, "x", (double[]){0.5}, 1, &err));
    KT_OK(ks_plan_count(plan, &count, &err));
    assert_int_equal(count, 6);
    assert_string_equal(config(plan, 0), "n=1, kind=a, x=0.5");
    assert_string_equal(config(plan, 1), "n=1, kind=b, x=0.5");
    assert_string_equal(config(plan, 3), "n=2, kind=a, x=0.5");
    assert_string_equal(config(plan, 5), "n=2, kind=c, x=0.5");
    ks_plan_free(plan);
}

static void zipped_axes_go_in_step(void **state)
{
    (void)state;
    ks_plan *plan = new_plan();
    size_t count = 0;
    KT_OK(ks_plan_axis_spec(plan, "n=1,2,3", &err));
    KT_OK(ks_plan_axis_spec(plan, "m=10,20,30", &err));
    KT_OK(ks_plan_zip(plan, true, &err));
    KT_OK(ks_plan_count(plan, &count, &err));
    assert_int_equal(count, 3);
    assert_string_equal(config(plan, 2), "n=3, m=30");
    KT_OK(ks_plan_axis_spec(plan, "k=1,2", &err));
    KT_FAILS(ks_plan_count(plan, &count, &err), KS_EINVAL, "'n' has 3, 'k' has 2");
    ks_plan_free(plan);
}

static void configs_given_one_by_one_hold_any_values(void **state)
{
    (void)state;
    ks_plan *plan = new_plan();
    size_t count = 0;
    int object = 0;
    KT_OK(ks_plan_param(plan, "a", &err));
    KT_OK(ks_plan_param(plan, "b", &err));
    KT_OK(ks_plan_config(plan, (ks_value[]){ks_i64(1), ks_text("x")}, 2, &err));
    KT_OK(
        ks_plan_config(plan, (ks_value[]){ks_missing(), ks_opaque(&object, "<object>")}, 2, &err));
    KT_OK(ks_plan_config(plan, (ks_value[]){ks_bool(true), ks_f64(2.5)}, 2, &err));
    KT_OK(ks_plan_count(plan, &count, &err));
    assert_int_equal(count, 3);
    assert_string_equal(config(plan, 0), "a=1, b=x");
    assert_string_equal(config(plan, 1), "a=, b=<object>");
    assert_string_equal(config(plan, 2), "a=True, b=2.5");
    assert_ptr_equal(ks_plan_value(plan, 1, 1)->as.object, &object);
    KT_FAILS(ks_plan_config(plan, (ks_value[]){ks_i64(1)}, 1, &err), KS_EINVAL,
             "config 4 has 1 values for 2 parameters");
    KT_FAILS(ks_plan_axis_spec(plan, "n=1", &err), KS_EINVAL, "not both");
    KT_FAILS(ks_plan_param(plan, "late", &err), KS_EINVAL, "after the first config");
    ks_plan_free(plan);
}

static void plans_without_configs_are_told_apart(void **state) /* C23 a, b */
{
    (void)state;
    ks_plan *plan = new_plan();
    size_t count = 0;
    KT_OK(ks_plan_count(plan, &count, &err));
    assert_int_equal(count, 1); /* no parameters: one config of nothing */
    KT_OK(ks_plan_param(plan, "n", &err));
    KT_FAILS(ks_plan_count(plan, &count, &err), KS_EINVAL, "parameters but no configs");
    ks_plan_free(plan);
}

static void too_many_configs_are_refused_with_their_number(void **state)
{
    (void)state;
    ks_plan *plan = new_plan();
    size_t count = 0;
    KT_OK(ks_plan_axis_spec(plan, "a=1..1000", &err));
    KT_OK(ks_plan_axis_spec(plan, "b=1..101", &err));
    KT_FAILS(ks_plan_count(plan, &count, &err), KS_ELIMIT, "101000 configs");
    KT_OK(ks_plan_max_configs(plan, 101000, &err));
    KT_OK(ks_plan_count(plan, &count, &err));
    for (int i = 0; i < 5; i++) {
        char spec[] = "c0=1..100000";
        spec[1] = (char)('0' + i);
        KT_OK(ks_plan_axis_spec(plan, spec, &err));
    }
    KT_FAILS(ks_plan_count(plan, &count, &err), KS_ELIMIT, "far too many"); /* beyond 64 bits */
    KT_FAILS(ks_plan_max_configs(plan, 0, &err), KS_EINVAL, "limit");
    ks_plan_free(plan);
}

static void bad_building_blocks_are_refused(void **state)
{
    (void)state;
    ks_plan *plan = new_plan();
    KT_FAILS(ks_plan_axis_i64(plan, "n", NULL, 0, &err), KS_EINVAL, "has no values");
    KT_FAILS(ks_plan_axis_i64(plan, "", (int64_t[]){1}, 1, &err), KS_EINVAL, "empty");
    KT_FAILS(ks_plan_axis_i64(plan, "a\nb", (int64_t[]){1}, 1, &err), KS_EINVAL, "control");
    KT_FAILS(ks_plan_axis_i64(plan, "\xff", (int64_t[]){1}, 1, &err), KS_EINVAL, "not UTF-8");
    KT_FAILS(ks_plan_axis_i64(plan, NULL, (int64_t[]){1}, 1, &err), KS_EINVAL, "missing");
    KT_FAILS(ks_plan_axis_i64(plan, "AvgValue", (int64_t[]){1}, 1, &err), KS_EINVAL, "reserved");
    KT_OK(ks_plan_axis_i64(plan, "n", (int64_t[]){1}, 1, &err));
    KT_FAILS(ks_plan_axis_i64(plan, "n", (int64_t[]){1}, 1, &err), KS_EINVAL, "given twice");
    KT_FAILS(ks_plan_axis_text(plan, "t", (const char *const[]){"ok", "\xed\xa0\x80"}, 2, &err),
             KS_EINVAL, "parameter 't': a value is not UTF-8"); /* C20: a lone surrogate */
    KT_FAILS(ks_plan_runs(plan, 0, &err), KS_EINVAL, "0 runs");
    KT_FAILS(ks_plan_order(plan, (ks_order)9, 0, &err), KS_EINVAL, "order");
    KT_FAILS(ks_plan_combine(plan, (ks_combine)9, &err), KS_EINVAL, "combine");
    KT_FAILS(ks_plan_combine_fn(plan, NULL, NULL, &err), KS_EINVAL, "no function");
    KT_FAILS(ks_plan_metric(plan, "  ", &err), KS_EINVAL, "empty");
    KT_FAILS(ks_plan_derive(plan, "d", NULL, NULL, &err), KS_EINVAL, "no function");
    size_t count = 0;
    KT_OK(ks_plan_count(plan, &count, &err)); /* what was refused left nothing behind */
    assert_int_equal(count, 1);
    assert_string_equal(config(plan, 0), "n=1");
    ks_plan_free(plan);
}

static void building_stops_at_the_first_failure(void **state)
{
    (void)state;
    ks_plan *plan = new_plan();
    assert_int_equal(ks_plan_runs(plan, 0, &err), KS_EINVAL);
    assert_int_equal(ks_plan_axis_spec(plan, "n=1", &err), KS_EINVAL);
    assert_int_equal(ks_plan_metric(plan, "x", &err), KS_EINVAL);
    KT_HAS(err.message, "0 runs");
    assert_int_equal(plan->param_count, 0);
    ks_plan_free(plan);
}

static void metrics_are_trimmed_and_kept_once(void **state)
{
    (void)state;
    ks_plan *plan = new_plan();
    KT_OK(ks_plan_metric(plan, " a ", &err));
    KT_OK(ks_plan_metric(plan, "b", &err));
    KT_OK(ks_plan_metric(plan, "a\n", &err));
    assert_int_equal(plan->metrics.count, 2);
    assert_string_equal(plan->metrics.texts[0], "a");
    ks_plan_free(plan);
}

static ks_status no_info(const ks_call *call, const char *annotation, ks_value *out, void *user,
                         ks_error *e)
{
    (void)call;
    (void)annotation;
    (void)out;
    (void)user;
    (void)e;
    return KS_OK;
}

static void info_collectors_need_names_of_their_own(void **state)
{
    (void)state;
    ks_plan *plan = new_plan();
    KT_OK(ks_plan_info(plan, "temp", KS_SCOPE_RUN, no_info, NULL, &err));
    KT_FAILS(ks_plan_info(plan, "temp", KS_SCOPE_ONCE, no_info, NULL, &err), KS_EINVAL, "twice");
    KT_FAILS(ks_plan_info(plan, "GPU", KS_SCOPE_ONCE, no_info, NULL, &err), KS_EINVAL, "reserved");
    KT_FAILS(ks_plan_info(plan, "x", (ks_info_scope)7, no_info, NULL, &err), KS_EINVAL, "scope");
    KT_FAILS(ks_plan_info(plan, "x", KS_SCOPE_RUN, NULL, NULL, &err), KS_EINVAL, "no function");
    KT_OK(ks_plan_axis_spec(plan, "temp=1", &err));
    KT_FAILS(ks_plan_check(plan, &err), KS_EINVAL, "the name of a parameter");
    ks_plan_free(plan);
}

static int released;

static void release(void *object, void *user)
{
    *(int *)user += *(int *)object;
}

static void objects_are_released_once_each(void **state) /* C22 */
{
    (void)state;
    int one = 1;
    int ten = 10;
    ks_plan *plan = new_plan();
    released = 0;
    KT_OK(ks_plan_release(plan, release, &released, &err));
    KT_OK(ks_plan_axis(plan, "o", (ks_value[]){ks_opaque(&one, "one"), ks_opaque(&ten, "ten")}, 2,
                       &err));
    KT_FAILS(ks_plan_axis(plan, "p", (ks_value[]){ks_opaque(&one, "one"), ks_opaque(&one, NULL)}, 2,
                          &err),
             KS_EINVAL, "missing"); /* refused: its objects stay the caller's */
    ks_plan_free(plan);
    assert_int_equal(released, 11);
}

static void a_shuffle_is_a_permutation_that_its_seed_repeats(void **state)
{
    (void)state;
    enum {
        COUNT = 1000
    };
    ks_plan *plan = new_plan();
    uint32_t *a = NULL;
    uint32_t *b = NULL;
    uint32_t *c = NULL;
    bool seen[COUNT] = {false};
    size_t moved = 0;
    size_t different = 0;
    KT_OK(ks_plan_order(plan, KS_ORDER_SHUFFLED, 5, &err));
    KT_OK(ks_plan_sequence(plan, COUNT, 5, &a, &err));
    KT_OK(ks_plan_sequence(plan, COUNT, 5, &b, &err));
    KT_OK(ks_plan_sequence(plan, COUNT, 6, &c, &err));
    assert_memory_equal(a, b, COUNT * sizeof *a);
    for (size_t i = 0; i < COUNT; i++) {
        assert_false(seen[a[i]]);
        seen[a[i]] = true;
        moved += a[i] != i;
        different += a[i] != c[i];
    }
    assert_true(moved > COUNT * 9 / 10);
    assert_true(different > COUNT * 9 / 10);
    ks_free(a);
    ks_free(b);
    ks_free(c);
    ks_plan_free(plan);
}

static void a_plan_may_be_freed_half_built(void **state)
{
    (void)state;
    ks_plan_free(NULL);
    ks_plan_free(new_plan());
    ks_plan *plan = new_plan();
    KT_OK(ks_plan_param(plan, "n", &err));
    KT_OK(ks_plan_metric(plan, "nonsense", &err));
    ks_plan_free(plan);
}

static void axes_and_given_configs_do_not_mix(void **state)
{
    (void)state;
    const ks_value one = ks_i64(1);
    ks_plan *plan = new_plan();
    KT_OK(ks_plan_axis_spec(plan, "n=1", &err));
    KT_FAILS(ks_plan_param(plan, "m", &err), KS_EINVAL, "not both");
    KT_FAILS(ks_plan_config(plan, &one, 1, &err), KS_EINVAL, "not both");
    ks_plan_free(plan);
    plan = new_plan();
    KT_OK(ks_plan_param(plan, "n", &err));
    KT_FAILS(ks_plan_axis_spec(plan, "m=1", &err), KS_EINVAL, "not both");
    ks_plan_free(plan);
}

static void a_value_that_cannot_be_kept_names_its_config(void **state)
{
    (void)state;
    ks_value broken = ks_i64(1);
    broken.type = (ks_type)99;
    const ks_value bytes = ks_text("\xff");
    ks_plan *plan = new_plan();
    KT_OK(ks_plan_param(plan, "n", &err));
    KT_FAILS(ks_plan_config(plan, &broken, 1, &err), KS_EINVAL,
             "config 1: parameter 'n': a value has no valid type (99)");
    KT_FAILS(ks_plan_config(plan, &bytes, 1, &err), KS_EINVAL, "config 1: parameter 'n'");
    ks_plan_free(plan);
}

static void no_plan_is_an_error(void **state)
{
    (void)state;
    const ks_value one = ks_i64(1);
    size_t count = 0;
    KT_FAILS(ks_plan_axis(NULL, "n", &one, 1, &err), KS_EINVAL, "there is no plan (NULL)");
    KT_FAILS(ks_plan_axis_i64(NULL, "n", &one.as.i64, 1, &err), KS_EINVAL, "there is no plan");
    KT_FAILS(ks_plan_axis_spec(NULL, "n=1", &err), KS_EINVAL, "there is no plan");
    KT_FAILS(ks_plan_config(NULL, &one, 1, &err), KS_EINVAL, "there is no plan");
    KT_FAILS(ks_plan_metric(NULL, "m", &err), KS_EINVAL, "there is no plan");
    KT_FAILS(ks_plan_runs(NULL, 3, &err), KS_EINVAL, "there is no plan");
    KT_FAILS(ks_plan_count(NULL, &count, &err), KS_EINVAL, "there is no plan");
    ks_plan_cancel(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_multiplied_with_the_last_one_fastest),
        cmocka_unit_test(zipped_axes_go_in_step),
        cmocka_unit_test(configs_given_one_by_one_hold_any_values),
        cmocka_unit_test(plans_without_configs_are_told_apart),
        cmocka_unit_test(too_many_configs_are_refused_with_their_number),
        cmocka_unit_test(bad_building_blocks_are_refused),
        cmocka_unit_test(building_stops_at_the_first_failure),
        cmocka_unit_test(metrics_are_trimmed_and_kept_once),
        cmocka_unit_test(info_collectors_need_names_of_their_own),
        cmocka_unit_test(objects_are_released_once_each),
        cmocka_unit_test(a_shuffle_is_a_permutation_that_its_seed_repeats),
        cmocka_unit_test(a_plan_may_be_freed_half_built),
        cmocka_unit_test(axes_and_given_configs_do_not_mix),
        cmocka_unit_test(a_value_that_cannot_be_kept_names_its_config),
        cmocka_unit_test(no_plan_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
