/* Starting a program: its pipes, its process group, and when it began. */
#ifndef KS_RUN_START_H
#define KS_RUN_START_H

#include <sys/resource.h>
#include <sys/types.h>

#include "run/child.h"

/** A program that was started. Descriptors are -1 once they are closed. */
typedef struct ks_started {
    pid_t pid; /**< -1: it was not */
    int pidfd;
    int out;           /**< its stdout; non-blocking, as all that follow */
    int err;           /**< its stderr */
    int go;            /**< held: a byte here lets it go on to exec */
    int reports;       /**< held: what it says until exec closes this */
    uint64_t stamp_ns; /**< when it began */
    struct rusage had; /**< what its process had used before that */
} ks_started;

/**
 * Spawn a program: it began just before, and starts with the peak memory of this process.
 *
 * @return as ks_child_run()
 */
ks_status ks_start_spawned(const ks_child_spec *spec, ks_started *out, ks_error *err);

/** Fork a process that will become the program when ks_start_let_go() says so. */
ks_status ks_start_held(const ks_child_spec *spec, ks_started *out, ks_error *err);

/** Let a held process become the program: it begins with exec, and with little memory. */
ks_status ks_start_let_go(const ks_child_spec *spec, ks_started *started, ks_error *err);

/** The process was collected by somebody else. */
ks_status ks_fail_lost(const ks_child_spec *spec, int number, ks_error *err);

/** Close what is still open. The process is not waited for. */
void ks_started_close(ks_started *started);

#endif
