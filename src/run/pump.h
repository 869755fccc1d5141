/* Takes a child's output: counts it, keeps its end, passes it on, and never waits for the reader.
 */
#ifndef KS_RUN_PUMP_H
#define KS_RUN_PUMP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    KS_PUMP_BLOCK = 1 << 15
};

typedef struct ks_pump {
    int from;       /**< non-blocking; -1 once it has ended */
    int to;         /**< passed on to; -1: nowhere, or not any more */
    int failed;     /**< errno of passing it on; 0: it went well */
    uint64_t bytes; /**< read so far */
    char *tail;     /**< ring of the last `tail_size` bytes; NULL: not kept */
    size_t tail_size;
    size_t sent; /**< of those that wait */
    size_t waiting;
    char block[KS_PUMP_BLOCK];
} ks_pump;

void ks_pump_init(ks_pump *pump, int to, char *tail, size_t tail_size);

/** What to poll for: output to read, or, while some waits to be passed on, a reader that takes it.
 */
struct pollfd ks_pump_poll(const ks_pump *pump);

/** Read a block, or pass on a part of what waits: whichever ks_pump_poll() asked for. Closes `from`
 * at its end. */
void ks_pump_step(ks_pump *pump);

/** Whether some output waits to be passed on. */
bool ks_pump_waiting(const ks_pump *pump);

/** Bytes that can be read now. */
size_t ks_pump_readable(const ks_pump *pump);

/** Close `from`, if it is still open. */
void ks_pump_close(ks_pump *pump);

/** Put the kept end in order: terminated text of at most `tail_size` bytes. */
void ks_pump_tail(const ks_pump *pump, char *to);

/** write() that raises no SIGPIPE: a reader that has gone must not end this process. */
ssize_t ks_write_quietly(int to, const void *bytes, size_t count);

#endif
