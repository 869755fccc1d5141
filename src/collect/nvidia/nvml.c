#include "collect/nvidia/nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/dl.h"
#include "base/error.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ks_nvml nvml;
static bool ready;

#define KS_NVML_SYMBOL(type, member, arguments, name)   {#name, offsetof(ks_nvml, member), false},
#define KS_NVML_OPTIONAL(type, member, arguments, name) {#name, offsetof(ks_nvml, member), true},
static const ks_dl_symbol symbols[] = {KS_NVML_FUNCTIONS(KS_NVML_SYMBOL)
                                           KS_NVML_OPTIONAL_FUNCTIONS(KS_NVML_OPTIONAL)};
#undef KS_NVML_SYMBOL
#undef KS_NVML_OPTIONAL

static bool accept(void *library, void *self, ks_buf *why)
{
    const char *missing = ks_dl_bind(library, symbols, sizeof symbols / sizeof symbols[0], self);
    if (missing != NULL) {
        ks_buf_addf(why, "it has no function %s", missing);
    }
    return missing == NULL;
}

static ks_status find(ks_error *err)
{
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    const ks_library_spec spec = {.what = "NVML",
                                  .variable = "KERNSIGHT_NVML_LIB",
                                  .names = names,
                                  .accept = accept,
                                  .self = &nvml};
    return ks_library_open(&spec, "nvml", &nvml.library, err);
}

static ks_status initialize(ks_error *err)
{
    ks_nvml_result result = nvml.init();
    if (result == 0) {
        return KS_OK;
    }
    const char *text = nvml.error_string(result);
    return ks_fail(err, KS_UNAVAILABLE, "nvml", result, "%s cannot be used: %s (%d)",
                   nvml.library.path, text != NULL ? text : "unknown error", result);
}

ks_status ks_nvml_get(const ks_nvml **out, ks_error *err)
{
    pthread_mutex_lock(&lock);
    ks_status status = ready ? KS_OK : find(err);
    if (status == KS_OK && !ready) {
        status = initialize(err);
    }
    ready = status == KS_OK;
    pthread_mutex_unlock(&lock);
    if (status == KS_OK) {
        *out = &nvml;
    }
    return status;
}

/* The driver gives a part its own UUID, and does not say which of both it is.
 * @return NVML's result for the whole */
static ks_nvml_result find_device(const ks_nvml *n, const char *uuid, ks_nvml_device *out,
                                  bool *part)
{
    char name[64];
    ks_nvml_result whole = n->device(uuid, out);
    *part = false;
    if (whole != 0) {
        snprintf(name, sizeof name, "MIG-%s", strncmp(uuid, "GPU-", 4) == 0 ? uuid + 4 : uuid);
        *part = n->device(name, out) == 0;
    }
    return whole;
}

ks_mig ks_nvml_mig(const ks_nvml *n, const char *uuid)
{
    unsigned now = 0;
    unsigned after_reset = 0;
    ks_nvml_device device = NULL;
    bool part = false;
    if (find_device(n, uuid, &device, &part) == 0) {
        /* a device that cannot be divided does not know the mode */
        bool known = n->mig_mode(device, &now, &after_reset) == 0;
        return known && now == KS_NVML_MIG_ON ? KS_MIG_ON : KS_MIG_OFF;
    }
    return part ? KS_MIG_PART : KS_MIG_UNKNOWN;
}

ks_status ks_board_fail(const ks_board *board, ks_nvml_result result, const char *what,
                        ks_error *err)
{
    ks_status status = result == KS_NVML_NO_PERMISSION ? KS_EPERM : KS_UNAVAILABLE;
    if (result == KS_NVML_NO_FUNCTION) {
        return ks_fail(err, status, "nvml", 0, "cannot %s: the driver is too old for it", what);
    }
    const char *text = board->nvml->error_string(result);
    return ks_fail(err, status, "nvml", result, "cannot %s: %s (NVML's result %d)", what,
                   text != NULL ? text : "unknown error", result);
}

ks_status ks_board_open(const char *uuid, ks_board *out, ks_error *err)
{
    ks_board board = {.device = NULL};
    KS_TRY(ks_nvml_get(&board.nvml, err));
    snprintf(board.uuid, sizeof board.uuid, "%s", uuid);
    ks_nvml_result result = find_device(board.nvml, uuid, &board.device, &board.part);
    if (board.part) {
        ks_nvml_device part = board.device;
        result = board.nvml->whole == NULL ? KS_NVML_NO_FUNCTION
                                           : board.nvml->whole(part, &board.device);
    }
    if (result != 0) {
        return ks_board_fail(&board, result, "find the GPU that is used", err);
    }
    *out = board;
    return KS_OK;
}

ks_status ks_board_margin(const ks_board *board, int *out, ks_error *err)
{
    ks_nvml_margin margin = {.version = KS_NVML_MARGIN_VERSION};
    ks_nvml_result result = KS_BOARD_ASK(board, margin, &margin);
    if (result != 0) {
        return ks_board_fail(board, result, "read how far the GPU is from its limit of heat", err);
    }
    *out = margin.celsius;
    return KS_OK;
}
