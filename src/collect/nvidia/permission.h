/* Who may read counters: what the driver was told when it was loaded. */
#ifndef KS_COLLECT_NVIDIA_PERMISSION_H
#define KS_COLLECT_NVIDIA_PERMISSION_H

typedef enum ks_permission {
    KS_PERMISSION_UNKNOWN, /**< the driver does not tell */
    KS_PERMISSION_ALL,     /**< any user may */
    KS_PERMISSION_ADMIN,   /**< administrators alone, and this process is one */
    KS_PERMISSION_REFUSED, /**< administrators alone */
} ks_permission;

/** Where the driver tells what it was loaded with, and the kernel which capabilities this process
 * has; replaced in tests. */
extern const char *ks_driver_params;
extern const char *ks_process_status;

/** Threads: any. */
ks_permission ks_counters_permission(void);

#endif
