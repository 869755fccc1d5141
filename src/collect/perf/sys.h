/* What the perf collector asks of the system, behind a table that tests replace. */
#ifndef KS_COLLECT_PERF_SYS_H
#define KS_COLLECT_PERF_SYS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** What read() gives of a counter: the kernel's layout for the format of ks_perf_attr(). */
typedef struct ks_perf_count {
    uint64_t count;
    uint64_t enabled_ns; /**< time in which the counted threads ran */
    uint64_t running_ns; /**< time of it in which the counter did */
} ks_perf_count;

typedef struct ks_perf_sys {
    const char *absent; /**< why there is nothing to call; NULL: there is */
    /** A counter of a process or thread (0: the calling thread) on any processor. @return a
     * descriptor, or -errno */
    int (*open)(const struct perf_event_attr *attr, pid_t pid, int leader);
    /** @return 0 or errno */
    int (*enable)(int leader);
    int (*read)(int fd, ks_perf_count *out);
    void (*close)(int fd);
    /** CPU time of the whole process. */
    uint64_t (*process_ns)(void);
    /** Threads of the process now; 0: nobody can say. */
    unsigned (*threads)(void);
    /** A small file as text. @return whether it could be read */
    bool (*read_file)(const char *path, char *to, size_t size);
    /** The names in a folder; `each` says whether to go on. */
    void (*list)(const char *folder, bool (*each)(void *self, const char *name), void *self);
    /** Encode the name of an event, as libpfm4 does. @return whether it knows it */
    bool (*encode)(const char *name, struct perf_event_attr *out);
    /** What does that; NULL: nothing here. */
    const char *(*encoder)(void);
} ks_perf_sys;

/** The table in use. */
const ks_perf_sys *ks_perf_system(void);

/** Use another one from now on; NULL: the real one. For tests, while nothing runs. */
void ks_perf_use(const ks_perf_sys *sys);

#endif
