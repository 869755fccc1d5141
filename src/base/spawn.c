#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

extern char **environ;

/* Its streams are files in memory: nobody waits for a pipe, and no SIGPIPE can come. */
typedef struct streams {
    int in, out, err;
} streams;

static const char locale[] = "LC_ALL=C.UTF-8";

/* A file in memory, above the standard streams, so that putting it there cannot close another. */
static int memory_file(void)
{
    int fd = memfd_create("kernsight", MFD_CLOEXEC);
    if (fd >= 0 && fd <= 2) {
        int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        close(fd);
        fd = moved;
    }
    return fd;
}

static bool write_all(int to, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(to, bytes, count);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes += written > 0 ? written : 0;
        count -= written > 0 ? (size_t)written : 0;
    }
    return lseek(to, 0, SEEK_SET) == 0;
}

static void close_streams(const streams *s)
{
    const int all[] = {s->in, s->out, s->err};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i] >= 0) {
            close(all[i]);
        }
    }
}

/* Our environment with another locale; its texts stay ours. */
static char **make_environment(void)
{
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    char **copy = ks_calloc(count + 2, sizeof *copy);
    size_t kept = 0;
    for (size_t i = 0; copy != NULL && i < count; i++) {
        if (strncmp(environ[i], locale, strlen("LC_ALL=")) != 0) {
            copy[kept++] = environ[i];
        }
    }
    if (copy != NULL) {
        copy[kept] = (char *)locale;
    }
    return copy;
}

/* @return 0 or an errno value */
static int start(const char *const *argv, char *const *environment, const streams *s, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t set;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    sigaddset(&set, SIGPIPE); /* what a host ignores its children would ignore too */
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    posix_spawnattr_setsigdefault(&attributes, &set);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int number = posix_spawn_file_actions_adddup2(&actions, s->in, 0);
    if (number == 0) {
        number = posix_spawn_file_actions_adddup2(&actions, s->out, 1);
    }
    if (number == 0) {
        number = posix_spawn_file_actions_adddup2(&actions, s->err, 2);
    }
    if (number == 0) {
        number =
            posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environment);
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return number;
}

static ks_status read_all(int from, ks_buf *to, ks_error *err)
{
    char block[1 << 14];
    off_t at = 0;
    for (;;) {
        ssize_t got = pread(from, block, sizeof block, at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got == 0 ? ks_buf_status(to, err)
                            : ks_fail(err, KS_EIO, "spawn", errno, "cannot read what came: %s",
                                      ks_errno_text(errno));
        }
        ks_buf_add_bytes(to, block, (size_t)got);
        at += got;
    }
}

static ks_status fail_start(const char *name, int number, ks_error *err)
{
    return ks_fail(err, ks_errno_status(number), name, number, "cannot start %s: %s", name,
                   ks_errno_text(number));
}

/* The last line that a program wrote on stderr, without the blanks before it. */
static ks_status fail_program(const char *name, int from, int status, ks_error *err)
{
    char text[1024];
    off_t end = lseek(from, 0, SEEK_END);
    off_t first = end > (off_t)sizeof text - 1 ? end - ((off_t)sizeof text - 1) : 0;
    ssize_t got = pread(from, text, sizeof text - 1, first);
    size_t length = got > 0 ? (size_t)got : 0;
    while (length > 0 && strchr("\n\r ", text[length - 1]) != NULL) {
        length--;
    }
    text[length] = '\0';
    const char *line = strrchr(text, '\n');
    line = line != NULL ? line + 1 : text;
    line += strspn(line, " \t");
    if (WIFSIGNALED(status)) {
        return ks_fail(err, KS_EVENDOR, name, WTERMSIG(status), "%s was ended by signal %d", name,
                       WTERMSIG(status));
    }
    if (WEXITSTATUS(status) == 127 && *line == '\0') {
        return fail_start(name, ENOENT, err); /* emulators tell it in this way */
    }
    return ks_fail(err, KS_EVENDOR, name, WEXITSTATUS(status), "%s failed (status %d)%s%s", name,
                   WEXITSTATUS(status), *line != '\0' ? ": " : "", line);
}

static ks_status wait_for(const char *name, pid_t pid, int *status, ks_error *err)
{
    pid_t ended = 0;
    do {
        ended = waitpid(pid, status, 0);
    } while (ended < 0 && errno == EINTR);
    return ended == pid ? KS_OK
                        : ks_fail(err, KS_ESTATE, name, errno,
                                  "what became of %s is lost: this process ignores SIGCHLD, or "
                                  "another part of it waits for all children",
                                  name);
}

static ks_status run(const char *const *argv, const streams *s, ks_buf *output, ks_error *err)
{
    char **environment = make_environment();
    if (environment == NULL) {
        return ks_enomem(err);
    }
    pid_t pid = -1;
    int status = 0;
    int number = start(argv, environment, s, &pid);
    ks_free(environment);
    if (number != 0) {
        return fail_start(argv[0], number, err);
    }
    KS_TRY(wait_for(argv[0], pid, &status, err));
    if (status != 0) {
        return fail_program(argv[0], s->err, status, err);
    }
    return read_all(s->out, output, err);
}

ks_status ks_spawn_filter(const char *const *argv, const char *input, size_t length, ks_buf *output,
                          ks_error *err)
{
    const streams s = {memory_file(), memory_file(), memory_file()};
    ks_status status = KS_OK;
    if (s.in < 0 || s.out < 0 || s.err < 0 || !write_all(s.in, input, length)) {
        status = ks_fail(err, KS_EIO, argv[0], errno, "cannot start %s: no file in memory: %s",
                         argv[0], ks_errno_text(errno));
    } else {
        status = run(argv, &s, output, err);
    }
    close_streams(&s);
    return status;
}
