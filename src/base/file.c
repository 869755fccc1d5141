#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "base/str.h"
#include "kernsight/table.h"

static ks_status fail_path(ks_error *err, const char *path, int number)
{
    ks_status status = number == EACCES || number == EPERM ? KS_EPERM : KS_EIO;
    return ks_fail(err, status, "file", number, "cannot write %s: %s", path, ks_errno_text(number));
}

/* Folder of a path, to be freed; "." for a bare name. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    ks_buf folder;
    ks_buf_init(&folder, strlen(path) + 2);
    ks_buf_add_bytes(&folder, slash != NULL ? path : ".",
                     slash != NULL ? (size_t)(slash - path) + 1 : 1);
    return ks_buf_take(&folder);
}

/* Where an output goes. */
typedef struct target {
    char path[PATH_MAX]; /* with links followed, whether they lead to a file or not yet */
    int descriptor;      /* /dev/stdout and the like: the open file itself; else -1 */
    bool in_place;       /* nothing that could be replaced: a descriptor, a device, a pipe */
} target;

/* Number of the descriptor that /proc/self/fd/N names, by whatever path; -1 if it is none. */
static int descriptor_of(const char *folder, const char *name)
{
    char real[PATH_MAX];
    char ours[64];
    snprintf(ours, sizeof ours, "/proc/%ld/fd", (long)getpid());
    int64_t number = -1;
    if (!ks_num_read_i64(name, strlen(name), &number) || number < 0 || number > INT_MAX ||
        realpath(folder, real) == NULL || strcmp(real, ours) != 0) {
        return -1;
    }
    return (int)number;
}

/* One step along a link: @return whether `to->path` is a link, and now what that names. */
static bool follow(target *to, const char *folder)
{
    char link[PATH_MAX];
    char next[PATH_MAX];
    ssize_t length = readlink(to->path, link, sizeof link - 1);
    if (length < 0) {
        return false;
    }
    link[length] = '\0';
    bool absolute = link[0] == '/';
    int written = snprintf(next, sizeof next, "%s%s", absolute ? "" : folder, link);
    if (written < 0 || (size_t)written >= sizeof next) {
        return false;
    }
    memcpy(to->path, next, (size_t)written + 1);
    return true;
}

static ks_status resolve(const char *path, target *out, ks_error *err)
{
    enum {
        LINKS_MAX = 40
    };
    *out = (target){.descriptor = -1};
    if (path == NULL || path[0] == '\0') {
        return ks_fail(err, KS_EINVAL, "file", 0, "cannot write a file without a name");
    }
    if (strlen(path) >= sizeof out->path) {
        return fail_path(err, path, ENAMETOOLONG);
    }
    memcpy(out->path, path, strlen(path) + 1);
    bool more = true;
    for (int links = 0; more && links < LINKS_MAX; links++) {
        char *folder = folder_of(out->path);
        if (folder == NULL) {
            return ks_enomem(err);
        }
        out->descriptor = descriptor_of(folder, ks_basename(out->path));
        more = out->descriptor < 0 && follow(out, folder);
        ks_free(folder);
    }
    if (more) {
        return fail_path(err, path, ELOOP);
    }
    struct stat st;
    out->in_place = out->descriptor >= 0 || (stat(out->path, &st) == 0 && !S_ISREG(st.st_mode));
    return KS_OK;
}

/* Whether a descriptor can be written. */
static ks_status check_descriptor(const char *path, int descriptor, ks_error *err)
{
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) {
        return fail_path(err, path, errno);
    }
    return (flags & O_ACCMODE) == O_RDONLY ? fail_path(err, path, EBADF) : KS_OK;
}

static ks_status check_folder(const char *path, const target *to, ks_error *err)
{
    struct stat st;
    char *folder = folder_of(to->path);
    if (folder == NULL) {
        return ks_enomem(err);
    }
    ks_status status = KS_OK;
    if (stat(folder, &st) != 0) {
        status = ks_fail(err, KS_EIO, "file", errno, "cannot write %s: the folder %s: %s", path,
                         folder, ks_errno_text(errno));
    } else if (access(folder, W_OK | X_OK) != 0) {
        status = ks_fail(err, errno == EROFS ? KS_EIO : KS_EPERM, "file", errno,
                         "cannot write %s: the folder %s: %s", path, folder, ks_errno_text(errno));
    }
    ks_free(folder);
    return status;
}

static ks_status check_target(const char *path, const target *to, ks_error *err)
{
    if (to->descriptor >= 0) {
        return check_descriptor(path, to->descriptor, err);
    }
    struct stat st;
    if (stat(to->path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) {
            return fail_path(err, path, EISDIR);
        }
        if (to->in_place) {
            return access(to->path, W_OK) == 0 ? KS_OK : fail_path(err, path, errno);
        }
    } else if (errno != ENOENT) {
        return fail_path(err, path, errno);
    }
    return check_folder(path, to, err);
}

ks_status ks_check_output(const char *path, ks_error *err)
{
    target to;
    KS_TRY(resolve(path, &to, err));
    /* results that are not complete will go to a longer name */
    if (!to.in_place && strlen(ks_basename(to.path)) + strlen(".partial") > NAME_MAX) {
        return fail_path(err, path, ENAMETOOLONG);
    }
    return check_target(path, &to, err);
}

ks_status ks_file_in_place(const char *path, bool *out, ks_error *err)
{
    target to;
    KS_TRY(resolve(path, &to, err));
    *out = to.in_place;
    return KS_OK;
}

/* A new file beside the target, with the mode that umask gives; mkstemp would make it private. Its
 * name is short, whatever the target's is. */
static int open_temporary(ks_file *file)
{
    int folder = (int)(ks_basename(file->path) - file->path);
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        ks_buf name;
        ks_buf_init(&name, (size_t)folder + 64);
        ks_buf_addf(&name, "%.*s.kernsight-%ld-%u.tmp", folder, file->path, (long)getpid(),
                    attempt);
        file->temporary = ks_buf_take(&name);
        if (file->temporary == NULL) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
        ks_free(file->temporary);
        file->temporary = NULL;
    }
    errno = EEXIST;
    return -1;
}

static int open_target(ks_file *file, const target *to)
{
    if (to->descriptor >= 0) {
        return fcntl(to->descriptor, F_DUPFD_CLOEXEC, 0);
    }
    if (to->in_place) {
        return open(to->path, O_WRONLY | O_CLOEXEC);
    }
    struct stat st;
    bool exists = stat(to->path, &st) == 0;
    int fd = open_temporary(file);
    if (fd >= 0 && exists) {
        (void)fchmod(fd, st.st_mode & 07777u);
    }
    return fd;
}

ks_status ks_file_open(ks_file *file, const char *path, ks_error *err)
{
    target to;
    memset(file, 0, sizeof *file);
    KS_TRY(resolve(path, &to, err));
    KS_TRY(check_target(path, &to, err));
    file->path = ks_strdup(to.path);
    if (file->path == NULL) {
        return ks_enomem(err);
    }
    int fd = open_target(file, &to);
    file->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file->stream == NULL) {
        ks_status status = errno == ENOMEM ? ks_enomem(err) : fail_path(err, path, errno);
        if (fd >= 0) {
            close(fd);
            if (file->temporary != NULL) {
                unlink(file->temporary);
            }
        }
        ks_free(file->temporary);
        ks_free(file->path);
        return status;
    }
    return KS_OK;
}

ks_status ks_file_close(ks_file *file, ks_status status, ks_error *err)
{
    bool in_place = file->temporary == NULL;
    errno = 0;
    bool bad = fflush(file->stream) != 0 || ferror(file->stream) != 0 ||
               (!in_place && status == KS_OK && fsync(fileno(file->stream)) != 0);
    int number = errno;
    if (fclose(file->stream) != 0 && !bad) {
        bad = true;
        number = errno;
    }
    if (status == KS_OK && !bad && !in_place && rename(file->temporary, file->path) != 0) {
        bad = true;
        number = errno;
    }
    if (status != KS_OK) {
        ks_error_prefix(err, "%s", file->path); /* whose writer knows only the stream */
    } else if (bad) {
        status = fail_path(err, file->path, number != 0 ? number : EIO);
    }
    if (status != KS_OK && !in_place) {
        unlink(file->temporary);
    }
    ks_free(file->temporary);
    ks_free(file->path);
    memset(file, 0, sizeof *file);
    return status;
}

ks_status ks_stream_status(FILE *stream, const char *what, ks_error *err)
{
    int number = errno;
    if (!ferror(stream)) {
        return KS_OK;
    }
    return ks_fail(err, KS_EIO, "file", number, "cannot write %s: %s", what,
                   ks_errno_text(number != 0 ? number : EIO));
}
