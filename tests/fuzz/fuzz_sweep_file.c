/* Sweep files: options, or a message; nothing is left behind. */
#include "fuzz.h"

#include "run_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ks_error err = KS_ERROR_INIT;
    run_options options = {0};
    ks_status status = parse_sweep((const char *)data, size, &options, &err);
    if (status == KS_OK) {
        for (size_t i = 0; i < options.params.count; i++) {
            MUST(strchr(options.params.texts[i], '=') != NULL);
        }
    } else {
        MUST(err.code == status && err.message[0] != '\0');
    }
    free_run_options(&options);
    return 0;
}
