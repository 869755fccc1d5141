/* Files that are whole or not there. */
#ifndef KS_BASE_FILE_H
#define KS_BASE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "kernsight/status.h"

/**
 * A file being written: beside its target under a temporary name, renamed at the end. Links are
 * followed. What is no regular file (a device, a pipe, /dev/stdout and the like) is written in
 * place.
 */
typedef struct ks_file {
    FILE *stream; /**< write here */
    char *path;
    char *temporary; /**< NULL when written in place */
} ks_file;

/** Whether there is nothing at that path that could be replaced as a whole. */
ks_status ks_file_in_place(const char *path, bool *out, ks_error *err);

ks_status ks_file_open(ks_file *file, const char *path, ks_error *err);

/**
 * Put the file in its place if `status` is KS_OK, else leave nothing behind and put the file's name
 * before the failure in `err`.
 *
 * @return `status`, or the failure to write
 */
ks_status ks_file_close(ks_file *file, ks_status status, ks_error *err);

/** Why writing to `stream` failed: KS_EIO with `what` and errno. */
ks_status ks_stream_status(FILE *stream, const char *what, ks_error *err);

#endif
