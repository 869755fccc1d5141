/* Files that are whole or not there: case C29 in kind. */
#include "harness.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

static ks_error err;

static ks_status write_text(const char *path, const char *text, ks_status verdict)
{
    ks_file file;
    ks_status status = ks_file_open(&file, path, &err);
    if (status != KS_OK) {
        return status;
    }
    fputs(text, file.stream);
    return ks_file_close(&file, verdict, &err);
}

static size_t entries(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

static char path[512];

static int start(void **state)
{
    (void)state;
    ks_error_clear(&err);
    snprintf(path, sizeof path, "%s", kt_path("file"));
    unlink(path);
    return 0;
}

static void a_file_appears_whole(void **state)
{
    (void)state;
    KT_OK(write_text(path, "one", KS_OK));
    char *text = kt_read(path);
    assert_string_equal(text, "one");
    free(text);
}

static void a_failure_leaves_the_old_file_and_nothing_else(void **state)
{
    (void)state;
    char folder[512];
    snprintf(folder, sizeof folder, "%s", kt_path(""));
    KT_OK(write_text(path, "good", KS_OK));
    size_t before = entries(folder);
    assert_int_equal(write_text(path, "cut in the mid", KS_EINVAL), KS_EINVAL);
    char *text = kt_read(path);
    assert_string_equal(text, "good");
    free(text);
    assert_int_equal(entries(folder), before);
}

static void a_replaced_file_keeps_its_mode_and_a_link_its_target(void **state)
{
    (void)state;
    char link[520];
    struct stat st;
    snprintf(link, sizeof link, "%s.link", path);
    unlink(link);
    KT_OK(write_text(path, "one", KS_OK));
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink(path, link), 0);
    KT_OK(write_text(link, "two", KS_OK));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    char *text = kt_read(path);
    assert_string_equal(text, "two");
    free(text);
}

static void a_full_device_is_told(void **state)
{
    (void)state;
    KT_FAILS(write_text("/dev/full", "text", KS_OK), KS_EIO,
             "cannot write /dev/full: No space left on device");
    KT_OK(write_text("/dev/null", "text", KS_OK));
}

static void what_cannot_be_written_is_told_beforehand(void **state)
{
    (void)state;
    KT_FAILS(ks_check_output("/nonexistent/x.csv", &err), KS_EIO,
             "cannot write /nonexistent/x.csv: the folder /nonexistent/: No such file");
    KT_FAILS(ks_check_output("/tmp", &err), KS_EIO, "Is a directory");
    KT_FAILS(ks_check_output("", &err), KS_EINVAL, "without a name");
    KT_FAILS(ks_check_output(NULL, &err), KS_EINVAL, "without a name");
    KT_FAILS(ks_check_output("/etc/hostname/x", &err), KS_EIO, "Not a directory");
    KT_OK(ks_check_output(path, &err));
    KT_OK(ks_check_output("relative-name", &err));
    KT_OK(ks_check_output("/dev/null", &err));
    if (geteuid() != 0) { /* root may write everywhere; tests/cli tries it as nobody */
        KT_FAILS(ks_check_output("/usr/x.csv", &err), KS_EPERM, "Permission denied");
    }
}

/* stdout as a file that has something in it already, and goes on after us. */
static void an_open_descriptor_is_written_where_it_stands(void **state)
{
    (void)state;
    static const char *const names[] = {"/dev/fd/%d", "/proc/self/fd/%d"};
    for (size_t i = 0; i < 2; i++) {
        char name[64];
        FILE *open_file = fopen(path, "w");
        assert_non_null(open_file);
        fputs("before ", open_file);
        fflush(open_file);
        snprintf(name, sizeof name, names[i], fileno(open_file));
        bool in_place = false;
        KT_OK(ks_file_in_place(name, &in_place, &err));
        assert_true(in_place);
        KT_OK(write_text(name, "written", KS_OK));
        fputs(" after", open_file);
        fclose(open_file);
        char *text = kt_read(path);
        assert_string_equal(text, "before written after");
        free(text);
    }
    bool in_place = true;
    KT_OK(ks_file_in_place(path, &in_place, &err));
    assert_false(in_place);
    KT_FAILS(ks_check_output("/dev/fd/987", &err), KS_EIO, "Bad file descriptor");
}

static void a_link_to_nothing_is_followed(void **state)
{
    (void)state;
    char link[600];
    snprintf(link, sizeof link, "%s-link", path);
    unlink(link);
    assert_int_equal(symlink("file", link), 0); /* relative: beside the link */
    KT_OK(write_text(link, "through", KS_OK));
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    char *text = kt_read(path);
    assert_string_equal(text, "through");
    free(text);
    unlink(link);
    assert_int_equal(symlink(link, link), 0);
    assert_int_equal(write_text(link, "never", KS_OK), KS_EIO);
    ks_error_clear(&err);
    unlink(link);
}

static void a_name_may_be_as_long_as_its_folder_allows(void **state)
{
    (void)state;
    char name[NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    name[NAME_MAX] = '\0';
    snprintf(path, sizeof path, "%s", kt_path(name));
    KT_OK(write_text(path, "long", KS_OK));
    unlink(path);
    /* but unfinished results need a longer one */
    KT_FAILS(ks_check_output(path, &err), KS_EIO, "File name too long");
    path[strlen(path) - strlen(".partial")] = '\0';
    KT_OK(ks_check_output(path, &err));
    name[NAME_MAX] = 'n';
    name[NAME_MAX + 1] = '\0';
    KT_FAILS(write_text(kt_path(name), "never", KS_OK), KS_EIO, "File name too long");
}

static void files_that_an_ended_process_left_are_not_touched(void **state)
{
    (void)state;
    char left[512];
    char name[64];
    snprintf(name, sizeof name, ".kernsight-%ld-0.tmp", (long)getpid());
    snprintf(left, sizeof left, "%s", kt_path(name));
    kt_write(left, "of another");
    KT_OK(write_text(path, "new", KS_OK));
    char *text = kt_read(left);
    assert_string_equal(text, "of another");
    free(text);
    unlink(left);
    text = kt_read(path);
    assert_string_equal(text, "new");
    free(text);
}

static void a_process_killed_while_writing_leaves_the_old_file(void **state) /* C28 */
{
    (void)state;
    KT_OK(write_text(path, "old", KS_OK));
    pid_t pid = fork();
    if (pid == 0) {
        ks_file file;
        if (ks_file_open(&file, path, &err) == KS_OK) {
            fputs("half of what was to be wr", file.stream);
            fflush(file.stream);
            raise(SIGKILL);
        }
        _exit(1);
    }
    int how = 0;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFSIGNALED(how));
    char *text = kt_read(path);
    assert_string_equal(text, "old");
    free(text);
    char name[64];
    snprintf(name, sizeof name, ".kernsight-%ld-0.tmp", (long)pid);
    assert_int_equal(unlink(kt_path(name)), 0); /* which is what may stay behind */
}

static void a_target_that_became_a_folder_meanwhile_is_told(void **state)
{
    (void)state;
    char folder[512];
    ks_file file;
    snprintf(folder, sizeof folder, "%s", kt_path(""));
    size_t before = entries(folder);
    KT_OK(ks_file_open(&file, path, &err));
    fputs("text", file.stream);
    assert_int_equal(mkdir(path, 0700), 0);
    KT_FAILS(ks_file_close(&file, KS_OK, &err), KS_EIO, "Is a directory");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(entries(folder), before);
}

static ks_status write_once(void *arg, ks_error *e)
{
    ks_file file;
    (void)arg;
    KS_TRY(ks_check_output(path, e));
    KS_TRY(ks_file_open(&file, path, e));
    fputs("text", file.stream);
    return ks_file_close(&file, KS_OK, e);
}

static void every_failed_allocation_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    char folder[512];
    snprintf(folder, sizeof folder, "%s", kt_path(""));
    size_t before = entries(folder);
    assert_true(kt_oom_sweep(write_once, NULL) >= 4);
    assert_int_equal(entries(folder), before + 1);
    char *text = kt_read(path);
    assert_string_equal(text, "text");
    free(text);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup(test, start)
    const struct CMUnitTest tests[] = {
        T(a_file_appears_whole),
        T(a_failure_leaves_the_old_file_and_nothing_else),
        T(a_replaced_file_keeps_its_mode_and_a_link_its_target),
        T(an_open_descriptor_is_written_where_it_stands),
        T(a_link_to_nothing_is_followed),
        T(a_full_device_is_told),
        T(what_cannot_be_written_is_told_beforehand),
        T(every_failed_allocation_is_told_and_leaves_nothing),
        T(a_name_may_be_as_long_as_its_folder_allows),
        T(files_that_an_ended_process_left_are_not_touched),
        T(a_process_killed_while_writing_leaves_the_old_file),
        T(a_target_that_became_a_folder_meanwhile_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
