#include "collect/perf/probe.h"

#include <stdio.h>

#include "base/error.h"
#include "collect/perf/refusal.h"

/* "yes", or why not and what to do. */
static ks_status tell_class(const ks_fact_sink *to, const char *fact, const ks_perf_event *event,
                            ks_error *err)
{
    ks_refusal refusal;
    int failed = ks_perf_try(event);
    if (failed == 0) {
        return to->add(to->self, fact, ks_text("yes"), NULL, err);
    }
    ks_perf_refusal(event, failed, &refusal);
    char text[sizeof refusal.why + 8];
    snprintf(text, sizeof text, "no: %s", refusal.why);
    return to->add(to->self, fact, ks_text(text), refusal.cure, err);
}

static ks_status tell_settings(const ks_fact_sink *to, ks_error *err)
{
    int64_t level = 0;
    const char *library = ks_perf_system()->encoder();
    if (ks_perf_paranoid(&level)) {
        KS_TRY(to->add(to->self, "paranoid_level", ks_i64(level), NULL, err));
    }
    KS_TRY(to->add(to->self, "cap_perfmon", ks_text(ks_perf_capable() ? "yes" : "no"), NULL, err));
    if (ks_perf_watchdog()) {
        KS_TRY(to->add(to->self, "nmi_watchdog", ks_text("on: it holds one of the counters"),
                       "as root, sysctl kernel.nmi_watchdog=0, for fewer passes", err));
    }
    return to->add(
        to->self, "event_names", ks_text(library != NULL ? library : "/sys/bus/event_source"),
        library != NULL ? NULL : "install libpfm4 to name more events (perf::NAME)", err);
}

ks_status ks_perf_probe(const ks_fact_sink *to, ks_error *err)
{
    bool hard = ks_perf_try(&ks_perf_cycles) == 0;
    bool soft = ks_perf_try(&ks_perf_faults) == 0;
    const char *available = hard && soft ? "yes"
                            : hard       ? "events of the processor only"
                            : soft       ? "events of the kernel only"
                                         : "no";
    KS_TRY(to->add(to->self, "available", ks_text(available), NULL, err));
    KS_TRY(tell_class(to, "processor_events", &ks_perf_cycles, err));
    KS_TRY(tell_class(to, "kernel_events", &ks_perf_faults, err));
    return tell_settings(to, err);
}
