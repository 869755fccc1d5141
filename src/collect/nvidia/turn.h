/*
 * Whose turn it is to have the counters of a GPU, which one process at a time can have: processes
 * of a user wait for each other here, where CUPTI would refuse the second one.
 *
 * A courtesy, not a guard: other users, and programs that use no kernsight, are not seen, and where
 * no folder can be trusted nobody waits. CUPTI has the last word (docs/gpu.md).
 *
 * Two files per device, named by its UUID and locked by flock(2), so that a process that dies gives
 * its turn back. Who has UUID has the turn. Who wants it takes UUID.next first, keeps that until it
 * has the turn, and so is next: the holder sees that somebody waits, and when it gives its turn
 * back and wants it again it cannot get ahead. The files stay: a name that is removed could be
 * locked twice.
 *
 * Turns are taken and given by the thread that runs the plan. A child that is forked has none of
 * its parent's, for as long as it may live.
 */
#ifndef KS_COLLECT_NVIDIA_TURN_H
#define KS_COLLECT_NVIDIA_TURN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernsight/status.h"

typedef struct ks_turn ks_turn;

/**
 * Have the turn of a device, after those who had it before. A process that has it already has it
 * once more, at once.
 *
 * @param[in]  uuid       "GPU-...", as nvidia-smi writes it
 * @param[in]  limit_s    how long to wait at most
 * @param[in]  cancelled  stop waiting when it becomes true; NULL: never
 * @param[out] out        for ks_turn_give(); untouched on failure
 * @return KS_EBUSY (waited in vain: the message says for whom), KS_ECANCELED, KS_ENOMEM
 */
ks_status ks_turn_take(const char *uuid, double limit_s, const atomic_bool *cancelled,
                       ks_turn **out, ks_error *err);

/** Whether another process waits for it. NULL: no. */
bool ks_turn_wanted(const ks_turn *turn);

/** Give it back, when it was given as often as it was taken. Accepts NULL. */
void ks_turn_give(ks_turn *turn);

/** Room for who has a turn, terminator included. */
#define KS_TURN_HOLDER_MAX 64

/** Who has the turn of a device, such as "4711 (python3)". @return false: nobody */
bool ks_turn_holder(const char *uuid, char to[KS_TURN_HOLDER_MAX]);

/**
 * The folder with the files, made if need be: "kernsight" in $XDG_RUNTIME_DIR, which is
 * /run/user/UID where nothing is said, else /tmp/kernsight-UID. The first one that belongs to this
 * user alone.
 *
 * @return false: there is none, and `to` says why
 */
bool ks_turn_folder(char *to, size_t size);

/** Another file of a device in that folder, made if need be. @return below 0: there is none */
int ks_turn_open_file(const char *uuid, const char *suffix);

/** Name this process in a file that it has locked. */
void ks_turn_sign(int file);

/** Who is named there. */
void ks_turn_read(int file, char to[KS_TURN_HOLDER_MAX]);

#endif
