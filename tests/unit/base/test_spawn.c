/* Helper programs: what goes in, what comes out, what is said when it fails. */
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/spawn.h"

static ks_error err;

static ks_status filter(const char *const *argv, const char *input, ks_buf *out)
{
    ks_buf_init(out, 1u << 22);
    return ks_spawn_filter(argv, input, strlen(input), out, &err);
}

static void output_is_what_the_program_made_of_its_input(void **state)
{
    (void)state;
    const char *const argv[] = {"tr", "a-z", "A-Z", NULL};
    ks_buf out;
    KT_OK(filter(argv, "some text\n", &out));
    assert_string_equal(ks_buf_text(&out), "SOME TEXT\n");
    ks_buf_fini(&out);
}

static void a_megabyte_passes_and_one_that_nobody_reads_is_no_failure(void **state)
{
    (void)state;
    const char *const cat[] = {"cat", NULL};
    const char *const reads_nothing[] = {"true", NULL};
    enum {
        SIZE = 1 << 20
    };
    char *input = malloc(SIZE + 1);
    assert_non_null(input);
    memset(input, 'x', SIZE);
    input[SIZE] = '\0';
    ks_buf out;
    KT_OK(filter(cat, input, &out));
    assert_int_equal(out.length, SIZE);
    assert_memory_equal(ks_buf_text(&out), input, SIZE);
    ks_buf_fini(&out);
    KT_OK(filter(reads_nothing, input, &out)); /* and no SIGPIPE */
    assert_int_equal(out.length, 0);
    ks_buf_fini(&out);
    free(input);
}

static void there_is_no_shell_and_the_locale_is_known(void **state)
{
    (void)state;
    const char *const echo[] = {"printf", "%s", "`id` $(id) $HOME; id", NULL};
    const char *const environment[] = {"env", NULL};
    ks_buf out;
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    setenv("KS_TEST_KEPT", "kept", 1);
    KT_OK(filter(echo, "", &out));
    assert_string_equal(ks_buf_text(&out), "`id` $(id) $HOME; id");
    ks_buf_fini(&out);
    KT_OK(filter(environment, "", &out));
    KT_HAS(ks_buf_text(&out), "LC_ALL=C.UTF-8\n");
    KT_HAS(ks_buf_text(&out), "KS_TEST_KEPT=kept\n");
    assert_null(strstr(ks_buf_text(&out), "de_DE"));
    assert_string_equal(getenv("LC_ALL"), "de_DE.UTF-8");
    ks_buf_fini(&out);
    unsetenv("LC_ALL");
}

static void a_failure_is_told_by_the_last_line_of_stderr(void **state)
{
    (void)state;
    const char *const fails[] = {"sh", "-c", "echo out; echo first >&2; echo '  why ' >&2; exit 3",
                                 NULL};
    const char *const silent[] = {"false", NULL};
    const char *const killed[] = {"sh", "-c", "kill -KILL $$", NULL};
    const char *const missing[] = {"no-such-program-here", NULL};
    ks_buf out;
    KT_FAILS(filter(fails, "", &out), KS_EVENDOR, "sh failed (status 3): why");
    ks_buf_fini(&out);
    KT_FAILS(filter(silent, "", &out), KS_EVENDOR, "false failed (status 1)");
    ks_buf_fini(&out);
    KT_FAILS(filter(killed, "", &out), KS_EVENDOR, "sh was ended by signal 9");
    ks_buf_fini(&out);
    KT_FAILS(filter(missing, "", &out), KS_ENOTFOUND,
             "cannot start no-such-program-here: No such file or directory");
    ks_buf_fini(&out);
}

static void signals_that_the_host_ignores_end_it_all_the_same(void **state)
{
    (void)state;
    static const struct {
        int number;
        const char *name;
    } signals[] = {{SIGINT, "INT"}, {SIGTERM, "TERM"}, {SIGPIPE, "PIPE"}};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        char script[64];
        char message[64];
        const char *const argv[] = {"sh", "-c", script, NULL};
        ks_buf out;
        snprintf(script, sizeof script, "kill -%s $$; echo survived", signals[i].name);
        snprintf(message, sizeof message, "sh was ended by signal %d", signals[i].number);
        signal(signals[i].number, SIG_IGN);
        KT_FAILS(filter(argv, "", &out), KS_EVENDOR, message);
        signal(signals[i].number, SIG_DFL);
        ks_buf_fini(&out);
    }
}

static void more_output_than_asked_for_is_refused(void **state)
{
    (void)state;
    const char *const argv[] = {"cat", NULL};
    ks_buf out;
    ks_buf_init(&out, 4);
    KT_FAILS(ks_spawn_filter(argv, "12345", 5, &out, &err), KS_ELIMIT, "");
    ks_buf_fini(&out);
}

static void it_works_where_the_standard_streams_are_closed(void **state)
{
    (void)state;
    const char *const argv[] = {"cat", NULL};
    int kept = fcntl(0, F_DUPFD_CLOEXEC, 10);
    close(0);
    ks_buf out;
    ks_status status = filter(argv, "text", &out);
    dup2(kept, 0);
    close(kept);
    KT_OK(status);
    assert_string_equal(ks_buf_text(&out), "text");
    ks_buf_fini(&out);
}

static void a_host_that_collects_all_children_is_told(void **state)
{
    (void)state;
    const char *const argv[] = {"true", NULL};
    ks_buf out;
    signal(SIGCHLD, SIG_IGN);
    KT_FAILS(filter(argv, "", &out), KS_ESTATE, "ignores SIGCHLD");
    signal(SIGCHLD, SIG_DFL);
    ks_buf_fini(&out);
}

static ks_status scene(void *arg, ks_error *e)
{
    (void)arg;
    const char *const argv[] = {"cat", NULL};
    ks_buf out;
    ks_buf_init(&out, 100);
    ks_status status = ks_spawn_filter(argv, "text", 4, &out, e);
    ks_buf_fini(&out);
    return status;
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    assert_true(kt_oom_sweep(scene, NULL) >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_is_what_the_program_made_of_its_input),
        cmocka_unit_test(a_megabyte_passes_and_one_that_nobody_reads_is_no_failure),
        cmocka_unit_test(there_is_no_shell_and_the_locale_is_known),
        cmocka_unit_test(a_failure_is_told_by_the_last_line_of_stderr),
        cmocka_unit_test(signals_that_the_host_ignores_end_it_all_the_same),
        cmocka_unit_test(more_output_than_asked_for_is_refused),
        cmocka_unit_test(it_works_where_the_standard_streams_are_closed),
        cmocka_unit_test(a_host_that_collects_all_children_is_told),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
