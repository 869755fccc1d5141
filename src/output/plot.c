#include "output/plot.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/file.h"
#include "base/spawn.h"
#include "output/plot_fonts.h"

enum {
    SCRIPT_MAX = 1 << 30,
    PICTURE_MAX = 1 << 30
};

static const struct {
    const char *ending;
    ks_plot_format format;
} endings[] = {{".png", KS_PLOT_PNG}, {".svg", KS_PLOT_SVG}, {".pdf", KS_PLOT_PDF}};

ks_status ks_plot_format_of(const char *path, ks_plot_format *out, ks_error *err)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof endings[0]; i++) {
        if (strcasecmp(dot, endings[i].ending) == 0) {
            *out = endings[i].format;
            return KS_OK;
        }
    }
    return ks_fail(err, KS_EINVAL, "plot", 0,
                   "cannot plot into %s: its name must end in .png, .svg or .pdf", path);
}

/* Without its settings files: what they set would change the picture, and they may run programs. */
static ks_status run_gnuplot(const ks_buf *script, ks_buf *picture, ks_error *err)
{
    static const char *const argv[] = {"gnuplot", "-d", "-", NULL};
    ks_error failure = KS_ERROR_INIT;
    ks_status status =
        ks_spawn_filter(argv, ks_buf_text(script), script->length, picture, &failure);
    if (status == KS_ENOTFOUND || status == KS_EPERM) {
        return ks_fail(err, KS_UNAVAILABLE, "plot", failure.native,
                       "plots need gnuplot, which is not installed: apt-get install gnuplot-nox "
                       "(%s)",
                       failure.message);
    }
    return status == KS_OK
               ? KS_OK
               : ks_fail(err, status, failure.origin, failure.native, "%s", failure.message);
}

ks_status ks_plot_gnuplot_version(ks_buf *out, ks_error *err)
{
    static const char *const argv[] = {"gnuplot", "--version", NULL};
    ks_buf told;
    ks_buf_init(&told, 4096);
    ks_status status = ks_spawn_filter(argv, "", 0, &told, err);
    if (status == KS_OK) {
        ks_buf_add_bytes(out, ks_buf_text(&told), strcspn(ks_buf_text(&told), "\n"));
        status = ks_buf_status(out, err);
    }
    ks_buf_fini(&told);
    return status;
}

ks_status ks_plot_check_gnuplot(ks_plot_format format, ks_error *err)
{
    ks_buf script;
    ks_buf nothing;
    ks_error failure = KS_ERROR_INIT;
    ks_buf_init(&script, 4096);
    ks_buf_init(&nothing, 4096);
    ks_plot_terminal(format, 80, 24, &script);
    ks_status status = ks_buf_status(&script, &failure);
    if (status == KS_OK) {
        status = run_gnuplot(&script, &nothing, &failure);
    }
    ks_buf_fini(&script);
    ks_buf_fini(&nothing);
    if (status == KS_EVENDOR) {
        return ks_fail(err, KS_UNAVAILABLE, "plot", failure.native,
                       "this gnuplot cannot draw such a file; install gnuplot-nox 5.4 or newer: %s",
                       failure.message);
    }
    return status == KS_OK
               ? KS_OK
               : ks_fail(err, status, failure.origin, failure.native, "%s", failure.message);
}

/* Text without blanks at the ends of lines, and an empty line between panels alone. */
static void tidy_text(const char *text, ks_buf *to)
{
    bool gap = false;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        size_t kept = length;
        while (kept > 0 && strchr(" \f\r", text[kept - 1]) != NULL) {
            kept--;
        }
        if (kept > 0) {
            ks_buf_add(to, gap && to->length > 0 ? "\n" : "");
            ks_buf_add_bytes(to, text, kept);
            ks_buf_add_char(to, '\n');
        }
        gap = kept == 0;
        text += length + (text[length] == '\n' ? 1 : 0);
    }
}

static ks_status draw(const ks_plot *plot, ks_plot_format format, const ks_plot_options *options,
                      ks_buf *picture, ks_error *err)
{
    ks_buf script;
    ks_buf drawn;
    ks_buf_init(&script, SCRIPT_MAX);
    ks_buf_init(&drawn, PICTURE_MAX);
    bool text = format == KS_PLOT_TEXT;
    ks_status status = ks_plot_script(plot, format, options, &script, err);
    if (status == KS_OK) {
        status = run_gnuplot(&script, text ? &drawn : picture, err);
    }
    if (status == KS_OK && text) {
        tidy_text(ks_buf_text(&drawn), picture);
        ks_plot_caption(plot, format, options, picture);
        status = ks_buf_status(picture, err);
    }
    ks_buf_fini(&script);
    ks_buf_fini(&drawn);
    return status;
}

ks_status ks_plot_table(const ks_table *table, ks_plot_format format,
                        const ks_plot_options *options, FILE *to, ks_error *err)
{
    ks_plot plot;
    ks_buf picture;
    ks_buf_init(&picture, PICTURE_MAX);
    ks_status status = ks_plot_init(&plot, table, options, err);
    if (status == KS_OK && (format == KS_PLOT_PNG || format == KS_PLOT_PDF)) {
        status = ks_plot_spell_unknown(&plot, err); /* who reads an SVG has other fonts */
    }
    if (status == KS_OK) {
        status = draw(&plot, format, options, &picture, err);
    }
    if (status == KS_OK) {
        fwrite(ks_buf_text(&picture), 1, picture.length, to);
        fflush(to);
        status = ks_stream_status(to, "the plot", err);
    }
    ks_buf_fini(&picture);
    ks_plot_fini(&plot);
    return status;
}
