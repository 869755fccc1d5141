#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
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

ks_status ks_check_output(const char *path, ks_error *err)
{
    if (path == NULL || path[0] == '\0') {
        return ks_fail(err, KS_EINVAL, "file", 0, "cannot write a file without a name");
    }
    struct stat st;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) {
            return fail_path(err, path, EISDIR);
        }
        if (!S_ISREG(st.st_mode)) {
            return access(path, W_OK) == 0 ? KS_OK : fail_path(err, path, errno);
        }
    } else if (errno != ENOENT) {
        return fail_path(err, path, errno);
    }
    char *folder = folder_of(path);
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

/* Follow a link, so that the file that it names is replaced and not the link itself. */
static char *resolve(const char *path)
{
    char real[PATH_MAX];
    return ks_strdup(realpath(path, real) != NULL ? real : path);
}

/* A new file beside the target, with the mode that umask gives; mkstemp would make it private. */
static int open_temporary(ks_file *file)
{
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        ks_buf name;
        ks_buf_init(&name, strlen(file->path) + 64);
        ks_buf_addf(&name, "%s.%ld-%u.tmp", file->path, (long)getpid(), attempt);
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

ks_status ks_file_open(ks_file *file, const char *path, ks_error *err)
{
    memset(file, 0, sizeof *file);
    KS_TRY(ks_check_output(path, err));
    file->path = resolve(path);
    if (file->path == NULL) {
        return ks_enomem(err);
    }
    struct stat st;
    bool exists = stat(file->path, &st) == 0;
    int fd = -1;
    if (exists && !S_ISREG(st.st_mode)) {
        fd = open(file->path, O_WRONLY | O_CLOEXEC);
    } else {
        fd = open_temporary(file);
        if (fd >= 0 && exists) {
            (void)fchmod(fd, st.st_mode & 07777u);
        }
    }
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
    if (status == KS_OK && bad) {
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
