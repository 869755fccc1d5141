/* Who may read counters: what the driver was told when it was loaded. */
#ifndef KS_COLLECT_NVIDIA_PERMISSION_H
#define KS_COLLECT_NVIDIA_PERMISSION_H

typedef enum ks_permission {
    KS_PERMISSION_UNKNOWN, /**< the driver does not tell, as in most containers */
    KS_PERMISSION_ALL,     /**< any user may */
    KS_PERMISSION_ADMIN,   /**< administrators alone, and this process is one */
    KS_PERMISSION_REFUSED, /**< administrators alone */
} ks_permission;

/** Where the driver tells what it was loaded with. */
#define KS_DRIVER_PARAMS "/proc/driver/nvidia/params"

/** @param[in] params  a file as KS_DRIVER_PARAMS */
ks_permission ks_counters_permission(const char *params);

#endif
