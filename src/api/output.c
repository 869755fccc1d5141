/* Results out: to the terminal, as CSV, as JSON. */
#include "api/output.h"

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
ks_status ks_need_results(const ks_results *results, ks_error *err)
{
    return results != NULL
               ? KS_OK
               : ks_fail(err, KS_EINVAL, "results", 0, "there are no results (NULL) to write");
}

enum {
    FOOTER_KERNELS = 3 /* of an annotation */
};

static ks_status print_kernels(const ks_results *results, bool all, FILE *to,
                               const ks_print_options *options, ks_error *err)
{
    ks_table *kernels = NULL;
    KS_TRY(ks_results_kernel_table(results, !all, &kernels, err));
    ks_status status = ks_print_kernels(kernels, all ? 0 : FOOTER_KERNELS, to, options, err);
    ks_table_free(kernels);
    return status;
}

ks_status ks_results_print(const ks_results *results, FILE *to, const ks_print_options *options,
                           ks_error *err)
{
    KS_TRY(ks_need_results(results, err));
    KS_TRY(ks_print_results(ks_results_table(results), to, options, err));
    bool all = options != NULL && options->launches;
    return all || results->kept.kernel_count > 0 ? print_kernels(results, all, to, options, err)
                                                 : KS_OK;
}

ks_status ks_results_csv(const ks_results *results, FILE *to, ks_error *err)
{
    KS_TRY(ks_need_results(results, err));
    return ks_table_csv(ks_results_table(results), to, err);
}

ks_status ks_results_json(const ks_results *results, FILE *to, ks_error *err)
{
    KS_TRY(ks_need_results(results, err));
    ks_table *samples = NULL;
    KS_TRY(ks_results_samples(results, &samples, err));
    ks_status status =
        ks_json_results(ks_results_table(results), results->configs, samples, to, err);
    ks_table_free(samples);
    return status;
}

ks_status ks_results_write(const ks_results *results, const char *path,
                           const ks_results_writer *writer, ks_error *err)
{
    KS_TRY(ks_need_results(results, err));
    if (path == NULL) {
        return ks_check_output(path, err);
    }
    bool complete = ks_results_complete(results);
    bool in_place = false;
    KS_TRY(ks_file_in_place(path, &in_place, err));
    ks_buf partial;
    ks_buf_init(&partial, 1u << 16);
    ks_buf_addf(&partial, "%s.partial", path);
    ks_status status = ks_buf_status(&partial, err);
    ks_file file;
    if (status == KS_OK) {
        status = ks_file_open(&file, complete || in_place ? path : ks_buf_text(&partial), err);
    }
    if (status == KS_OK) {
        status = ks_file_close(&file, writer->write(results, writer->arg, file.stream, err), err);
    }
    if (status == KS_OK && complete && !in_place) {
        unlink(ks_buf_text(&partial)); /* of an earlier run: it is overtaken */
    }
    ks_buf_fini(&partial);
    return status;
}

static ks_status write_csv(const ks_results *results, const void *arg, FILE *to, ks_error *err)
{
    (void)arg;
    return ks_results_csv(results, to, err);
}

static ks_status write_json(const ks_results *results, const void *arg, FILE *to, ks_error *err)
{
    (void)arg;
    return ks_results_json(results, to, err);
}

ks_status ks_results_write_csv(const ks_results *results, const char *path, ks_error *err)
{
    return ks_results_write(results, path, &(ks_results_writer){write_csv, NULL}, err);
}

ks_status ks_results_write_json(const ks_results *results, const char *path, ks_error *err)
{
    return ks_results_write(results, path, &(ks_results_writer){write_json, NULL}, err);
}
