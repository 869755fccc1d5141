/* Giving back what is held between runs. */
#include "annotate/session.h"
#include "base/error.h"
#include "collect/nvidia/clocks.h"
#include "collect/nvidia/nvidia.h"
#include "kernsight/metrics.h"

ks_status ks_release(ks_error *err)
{
    KS_ENTER(err);
    KS_TRY(ks_session_open(0, err)); /* no run is active, and none begins meanwhile */
    ks_nvidia_release();
    ks_session_close();
    return KS_OK;
}

ks_status ks_clock_restore(ks_error *err)
{
    KS_ENTER(err);
    ks_status own = ks_clocks_restore(err);
    ks_status left = ks_clocks_restore_left(own == KS_OK ? err : NULL);
    return own != KS_OK ? own : left;
}
