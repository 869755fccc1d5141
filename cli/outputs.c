#include "outputs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

/* The folder of a path as it really is, a slash, and the path's last name. */
static bool put_in_real_folder(const char *path, char out[PATH_MAX])
{
    char copy[PATH_MAX];
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = (size_t)(name - path);
    if (length >= sizeof copy) {
        return false;
    }
    memcpy(copy, path, length);
    copy[length] = '\0';
    if (realpath(length > 0 ? copy : ".", folder) == NULL) {
        return false;
    }
    int written = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    return written > 0 && written < PATH_MAX;
}

/* Where a file will be that is not there yet, through links that lead nowhere so far. */
static bool find_place_of(const char *path, char out[PATH_MAX])
{
    enum {
        LINKS_MAX = 40
    };
    bool found = put_in_real_folder(path, out);
    for (int links = 0; found && links < LINKS_MAX; links++) {
        char link[PATH_MAX];
        char next[PATH_MAX];
        ssize_t length = readlink(out, link, sizeof link - 1);
        if (length < 0) {
            return true;
        }
        link[length] = '\0';
        int folder = link[0] == '/' ? 0 : (int)(strrchr(out, '/') - out) + 1;
        int written = snprintf(next, sizeof next, "%.*s%s", folder, out, link);
        found = written > 0 && written < PATH_MAX && put_in_real_folder(next, out);
    }
    return false;
}

/* Devices, such as /dev/null, take any number of outputs. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a;
    struct stat of_b;
    char place_of_a[PATH_MAX];
    char place_of_b[PATH_MAX];
    bool a_is_there = stat(a, &of_a) == 0;
    bool b_is_there = stat(b, &of_b) == 0;
    if (a_is_there && b_is_there) {
        return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino && !S_ISCHR(of_a.st_mode);
    }
    return !a_is_there && !b_is_there && find_place_of(a, place_of_a) &&
           find_place_of(b, place_of_b) && strcmp(place_of_a, place_of_b) == 0;
}

/* An option that names a file to write. */
typedef struct named {
    const char *option;
    const char *path; /* NULL: not given */
} named;

enum {
    SINGLE = 3 /* options that name one file; --plot names any number */
};

static named output_at(const run_options *o, size_t i)
{
    const named single[SINGLE] = {{"--csv", o->csv}, {"--json", o->json}, {"--output", o->output}};
    return i < SINGLE ? single[i] : (named){"--plot", o->plots.texts[i - SINGLE]};
}

static bool is_file(named output)
{
    return output.path != NULL && !is_stdout(output.path) &&
           !(strcmp(output.option, "--output") == 0 && strcmp(output.path, "inherit") == 0);
}

static ks_status check_files(const run_options *o, ks_error *err)
{
    for (size_t i = 1; i < SINGLE + o->plots.count; i++) {
        named b = output_at(o, i);
        for (size_t j = 0; j < i; j++) {
            named a = output_at(o, j);
            if (is_file(a) && is_file(b) && is_same_file(a.path, b.path)) {
                return ks_fail(err, KS_EINVAL, "cli", 0, "%s %s and %s %s are the same file",
                               a.option, a.path, b.option, b.path);
            }
        }
    }
    return KS_OK;
}

static ks_status check_stdout(const run_options *o, ks_error *err)
{
    int tables = is_stdout(o->csv) + is_stdout(o->json);
    bool plot = false;
    for (size_t i = 0; i < o->plots.count; i++) {
        plot = plot || is_stdout(o->plots.texts[i]);
    }
    if (tables + plot > 1) {
        return ks_fail(err, KS_EINVAL, "cli", 0,
                       "only one of --csv, --json and --plot can go to stdout");
    }
    return KS_OK;
}

static ks_status check_writable(const char *path, ks_error *err)
{
    return path != NULL && !is_stdout(path) ? ks_check_output(path, err) : KS_OK;
}

ks_status check_outputs(const run_options *o, ks_error *err)
{
    ks_status status = check_stdout(o, err);
    if (status == KS_OK) {
        status = check_files(o, err);
    }
    if (status == KS_OK) {
        status = check_writable(o->csv, err);
    }
    return status == KS_OK ? check_writable(o->json, err) : status;
}
