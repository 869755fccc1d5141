/* Reads a child's output: counts it, keeps its end, passes it on. */
#ifndef KS_RUN_PUMP_H
#define KS_RUN_PUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ks_pump {
    int from;       /**< non-blocking; -1 once it has ended */
    int to;         /**< passed on to; -1: nowhere */
    uint64_t bytes; /**< read so far */
    char *tail;     /**< ring of the last `tail_size` bytes; NULL: not kept */
    size_t tail_size;
} ks_pump;

/** Read what is there now. Closes `from` at its end. */
void ks_pump_read(ks_pump *pump);

/** Close `from`, if it is still open. */
void ks_pump_close(ks_pump *pump);

/** Put the kept end in order: terminated text of at most `tail_size` bytes. */
void ks_pump_tail(const ks_pump *pump, char *to);

#endif
