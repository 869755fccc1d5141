/* What all commands say and how they end. */
#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"

int report_error(const ks_error *err)
{
    fprintf(stderr, "kernsight: %s\n", err->message);
    switch (err->code) {
    case KS_EINVAL:
    case KS_ENOTFOUND:
    case KS_ELIMIT:
        return EXIT_USAGE;
    case KS_EPERM: /* of a file that was named, or of the machine */
        return strcmp(err->origin, "nvml") == 0 ? EXIT_UNAVAILABLE : EXIT_USAGE;
    case KS_UNAVAILABLE:
        return EXIT_UNAVAILABLE;
    default:
        return EXIT_RUN_FAILED;
    }
}

static size_t terminal_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    long wanted = columns != NULL ? strtol(columns, NULL, 10) : 0;
    if (wanted > 0) {
        return (size_t)wanted;
    }
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

ks_print_options stdout_options(void)
{
    ks_print_options options = KS_PRINT_OPTIONS_INIT;
    if (isatty(STDOUT_FILENO)) {
        const char *no_color = getenv("NO_COLOR");
        const char *term = getenv("TERM");
        bool dumb = term == NULL || strcmp(term, "dumb") == 0;
        options.width = terminal_width();
        options.color = (no_color == NULL || no_color[0] == '\0') && !dumb;
        options.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    }
    return options;
}

static bool finished;

int finish_stdout(int status)
{
    finished = true;
    bool bad = fflush(stdout) != 0 || ferror(stdout) != 0;
    int number = errno;
    if (!bad || number == EPIPE) {
        return status;
    }
    fprintf(stderr, "kernsight: cannot write to stdout: %s\n", strerror(number));
    return status != EXIT_OK ? status : EXIT_RUN_FAILED;
}

void finish_at_exit(void)
{
    if (!finished && finish_stdout(EXIT_OK) != EXIT_OK) {
        _exit(EXIT_RUN_FAILED);
    }
}
