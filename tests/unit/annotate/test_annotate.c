/* Annotations in a call: case C04, names, what fails. */
#include "fakes/session_fixture.h"

#include <stdlib.h>

static void nested_and_repeated_annotations_have_paths_and_visits(void **state) /* C04 a, b */
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        KS_ANNOTATE("outer") {
            KS_ANNOTATE("in/ner") {
            }
            KS_ANNOTATE("b\\s") {
            }
        }
    }
    KS_ANNOTATE("in/ner") {
    }
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("outer"), 3);
    assert_int_equal(visits_of("outer/in\\/ner"), 3);
    assert_int_equal(visits_of("outer/b\\\\s"), 3);
    assert_int_equal(visits_of("in\\/ner"), 1);
    assert_int_equal(ks_session_annotation_count(), 4);
    assert_string_equal(ks_session_annotation(0)->path, "outer");
    assert_int_equal(atomic_load(&begun), 10);
    assert_int_equal(atomic_load(&ended), 10);
}

static int leave(int how)
{
    for (int i = 0; i < 2; i++) {
        KS_ANNOTATE("left") {
            if (how == 0) {
                break;
            }
            if (how == 1) {
                continue;
            }
            if (how == 2) {
                return 1;
            }
            goto out;
        }
    }
    return 0;
out:
    return 2;
}

static void a_block_ends_however_it_is_left(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        leave(how);
    }
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(atomic_load(&begun), atomic_load(&ended));
    assert_true(atomic_load(&begun) >= 4);
}

static void ending_what_is_not_open_is_an_error_and_harms_nobody(void **state) /* C04 c */
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    KT_FAILS(ks_annotate_end(token, &err), KS_ESTATE, "no annotation that was begun");
    KT_OK(ks_annotate_begin("a", &token, &err));
    KT_OK(ks_annotate_end(token, &err));
    KT_FAILS(ks_annotate_end(token, &err), KS_ESTATE, "'a' was already ended");
    KT_OK(ks_annotate_begin("b", &token, &err));
    KT_OK(ks_annotate_end(token, &err));
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("a"), 1);
    assert_int_equal(visits_of("b"), 1);
}

static void an_annotation_left_open_is_named(void **state) /* C04 d */
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    KT_OK(ks_annotate_begin("outer", &token, &err));
    KT_FAILS(ks_session_end_call(&err), KS_ESTATE, "'outer' was still open");
    KT_OK(ks_annotate_end(token, &err)); /* outside a call nothing happens */
    ks_session_forget_call();
    ks_session_begin_call(&hooks);
    KT_FAILS(ks_annotate_end(token, &err), KS_ESTATE, "earlier call");
    KS_ANNOTATE("next") {
    }
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("next"), 1);
    assert_int_equal(visits_of("outer"), 0);
}

static void names_are_any_text_without_control_characters(void **state) /* C04 e */
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    char *longest = calloc(1, 70000);
    assert_non_null(longest);
    memset(longest, 'x', 10000);
    const char *const good[] = {"", "a/b", "a,b", "🚀 é", longest};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        KT_OK(ks_annotate_begin(good[i], &token, &err));
        KT_OK(ks_annotate_end(token, &err));
    }
    KT_FAILS(ks_annotate_begin("a\nb", &token, &err), KS_EINVAL, "control character");
    KT_FAILS(ks_annotate_begin("\xff", &token, &err), KS_EINVAL, "not UTF-8");
    KT_FAILS(ks_annotate_begin(NULL, &token, &err), KS_EINVAL, "missing (NULL)");
    memset(longest, 'x', 65536);
    KT_FAILS(ks_annotate_begin(longest, &token, &err), KS_EINVAL, "65536 bytes");
    KT_OK(ks_session_end_call(&err)); /* what the caller was told spoils nothing */
    assert_int_equal(ks_session_annotation_count(), 5);
    assert_string_equal(ks_session_annotation(2)->path, "a,b");
    longest[10000] = '\0';
    assert_string_equal(ks_session_annotation(4)->path, longest);
    free(longest);
}

static void nesting_without_end_is_refused(void **state)
{
    (void)state;
    ks_token tokens[70];
    char name[1001] = {0};
    memset(name, 'n', 1000);
    size_t depth = 0;
    while (depth < 70 && ks_annotate_begin(name, &tokens[depth], &err) == KS_OK) {
        depth++;
    }
    assert_int_equal(err.code, KS_ELIMIT);
    KT_HAS(err.message, "nested too deep");
    assert_int_equal(depth, 65);
    ks_error_clear(&err);
    while (depth-- > 0) {
        KT_OK(ks_annotate_end(tokens[depth], &err));
    }
    KT_OK(ks_session_end_call(&err));
}

static void a_bad_name_in_a_block_fails_the_call(void **state)
{
    (void)state;
    int entered = 0;
    KS_ANNOTATE("bad\n") {
        entered++;
    }
    assert_int_equal(entered, 1); /* the work itself is done */
    KT_FAILS(ks_session_end_call(&err), KS_EINVAL, "control character");
}

static void a_name_is_compared_by_its_text(void **state)
{
    (void)state;
    char name[8] = "one";
    for (int i = 0; i < 4; i++) {
        memcpy(name, i % 2 ? "two" : "one", 4); /* the same address each time */
        KS_ANNOTATE(name) {
        }
    }
    KT_OK(ks_session_end_call(&err));
    assert_int_equal(visits_of("one"), 2);
    assert_int_equal(visits_of("two"), 2);
}

static void work_that_failed_is_marked(void **state)
{
    (void)state;
    ks_token token = KS_TOKEN_INIT;
    KT_OK(ks_annotate_begin("a", &token, &err));
    KT_OK(ks_annotate_fail(token, "out of\nmemory", &err));
    KT_OK(ks_session_end_call(&err));
    ks_visits walk = ks_session_visits();
    ks_visit *visit = ks_next_visit(&walk);
    assert_string_equal(visit->failure, "out of memory");
    assert_int_equal(visit->slots[0], 2);
}

static void many_visits_are_all_kept(void **state)
{
    (void)state;
    enum {
        COUNT = 100000
    };
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            KS_ANNOTATE(i % 3 == 0 ? "a" : "b") {
            }
        }
        KT_OK(ks_session_end_call(&err));
        assert_int_equal(visits_of("a") + visits_of("b"), COUNT);
        assert_int_equal(visits_of("a"), COUNT / 3 + 1);
        ks_session_forget_call();
        ks_session_begin_call(&hooks);
    }
    KT_OK(ks_session_end_call(&err));
}

/* ---- threads ----------------------------------------------------------------------------------
 */

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SESSION(nested_and_repeated_annotations_have_paths_and_visits),
        IN_SESSION(a_block_ends_however_it_is_left),
        IN_SESSION(ending_what_is_not_open_is_an_error_and_harms_nobody),
        IN_SESSION(an_annotation_left_open_is_named),
        IN_SESSION(names_are_any_text_without_control_characters),
        IN_SESSION(nesting_without_end_is_refused),
        IN_SESSION(a_bad_name_in_a_block_fails_the_call),
        IN_SESSION(a_name_is_compared_by_its_text),
        IN_SESSION(work_that_failed_is_marked),
        IN_SESSION(many_visits_are_all_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
