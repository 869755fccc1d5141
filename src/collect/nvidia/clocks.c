#include "collect/nvidia/clocks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"

enum {
    LOCKS_MAX = 64,
    NO_FILE = -1
};

static const char suffix[] = ".clock";

typedef struct clock_lock {
    ks_board board;
    int file; /* NO_FILE: it is written down nowhere */
} clock_lock;

/* Those of this process. */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static clock_lock locks[LOCKS_MAX];
static size_t lock_count;

static bool is_empty(int file)
{
    return lseek(file, 0, SEEK_END) == 0;
}

/* Nobody else needs the lock on these clocks. What is held shared is held alone then, or lost. */
static bool is_last(int file)
{
    return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static ks_status unlock_clocks(const ks_board *board, ks_error *err)
{
    ks_nvml_result result = board->nvml->unlock_clocks != NULL
                                ? board->nvml->unlock_clocks(board->device)
                                : KS_NVML_NO_FUNCTION;
    if (result == 0) {
        return KS_OK;
    }
    char what[120];
    snprintf(what, sizeof what, "give back the clocks of %s", board->uuid);
    return ks_board_fail(board, result, what, err);
}

/* Undo a lock that the record in `file` is of, unless others need it, and close that. */
static ks_status give_back(const ks_board *board, int file, ks_error *err)
{
    if (file == NO_FILE) {
        return unlock_clocks(board, err);
    }
    ks_status status = KS_OK;
    if (is_last(file)) {
        status = unlock_clocks(board, err);
        if (status == KS_OK && ftruncate(file, 0) != 0) {
            status = KS_OK; /* doctor is mistaken then, which harms nobody */
        }
    }
    close(file);
    return status;
}

static ks_status restore_locked(ks_error *err)
{
    ks_status status = KS_OK;
    while (lock_count > 0) {
        const clock_lock *lock = &locks[--lock_count];
        ks_status given = give_back(&lock->board, lock->file, status == KS_OK ? err : NULL);
        status = status != KS_OK ? status : given;
    }
    return status;
}

/* ---- the process ------------------------------------------------------------------------------
 */

static void restore_at_exit(void)
{
    ks_clocks_restore(NULL);
}

static void before_fork(void)
{
    pthread_mutex_lock(&guard);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&guard);
}

/* The locks are the parent's: a child that ends gives none back, and one that stays keeps none. */
static void after_fork_in_child(void)
{
    for (size_t i = 0; i < lock_count; i++) {
        if (locks[i].file != NO_FILE) {
            close(locks[i].file);
        }
    }
    lock_count = 0;
    pthread_mutex_unlock(&guard);
}

static void watch_process(void)
{
    atexit(restore_at_exit);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* ---- locking ----------------------------------------------------------------------------------
 */

static ks_status fail_lock(const ks_board *board, ks_nvml_result result, ks_error *err)
{
    char what[120];
    snprintf(what, sizeof what, "lock the clocks of %s", board->uuid);
    ks_error why = KS_ERROR_INIT;
    ks_status status = ks_board_fail(board, result, what, &why);
    return ks_fail(err, status, why.origin, why.native, "%s%s", why.message,
                   status == KS_EPERM ? "; administrators alone may: run as root, or leave the "
                                        "clocks alone (clock control none)"
                                      : "; leave the clocks alone (clock control none)");
}

/* The record comes first: a process that is killed between the two has locked nothing. */
static ks_status lock_new(const ks_board *board, ks_error *err)
{
    clock_lock *lock = &locks[lock_count];
    *lock = (clock_lock){.board = *board, .file = ks_turn_open_file(board->uuid, suffix)};
    bool first = true;
    if (lock->file != NO_FILE) {
        flock(lock->file, LOCK_SH);
        first = is_empty(lock->file);
        ks_turn_sign(lock->file);
    }
    ks_nvml_result result =
        KS_BOARD_ASK(board, lock_clocks, KS_NVML_CLOCK_BASE, KS_NVML_CLOCK_BASE);
    if (result == 0) {
        lock_count++;
        return KS_OK;
    }
    if (lock->file != NO_FILE) {
        bool forget = first && is_last(lock->file) && ftruncate(lock->file, 0) == 0;
        close(lock->file);
        (void)forget;
    }
    return fail_lock(board, result, err);
}

static bool is_known(const char *uuid)
{
    bool known = false;
    for (size_t i = 0; i < lock_count; i++) {
        known = known || strcmp(locks[i].board.uuid, uuid) == 0;
    }
    return known;
}

ks_status ks_clocks_lock(const ks_board *board, ks_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (board->part) {
        return ks_fail(err, KS_UNAVAILABLE, "nvml", 0,
                       "cannot lock the clocks of %s: it is a part of a GPU (MIG), and its clocks "
                       "are those of the other parts too; leave them alone (clock control none)",
                       board->uuid);
    }
    pthread_once(&once, watch_process);
    pthread_mutex_lock(&guard);
    ks_status status = KS_OK;
    if (!is_known(board->uuid)) {
        status = lock_count < LOCKS_MAX
                     ? lock_new(board, err)
                     : ks_fail(err, KS_ELIMIT, "nvml", 0,
                               "the clocks of over %d GPUs are to be locked", LOCKS_MAX);
    }
    pthread_mutex_unlock(&guard);
    return status;
}

bool ks_clocks_are_locked(const char *uuid)
{
    pthread_mutex_lock(&guard);
    bool known = is_known(uuid);
    pthread_mutex_unlock(&guard);
    return known;
}

ks_status ks_clocks_restore(ks_error *err)
{
    pthread_mutex_lock(&guard);
    ks_status status = restore_locked(err);
    pthread_mutex_unlock(&guard);
    return status;
}

/* ---- locks that were left ---------------------------------------------------------------------
 */

bool ks_clocks_holder(const char *uuid, char to[KS_TURN_HOLDER_MAX], bool *left)
{
    int file = ks_turn_open_file(uuid, suffix);
    bool named = file != NO_FILE && !is_empty(file);
    if (named) {
        ks_turn_read(file, to);
        *left = is_last(file);
    }
    if (file != NO_FILE) {
        close(file);
    }
    return named;
}

static ks_status restore_left(const char *uuid, ks_error *err)
{
    int file = ks_turn_open_file(uuid, suffix);
    ks_board board;
    if (file == NO_FILE || is_empty(file) || !is_last(file)) {
        if (file != NO_FILE) {
            close(file);
        }
        return KS_OK;
    }
    ks_status status = ks_board_open(uuid, &board, err);
    if (status != KS_OK) {
        close(file);
        return status;
    }
    return give_back(&board, file, err);
}

ks_status ks_clocks_restore_left(ks_error *err)
{
    char path[512];
    DIR *folder = ks_turn_folder(path, sizeof path) ? opendir(path) : NULL;
    ks_status status = KS_OK;
    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        char uuid[KS_BOARD_UUID_MAX];
        const char *end = strstr(e->d_name, suffix);
        if (end != NULL && strcmp(end, suffix) == 0 && (size_t)(end - e->d_name) < sizeof uuid) {
            snprintf(uuid, sizeof uuid, "%.*s", (int)(end - e->d_name), e->d_name);
            ks_status restored = restore_left(uuid, status == KS_OK ? err : NULL);
            status = status != KS_OK ? status : restored;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return status;
}
