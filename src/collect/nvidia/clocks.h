/*
 * GPUs' clocks, locked to the base clock for a run and given back after it.
 *
 * The driver keeps a lock until somebody undoes it, whatever becomes of who set it, and does not
 * tell that there is one. So each is written down, in a file beside those of turn.h: UUID.clock,
 * which names who locked, and which whoever needs the lock holds by a shared flock(2). The last one
 * to go undoes it and empties the file; one that is named there and held by nobody was left.
 */
#ifndef KS_COLLECT_NVIDIA_CLOCKS_H
#define KS_COLLECT_NVIDIA_CLOCKS_H

#include "collect/nvidia/nvml.h"
#include "collect/nvidia/turn.h"

/**
 * Lock the clocks of a GPU to its base clock until ks_clocks_restore(), at the latest until the
 * process ends by exit(). Once more: nothing happens.
 *
 * @return KS_EPERM: only administrators may; KS_UNAVAILABLE: the device cannot, or is a part of
 *         one, whose clocks are others' too; KS_ELIMIT: too many at once
 *
 * Threads: any.
 */
ks_status ks_clocks_lock(const ks_board *board, ks_error *err);

/** Whether this process has locked them. */
bool ks_clocks_are_locked(const char *uuid);

/** Give all back that this process has locked. @return the first failure; the others are tried */
ks_status ks_clocks_restore(ks_error *err);

/** ... and those that a process of this user left locked when it was killed. */
ks_status ks_clocks_restore_left(ks_error *err);

/**
 * Who has locked the clocks of a device, such as "4711 (python3)".
 *
 * @param[out] left  nobody needs the lock any more
 * @return false: nobody, as far as can be told
 */
bool ks_clocks_holder(const char *uuid, char to[KS_TURN_HOLDER_MAX], bool *left);

#endif
