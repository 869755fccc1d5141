#include "collect/perf/events.h"

enum {
    BOTH = KS_TARGET_REGION | KS_TARGET_PROGRAM
};

// clang-format off

/* A name of the processor's event means what the kernel's table for that processor says. User mode
 * alone: that is what the kernel's default (paranoid level 2) lets everybody count. */
#define HARDWARE(name) \
    {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##name, .exclude_kernel = true}

#define CACHE(cache, op, result) \
    {.type = PERF_TYPE_HW_CACHE, \
     .config = PERF_COUNT_HW_CACHE_##cache | (uint64_t)PERF_COUNT_HW_CACHE_OP_##op << 8 | \
               (uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16, \
     .exclude_kernel = true}

/* Those happen in the kernel, on behalf of a thread: without the kernel some would read a false 0.
 */
#define SOFTWARE(name) {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##name, .soft = true}

#define COUNT(name, unit, description, ...) \
    {.entry = {name, unit, KS_COUNT, description, NULL, BOTH, false}, \
     .rule = KS_RULE_ADD, \
     .event_count = 1, \
     .events = {__VA_ARGS__}}

const ks_perf_event ks_perf_cycles = HARDWARE(CPU_CYCLES);
const ks_perf_event ks_perf_faults = SOFTWARE(PAGE_FAULTS);

const ks_perf_metric ks_perf_metrics[] = {
    COUNT("cpu__cycles.sum", "cycle", "cycles of the core, in user mode", HARDWARE(CPU_CYCLES)),
    COUNT("cpu__instructions.sum", "inst", "instructions that were retired, in user mode",
          HARDWARE(INSTRUCTIONS)),
    {.entry = {"cpu__ipc.ratio", "inst/cycle", KS_RATIO,
               "instructions per cycle, in user mode; both are counted at the same time", NULL,
               BOTH, false},
     .rule = KS_RULE_RATIO,
     .event_count = 2,
     .events = {HARDWARE(INSTRUCTIONS), HARDWARE(CPU_CYCLES)}},
    COUNT("cpu__cache_references.sum", "access",
          "accesses that the processor counts as cache references (mostly to its last level), in "
          "user mode",
          HARDWARE(CACHE_REFERENCES)),
    COUNT("cpu__cache_misses.sum", "miss",
          "misses that the processor counts as cache misses (mostly of its last level), in user "
          "mode",
          HARDWARE(CACHE_MISSES)),
    COUNT("cpu__branches.sum", "branch", "branches that were retired, in user mode",
          HARDWARE(BRANCH_INSTRUCTIONS)),
    COUNT("cpu__branch_misses.sum", "branch", "branches that were predicted wrongly, in user mode",
          HARDWARE(BRANCH_MISSES)),
    COUNT("cpu__l1d_loads.sum", "access", "loads from the first data cache, in user mode",
          CACHE(L1D, READ, ACCESS)),
    COUNT("cpu__l1d_load_misses.sum", "miss", "loads that missed the first data cache, in user mode",
          CACHE(L1D, READ, MISS)),
    COUNT("cpu__llc_loads.sum", "access", "loads from the last level of cache, in user mode",
          CACHE(LL, READ, ACCESS)),
    COUNT("cpu__llc_load_misses.sum", "miss",
          "loads that missed the last level of cache, in user mode", CACHE(LL, READ, MISS)),
    COUNT("cpu__dtlb_load_misses.sum", "miss",
          "loads whose address translation missed the data TLB, in user mode",
          CACHE(DTLB, READ, MISS)),
    COUNT("cpu__page_faults.sum", "fault", "page faults, minor and major", SOFTWARE(PAGE_FAULTS)),
    COUNT("cpu__minor_faults.sum", "fault", "page faults that needed no input or output",
          SOFTWARE(PAGE_FAULTS_MIN)),
    COUNT("cpu__major_faults.sum", "fault", "page faults that waited for input or output",
          SOFTWARE(PAGE_FAULTS_MAJ)),
    COUNT("cpu__context_switches.sum", "switch",
          "times that a thread left its processor, by itself or not", SOFTWARE(CONTEXT_SWITCHES)),
    COUNT("cpu__migrations.sum", "migration", "times that a thread changed its processor",
          SOFTWARE(CPU_MIGRATIONS)),
};
// clang-format on

const size_t ks_perf_metric_count = sizeof ks_perf_metrics / sizeof ks_perf_metrics[0];

bool ks_perf_same(const ks_perf_event *a, const ks_perf_event *b)
{
    return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
           a->config2 == b->config2 && a->exclude_user == b->exclude_user &&
           a->exclude_kernel == b->exclude_kernel;
}

struct perf_event_attr ks_perf_attr(const ks_perf_event *event)
{
    return (struct perf_event_attr){
        .type = event->type,
        .size = sizeof(struct perf_event_attr),
        .config = event->config,
        .config1 = event->config1,
        .config2 = event->config2,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .inherit = 1,
        .exclude_user = event->exclude_user,
        .exclude_kernel = event->exclude_kernel,
        .exclude_hv = event->exclude_kernel,
    };
}
