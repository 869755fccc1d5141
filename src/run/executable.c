/* Where a program is, as execvp and a shell find it. */
#include "run/executable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* 0 if a file is there that can be run; ENOEXEC if it is there, but cannot be; else errno. */
static int check_executable(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return errno;
    }
    if (!S_ISREG(st.st_mode)) {
        return ENOEXEC;
    }
    return access(path, X_OK) == 0 ? 0 : errno == EACCES ? ENOEXEC : errno;
}

/* Whether `path` could be run: what is not absolute starts at `cwd`. @param[out] number  0, or why
 * it cannot be */
static ks_status try_path(const char *path, const char *cwd, int *number, ks_error *err)
{
    ks_buf from;
    ks_buf_init(&from, KS_PATH_LENGTH_MAX);
    if (path[0] != '/' && cwd != NULL) {
        ks_buf_addf(&from, "%s/", cwd);
    }
    ks_buf_add(&from, path);
    *number = check_executable(ks_buf_text(&from));
    ks_status status = ks_buf_status(&from, err);
    ks_buf_fini(&from);
    return status;
}

/* A name without a slash is looked for along PATH, as a shell in `cwd` does: folders that may not
 * be searched are passed over. */
static ks_status find_on_path(const char *name, const char *cwd, ks_buf *out, int *number,
                              ks_error *err)
{
    const char *at = getenv("PATH");
    at = at != NULL ? at : "/usr/local/bin:/usr/bin:/bin";
    *number = ENOENT;
    for (bool more = name[0] != '\0'; more && *number != 0; at++) {
        size_t length = strcspn(at, ":");
        more = at[length] == ':';
        ks_buf_clear(out);
        ks_buf_addf(out, "%.*s/%s", (int)length, length > 0 ? at : ".", name);
        KS_TRY(ks_buf_status(out, err));
        int now = 0;
        KS_TRY(try_path(ks_buf_text(out), cwd, &now, err));
        *number = now == 0 || now == ENOEXEC ? now : *number;
        at += length;
    }
    return KS_OK;
}

ks_status ks_find_executable(const char *name, const char *cwd, ks_buf *out, ks_error *err)
{
    int number = 0;
    ks_buf_clear(out);
    if (strchr(name, '/') != NULL) {
        ks_buf_add(out, name);
        KS_TRY(try_path(name, cwd, &number, err));
    } else {
        KS_TRY(find_on_path(name, cwd, out, &number, err));
    }
    if (number != 0) {
        return ks_fail(err, number == ENOEXEC ? KS_EPERM : ks_errno_status(number), "program",
                       number, "cannot run '%s'%s%s%s: %s", name, cwd != NULL ? " in '" : "",
                       cwd != NULL ? cwd : "", cwd != NULL ? "'" : "",
                       number == ENOENT    ? "there is no such program"
                       : number == ENOEXEC ? "it is not an executable file"
                                           : ks_errno_text(number));
    }
    return ks_buf_status(out, err);
}
