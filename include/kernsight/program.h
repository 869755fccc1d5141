/**
 * @file program.h
 * A body that runs an unmodified program: its time, memory and output per config.
 *
 *     const char *argv[] = {"gzip", "-c", "-{level}", "big.txt"};
 *     ks_program_new(argv, 4, NULL, &program, &err);
 *     ks_plan_axis_spec(plan, "level=1,3,6,9", &err);
 *     ks_run(plan, ks_program_body, program, &res, &err);
 */
#ifndef KERNSIGHT_PROGRAM_H
#define KERNSIGHT_PROGRAM_H

#include "plan.h"
#include "run.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ks_program ks_program;

typedef struct ks_program_options {
    size_t struct_size;
    const char *cwd;        /**< folder the program starts in; NULL: this one. Template */
    const char *const *env; /**< `NAME=VALUE` added to the environment. Templates */
    size_t env_count;
    const char *prepare; /**< shell command before each call, not measured; NULL: none. Template */
    double timeout_s;    /**< a call that takes longer is ended and fails; 0: no limit */
    const char *output;  /**< where the program's stdout goes besides being counted: NULL:
                              nowhere; "inherit": this process's stderr; else a file, made anew
                              for each ks_program, that all calls append to */
} ks_program_options;

// clang-format off
#define KS_PROGRAM_OPTIONS_INIT {sizeof(ks_program_options), NULL, NULL, 0, NULL, 0, NULL}
// clang-format on

/**
 * A program with its arguments.
 *
 * In templates `{name}` stands for the value of the parameter of that name, and `{{` for a brace;
 * any other text stays as it is. Only C identifiers in braces are names. A parameter of the plan
 * that no template names changes nothing: the results say so.
 *
 * The program's stdin is /dev/null; its stderr is passed on, and the end of it becomes part of the
 * message when it fails. It runs in a process group of its own.
 *
 * @param[in]  argv     program and arguments, templates; argc >= 1
 * @param[in]  options  NULL: the defaults
 * @param[out] out      free with ks_program_free(); untouched on failure
 * @return KS_OK; KS_EINVAL; KS_ENOTFOUND, KS_EPERM (program or folder); KS_EIO (output); KS_ENOMEM
 */
KS_API ks_status ks_program_new(const char *const *argv, size_t argc,
                                const ks_program_options *options, ks_program **out, ks_error *err);

/** Accepts NULL. */
KS_API void ks_program_free(ks_program *program);

/**
 * The body for ks_run(), with the ks_program as `user`. Its annotation is the program's base name.
 *
 * Measured from the program's start to its end: `cpu__time_duration.sum`; for it and the processes
 * it waited for `cpu__user_time.sum`, `cpu__system_time.sum`; `program__stdout_bytes.sum`. When
 * asked for `cpu__max_rss.max` too: the program is forked in place of spawned then, and timed from
 * exec. A status other than 0, a signal or the timeout fail the call (KS_EBODY).
 */
KS_API ks_status ks_program_body(const ks_call *call, void *program, ks_error *err);

#ifdef __cplusplus
}
#endif

#endif
