#include "collect/nvidia/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"

enum {
    LOOK_EVERY_MS = 25,
    PATH_BYTES = 512,
    NO_FILE = -1
};

struct ks_turn {
    char uuid[48];
    unsigned uses;
    int file; /* NO_FILE: nobody is waited for */
    int next;
    struct ks_turn *following;
};

/* The turns of the process, for forks. Not held while waiting. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ks_turn *all;

/* ---- the folder -------------------------------------------------------------------------------
 */

/* A folder that is this user's: others cannot put theirs in place of what is in it. */
static bool is_own(const char *path)
{
    struct stat s;
    return path != NULL && path[0] == '/' && stat(path, &s) == 0 && S_ISDIR(s.st_mode) &&
           s.st_uid == geteuid();
}

/* Open a folder that nobody else can look into, because who can open a file can lock it. Made if it
 * is not there. @param[out] why  if it cannot be used */
static int open_private(const char *path, const char **why)
{
    struct stat s;
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) {
        *why = ks_errno_text(errno);
        return NO_FILE;
    }
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        *why = errno == ENOTDIR || errno == ELOOP ? "it is no folder" : ks_errno_text(errno);
        return NO_FILE;
    }
    *why = fstat(folder, &s) != 0                   ? ks_errno_text(errno)
           : s.st_uid != geteuid()                  ? "it belongs to another user"
           : (s.st_mode & (S_IRWXG | S_IRWXO)) != 0 ? "others may use it (chmod 700)"
                                                    : NULL;
    if (*why != NULL) {
        close(folder);
        return NO_FILE;
    }
    return folder;
}

/* The first folder that can be used; of the last one, why not. */
static int open_folder(char *path, size_t size, const char **why)
{
    char usual[40];
    const char *told = secure_getenv("XDG_RUNTIME_DIR");
    snprintf(usual, sizeof usual, "/run/user/%lu", (unsigned long)geteuid());
    const char *parent = is_own(told) ? told : is_own(usual) ? usual : NULL;
    int folder = NO_FILE;
    if (parent != NULL && (size_t)snprintf(path, size, "%s/kernsight", parent) < size) {
        folder = open_private(path, why);
    }
    if (folder == NO_FILE) {
        snprintf(path, size, "/tmp/kernsight-%lu", (unsigned long)geteuid());
        folder = open_private(path, why);
    }
    return folder;
}

bool ks_turn_folder(char *to, size_t size)
{
    char path[PATH_BYTES];
    const char *why = NULL;
    int folder = open_folder(path, sizeof path, &why);
    if (folder == NO_FILE) {
        snprintf(to, size, "%s: %s", path, why);
        return false;
    }
    close(folder);
    snprintf(to, size, "%s", path);
    return true;
}

/* ---- the files --------------------------------------------------------------------------------
 */

static int open_file(int folder, const char *uuid, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", uuid, suffix);
    return openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

static void close_files(ks_turn *turn)
{
    if (turn->file != NO_FILE) {
        close(turn->file);
    }
    if (turn->next != NO_FILE) {
        close(turn->next);
    }
    turn->file = turn->next = NO_FILE;
}

int ks_turn_open_file(const char *uuid, const char *suffix)
{
    char path[PATH_BYTES];
    const char *why = NULL;
    int folder = strchr(uuid, '/') == NULL ? open_folder(path, sizeof path, &why) : NO_FILE;
    int file = folder != NO_FILE ? open_file(folder, uuid, suffix) : NO_FILE;
    if (folder != NO_FILE) {
        close(folder);
    }
    return file;
}

/* Both files, or none. */
static void open_files(ks_turn *turn)
{
    char path[PATH_BYTES];
    const char *why = NULL;
    int folder = strchr(turn->uuid, '/') == NULL ? open_folder(path, sizeof path, &why) : NO_FILE;
    if (folder == NO_FILE) {
        return;
    }
    turn->file = open_file(folder, turn->uuid, "");
    turn->next = open_file(folder, turn->uuid, ".next");
    close(folder);
    if (turn->file == NO_FILE || turn->next == NO_FILE) {
        close_files(turn);
    }
}

void ks_turn_sign(int file)
{
    char text[KS_TURN_HOLDER_MAX];
    int length =
        snprintf(text, sizeof text, "%ld (%.40s)", (long)getpid(), program_invocation_short_name);
    if (ftruncate(file, 0) != 0 || pwrite(file, text, (size_t)length, 0) != length) {
        return; /* who waits is told "another process" then */
    }
}

void ks_turn_read(int file, char to[KS_TURN_HOLDER_MAX])
{
    ssize_t length = pread(file, to, KS_TURN_HOLDER_MAX - 1, 0);
    to[length > 0 ? length : 0] = '\0';
    if (length <= 0) {
        snprintf(to, KS_TURN_HOLDER_MAX, "unknown");
    }
    ks_utf8_clean(to);
}

bool ks_turn_holder(const char *uuid, char to[KS_TURN_HOLDER_MAX])
{
    ks_turn turn = {.file = NO_FILE, .next = NO_FILE};
    snprintf(turn.uuid, sizeof turn.uuid, "%s", uuid);
    open_files(&turn);
    bool held =
        turn.file != NO_FILE && flock(turn.file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (held) {
        ks_turn_read(turn.file, to);
    }
    close_files(&turn);
    return held;
}

/* ---- the turns of the process -----------------------------------------------------------------
 */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

/* A lock is that of the open file, which parent and child share: it would stay with a child that
 * outlives its parent. To close it here takes nothing from the parent. */
static void after_fork_in_child(void)
{
    for (ks_turn *turn = all; turn != NULL; turn = turn->following) {
        close_files(turn);
    }
    all = NULL; /* those that it takes are its own */
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* The turn of a device that the process has, or one whose files are open and not locked. */
static ks_turn *find_or_open(const char *uuid)
{
    for (ks_turn *turn = all; turn != NULL; turn = turn->following) {
        if (strcmp(turn->uuid, uuid) == 0) {
            turn->uses++;
            return turn;
        }
    }
    ks_turn *turn = ks_calloc(1, sizeof *turn);
    if (turn != NULL) {
        turn->uses = 1;
        turn->file = turn->next = NO_FILE;
        snprintf(turn->uuid, sizeof turn->uuid, "%s", uuid);
        open_files(turn);
        turn->following = all;
        all = turn;
    }
    return turn;
}

void ks_turn_give(ks_turn *turn)
{
    if (turn == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    bool last = --turn->uses == 0;
    if (last) {
        ks_turn **at = &all;
        while (*at != NULL && *at != turn) {
            at = &(*at)->following;
        }
        if (*at != NULL) { /* it is none of the parent's */
            *at = turn->following;
        }
        close_files(turn);
    }
    pthread_mutex_unlock(&lock);
    if (last) {
        ks_free(turn);
    }
}

bool ks_turn_wanted(const ks_turn *turn)
{
    if (turn == NULL || turn->next == NO_FILE) {
        return false;
    }
    if (flock(turn->next, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK;
    }
    flock(turn->next, LOCK_UN);
    return false;
}

/* ---- waiting ----------------------------------------------------------------------------------
 */

typedef struct wait_spec {
    double limit_s;
    const atomic_bool *cancelled;
    uint64_t since_ns;
} wait_spec;

static ks_status fail_waiting(const ks_turn *turn, const wait_spec *wait, ks_error *err)
{
    char holder[KS_TURN_HOLDER_MAX];
    ks_turn_read(turn->file, holder);
    return ks_fail(err, KS_EBUSY, "nvidia", 0,
                   "cannot have the counters of %s: process %s has them, and did not give them "
                   "back in %ld s; it does so when a run of it ends, in ks_release(), and at its "
                   "end; a plan with ks_plan_hold_counters(plan, false, ...) never keeps them",
                   turn->uuid, holder, (long)wait->limit_s);
}

/* Lock a file. Asked again and again: a lock that waits can be interrupted by nothing but signals,
 * and knows no limit. */
static ks_status wait_for(const ks_turn *turn, int file, const wait_spec *wait, ks_error *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * 1000000L};
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return KS_OK; /* this file system has no locks */
        }
        if (wait->cancelled != NULL && atomic_load(wait->cancelled)) {
            return ks_fail(err, KS_ECANCELED, "nvidia", 0,
                           "cancelled while another process had the counters of %s", turn->uuid);
        }
        if ((double)(ks_now_ns() - wait->since_ns) >= wait->limit_s * 1e9) {
            return fail_waiting(turn, wait, err);
        }
        nanosleep(&pause, NULL);
    }
    return KS_OK;
}

static ks_status wait_in_line(const ks_turn *turn, const wait_spec *wait, ks_error *err)
{
    KS_TRY(wait_for(turn, turn->next, wait, err));
    KS_TRY(wait_for(turn, turn->file, wait, err));
    ks_turn_sign(turn->file);
    flock(turn->next, LOCK_UN);
    return KS_OK;
}

ks_status ks_turn_take(const char *uuid, double limit_s, const atomic_bool *cancelled,
                       ks_turn **out, ks_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const wait_spec wait = {limit_s, cancelled, ks_now_ns()};
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    ks_turn *turn = find_or_open(uuid);
    pthread_mutex_unlock(&lock);
    if (turn == NULL) {
        return ks_enomem(err);
    }
    bool waits = turn->uses == 1 && turn->file != NO_FILE;
    ks_status status = waits ? wait_in_line(turn, &wait, err) : KS_OK;
    if (status != KS_OK) {
        ks_turn_give(turn);
        return status;
    }
    *out = turn;
    return KS_OK;
}
