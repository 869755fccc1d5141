/* A program as a child process: started, fed nothing, listened to, timed, waited for. */
#ifndef KS_RUN_CHILD_H
#define KS_RUN_CHILD_H

#include "annotate/session.h"
#include "kernsight/plan.h"

/** Bytes of the end of a program's stderr that are kept. */
#define KS_STDERR_TAIL 4096

typedef struct ks_child_spec {
    const char *path;      /**< of the executable */
    char *const *argv;     /**< NULL at the end */
    char *const *envp;     /**< likewise */
    const char *cwd;       /**< NULL: stay */
    double timeout_s;      /**< 0: none */
    int stdout_fd;         /**< where its stdout is passed on to; -1: nowhere */
    const ks_call *call;   /**< to hear of a cancellation */
    const ks_token *token; /**< the annotation whose collectors are told; NULL: nobody is */
} ks_child_spec;

typedef struct ks_child_end {
    ks_child usage;
    int status; /**< as of waitpid() */
    bool timed_out;
    bool cancelled;
    int output_failed;             /**< errno of passing its stdout on; 0: it went well */
    char tail[KS_STDERR_TAIL + 1]; /**< the end of its stderr */
} ks_child_end;

/**
 * Run a program to its end.
 *
 * It gets a process group of its own, stdin from /dev/null, no blocked signals, SIGPIPE as it is by
 * default. Its stderr is passed on to this process's. It is spawned, and timed from there; where a
 * collector wants to see it first, it is forked, held, and timed from exec.
 *
 * @return KS_OK once it ran, however it ended; KS_ENOTFOUND, KS_EPERM, KS_EIO if it could not be
 *         started; KS_UNAVAILABLE on a kernel without pidfd_open (before Linux 5.3)
 */
ks_status ks_child_run(const ks_child_spec *spec, ks_child_end *out, ks_error *err);

#endif
