/* Where results go: checked before any work is spent. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "run_options.h"

bool is_stdout(const char *path);

/* No two outputs are the same file, by whatever name; one at most goes to stdout; --csv and --json
 * can be written. KS_EINVAL; of a file KS_EIO, KS_EPERM. */
ks_status check_outputs(const run_options *o, ks_error *err);

#endif
