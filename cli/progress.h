/* Progress of a run on stderr. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "kernsight/plan.h"

typedef struct progress {
    bool terminal;       /* stderr is one: a line is rewritten in place */
    double last_s;       /* when something was printed */
    const char *program; /* its name */
    double budget_s;     /* of a config; 0: none */
} progress;

/* A ks_progress_fn; `user` is a progress. */
void show_progress(const ks_progress *now, void *user);

#endif
