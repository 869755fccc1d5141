#include "collect/perf/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/perf/pfm.h"

static int real_open(const struct perf_event_attr *attr, pid_t pid, int leader)
{
    long fd = syscall(SYS_perf_event_open, attr, pid, -1, leader, PERF_FLAG_FD_CLOEXEC);
    return fd >= 0 ? (int)fd : -errno;
}

static int real_enable(int leader)
{
    return ioctl(leader, PERF_EVENT_IOC_ENABLE, 0) == 0 ? 0 : errno;
}

static int real_read(int fd, ks_perf_count *out)
{
    ssize_t got = read(fd, out, sizeof *out);
    if (got < 0) {
        return errno;
    }
    return got == (ssize_t)sizeof *out ? 0 : EIO; /* of a counter that the kernel gave up: none */
}

static void real_close(int fd)
{
    close(fd);
}

static uint64_t real_process_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The folder of the threads has a link for each, and two of its own. */
static unsigned real_threads(void)
{
    struct stat threads;
    bool known = stat("/proc/self/task", &threads) == 0 && threads.st_nlink > 2;
    return known ? (unsigned)threads.st_nlink - 2 : 0;
}

static bool real_read_file(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, to, size - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    to[got > 0 ? got : 0] = '\0';
    return got >= 0;
}

static void real_list(const char *folder, bool (*each)(void *self, const char *name), void *self)
{
    DIR *dir = opendir(folder);
    bool more = dir != NULL;
    while (more) {
        const struct dirent *entry = readdir(dir);
        more = entry != NULL && (entry->d_name[0] == '.' || each(self, entry->d_name));
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

static const ks_perf_sys real = {
#ifndef KS_WITH_PERF
    .absent = "this build of kernsight has no perf collector",
#endif
    .open = real_open,
    .enable = real_enable,
    .read = real_read,
    .close = real_close,
    .process_ns = real_process_ns,
    .threads = real_threads,
    .read_file = real_read_file,
    .list = real_list,
    .encode = ks_pfm_encode,
    .encoder = ks_pfm_name,
};

static const ks_perf_sys *in_use = &real;

const ks_perf_sys *ks_perf_system(void)
{
    return in_use;
}

void ks_perf_use(const ks_perf_sys *sys)
{
    in_use = sys != NULL ? sys : &real;
}
