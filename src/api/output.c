/* Results out: to the terminal, as CSV, as JSON. */
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "kernsight/results.h"
#include "output/json.h"
#include "output/print.h"
#include "results/results.h"

/* Functions that write take results in any state, so that a sweep that failed can still be seen. */
static ks_status need(const ks_results *results, ks_error *err)
{
    return results != NULL
               ? KS_OK
               : ks_fail(err, KS_EINVAL, "results", 0, "there are no results (NULL) to write");
}

ks_status ks_results_print(const ks_results *results, FILE *to, const ks_print_options *options,
                           ks_error *err)
{
    KS_TRY(need(results, err));
    return ks_print_results(ks_results_table(results), to, options, err);
}

ks_status ks_results_csv(const ks_results *results, FILE *to, ks_error *err)
{
    KS_TRY(need(results, err));
    return ks_table_csv(ks_results_table(results), to, err);
}

ks_status ks_results_json(const ks_results *results, FILE *to, ks_error *err)
{
    KS_TRY(need(results, err));
    ks_table *samples = NULL;
    KS_TRY(ks_results_samples(results, &samples, err));
    ks_status status =
        ks_json_results(ks_results_table(results), results->configs, samples, to, err);
    ks_table_free(samples);
    return status;
}

/* To a file, or to its `.partial` if the results are not complete. */
static ks_status write_file(const ks_results *results, const char *path,
                            ks_status (*write)(const ks_results *, FILE *, ks_error *),
                            ks_error *err)
{
    KS_TRY(need(results, err));
    if (path == NULL) {
        return ks_check_output(path, err);
    }
    bool complete = ks_results_complete(results);
    bool in_place = ks_file_in_place(path);
    ks_buf partial;
    ks_buf_init(&partial, 1u << 16);
    ks_buf_addf(&partial, "%s.partial", path);
    ks_status status = ks_buf_status(&partial, err);
    ks_file file;
    if (status == KS_OK) {
        status = ks_file_open(&file, complete || in_place ? path : ks_buf_text(&partial), err);
    }
    if (status == KS_OK) {
        status = ks_file_close(&file, write(results, file.stream, err), err);
    }
    if (status == KS_OK && complete && !in_place) {
        unlink(ks_buf_text(&partial)); /* of an earlier run: it is overtaken */
    }
    ks_buf_fini(&partial);
    return status;
}

ks_status ks_results_write_csv(const ks_results *results, const char *path, ks_error *err)
{
    return write_file(results, path, ks_results_csv, err);
}

ks_status ks_results_write_json(const ks_results *results, const char *path, ks_error *err)
{
    return write_file(results, path, ks_results_json, err);
}
