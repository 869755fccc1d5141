/* Names that a chip does not have. */
#ifndef KS_COLLECT_NVIDIA_UNKNOWN_H
#define KS_COLLECT_NVIDIA_UNKNOWN_H

#include "collect/nvidia/chip.h"

/** Fail with near names, and the chips that do have it. @return KS_ENOTFOUND, KS_ENOMEM */
ks_status ks_chip_fail_unknown(ks_chip *chip, const char *name, ks_error *err);

#endif
