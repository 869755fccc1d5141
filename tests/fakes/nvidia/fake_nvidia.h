/*
 * Fakes of NVIDIA's driver (libcuda.so.1), CUPTI (libcupti.so.13) and NVML (libnvidia-ml.so.1): no
 * GPU, and each path and fault of the nvidia collector on demand. They have what
 * src/collect/nvidia/abi.h lists, with the types of abi.h, and the launches of a program below.
 * What is imaginary is said here; the rest does what a real GPU did (H200, CUPTI 13.0).
 *
 * A test program links with the target `fake_nvidia` (both are loaded then, and found as loaded
 * copies), or names files in KERNSIGHT_CUDA_LIB, KERNSIGHT_CUPTI_LIB and KERNSIGHT_NVML_LIB:
 *   tests/fakes/nvidia/libcuda.so.1, libcupti.so.13, libnvidia-ml.so.1
 *   tests/fakes/nvidia/old/libcupti.so.13       says that it is of CUDA 12.6
 *   tests/fakes/nvidia/no_push/libcupti.so.13   has no cuptiRangeProfilerPushRange and no
 * cuptiSubscribe_v2 All copies of CUPTI share the state of the one driver. FAKE_NVIDIA in the
 * environment is a first script, for programs that cannot call fake_script().
 *
 * What a launch counts is what the test says of a kernel by that name, and else NaN:
 *   fake_use_device(0);
 *   fake_kernel("vadd", "gpu__time_duration.sum", 5184.0);
 *   fake_launch("vadd", 64, 256, NULL);
 * There is no clock: nothing takes time, nothing computes, memory is a number.
 *
 * Metrics: the catalogue of metrics.c on the chips GA100, GH100 and GB100, each with the
 * sub-metrics of its type. A metric has a set of passes that it needs (metrics.c, a bit each), and
 * a list of metrics needs the union; gpu__time_duration and the cycles fit in whichever is first.
 *
 * The range profiler:
 * - Auto range: a range per kernel in the order of the launches, of all streams and threads with
 *   that context; none for a graph, after which each call for the object but Disable gives 999 (on
 *   an H200 so where other counters than the time run). A launch without a free slot is dropped
 *   without a word.
 * - User range: what its kernels count added up, the time with `gap` added; a rate, a percentage
 *   and a ratio is the mean over them by their time. A graph's kernels count like others.
 * - User replay: the k-th Start..Stop pair has the k-th pass; SetConfig between them is ignored
 *   until the last one is done. Kernel replay: all passes in one.
 * - Start gives 26 while another context of the device is between Start and Stop.
 * - SetConfig with other metrics, slots or modes than the first one after Enable succeeds; values
 *   are NaN from then on and PushRange gives 1, until the first ones are set again.
 * - DecodeData writes what was collected to the image of SetConfig. A value whose passes are not
 *   all there is NaN.
 * - An image may be copied and moved once it is initialised; one that is not gives 1.
 * Guesses, as nobody looked: a second Start, or Stop and Pop without their first, give 7; all but
 * Enable before cuptiProfilerInitialize work, and Enable then gives 15; Start without SetConfig
 * after the last pass begins the same session again.
 * Not there: nested ranges beyond their own names and sums, counters of kernels that overlap,
 * activity records, memory or multi-GPU effects.
 *
 * Any thread may call any function here; a callback is called without a lock.
 */
#ifndef FAKE_NVIDIA_H
#define FAKE_NVIDIA_H

#include <stdbool.h>

#include "collect/nvidia/abi.h"

#define FAKE_EXPORT __attribute__((visibility("default")))

/* ---- script -----------------------------------------------------------------------------------
 */

/**
 * Say what is to happen from now on, instead of what was said before; "" is: nothing.
 *
 * Entries with ';' between them, blanks anywhere. Calls and launches are counted from here.
 *   cuptiRangeProfilerStart=26      each call gives 26 and does nothing
 *   cuptiRangeProfilerStart:2=26    the second one does
 *   cuptiRangeProfilerStart:2+=26   the second and all later ones do
 *   drop=3                          the third launch takes no slot
 *   drop_every=3                    each third one
 *   extra_ranges=2                  so many ranges more than launches, as launches on the device do
 *   device_error=5                  the fifth launch breaks the device: CUDA calls that need a
 *                                   context give 700, the range profiler's 999
 *   context_reset_after=5           the fifth launch's context is destroyed after it, and the
 *                                   program has a new one: the old one's modules, memory and
 *                                   profiler are gone (400, 1, 3)
 *   endless=3                       from the third cuCtxSynchronize on the work does not end, until
 *                                   another script is set
 *   gap=2500                        what the time of a user range has besides its kernels, in ns
 *   range_bytes=650000              what a range takes in a counter data image besides its values
 *   no_passes=1                     metrics need none, as some toolkits said of valid ones
 *   report_dropped=1                DecodeData tells how many were dropped; else 0
 *   devices=2  driver_version=13000  cupti_version=130001  chip=GH100
 *   compute_capability=90  driver=580.159.04
 *   holder=kineto                   who is said to be subscribed, by cuptiSubscribe_v2
 *   mig=1                           the GPUs are divided; 2: devices are parts; 3: cannot be
 *   mps=1                           the GPUs are shared by MPS
 *   margin=5                        degrees that all GPUs are below where they slow down
 *   supported.vgpu=1                answer of cuptiProfilerDeviceSupported; likewise
 *                                   .architecture .sli .confidential .cmp .wsl; 3: all is well
 * Launches that drop, device_error and context_reset_after count are those of kernels that
 * fake_kernel() was told about, and of graphs: none of the collector's own.
 *
 * A text that cannot be understood ends the process.
 */
FAKE_EXPORT void fake_script(const char *text);

/** No script, no kernels, no calls so far, no broken device; handles stay good. */
FAKE_EXPORT void fake_reset(void);

/** How often a function of the vendor's was called since fake_reset(), in vain or not. */
FAKE_EXPORT unsigned fake_calls(const char *function);

/** How often a kernel ran since fake_reset(), in graphs too; NULL: any kernel. */
FAKE_EXPORT unsigned fake_runs(const char *kernel);

/** The i-th kernel that ran since then, of the first 4096; NULL: so many did not. */
FAKE_EXPORT const char *fake_run_at(unsigned i, ks_cuda_stream *stream);

/** What is there now: nothing should be when all was given back. */
typedef struct fake_alive {
    unsigned modules;
    unsigned allocations; /* of cuMemAlloc */
    size_t bytes;         /* ... of them */
    unsigned profilers;   /* enabled */
    unsigned hosts;       /* of cuptiProfilerHostInitialize */
    unsigned subscribers;
} fake_alive;
FAKE_EXPORT fake_alive fake_count_alive(void);

/* ---- what kernels count -----------------------------------------------------------------------
 */

/**
 * What each launch of a kernel counts.
 *
 * @param[in] metric  "dram__bytes_read.sum", or "dram__bytes_read" for all its sub-metrics that
 *                    have no value of their own
 */
FAKE_EXPORT void fake_kernel(const char *kernel, const char *metric, double value);

/** ... for each block of its grid. */
FAKE_EXPORT void fake_kernel_per_block(const char *kernel, const char *metric, double value);

/** An attribute of a function: ids of cuFuncGetAttribute, 4 is registers a thread (32). */
FAKE_EXPORT void fake_kernel_attribute(const char *kernel, int attribute, int value);

/** A number for fake_kernel_attribute(): how many blocks of it fit on an SM, whatever their size.
 * The driver tells nothing where it was not said. */
enum {
    FAKE_ACTIVE_BLOCKS = 1000
};

/** An attribute of a device; an H200's without. */
FAKE_EXPORT void fake_device_attribute(int device, int attribute, int value);

/* ---- what NVML tells --------------------------------------------------------------------------
 */

/** A GPU. fake_reset() makes all of them as the first numbers say. */
typedef struct fake_board {
    unsigned temperature;             /* 40 degrees */
    double margin;                    /* 40 degrees */
    double cooling;                   /* 0: degrees that the margin grows in a second */
    double watts;                     /* 200 */
    unsigned update_ms;               /* 100: its counter of energy moves no more often ... */
    double reading_s;                 /* 0: ... and reading it takes so long */
    unsigned sm_mhz;                  /* 1980 */
    unsigned memory_mhz;              /* 3201 */
    unsigned long long reasons;       /* 0: why its clocks are low */
    unsigned long long power_held_ns; /* 0: how long limits held its clocks down */
    unsigned long long heat_held_ns;
    unsigned locked_min; /* 0, 0: they are not locked */
    unsigned locked_max;
} fake_board;

/** That of a device, to be read and changed by a test of one thread. */
FAKE_EXPORT fake_board *fake_board_of(int device);

/** Time that has passed since fake_reset(): there is none but what fake_pass() lets pass. */
FAKE_EXPORT unsigned long long fake_now_ns(void);
FAKE_EXPORT void fake_pass(double seconds);

/* ---- the program ------------------------------------------------------------------------------
 */

/** Make a device's primary context current on this thread, as cudaSetDevice() does. */
FAKE_EXPORT ks_cuda_context fake_use_device(int device);

/** Another context on a device; not made current. */
FAKE_EXPORT ks_cuda_context fake_new_context(int device);

/** A kernel of the program's; good in all contexts for ever. */
FAKE_EXPORT ks_cuda_function fake_function(const char *kernel);

/** cuLaunchKernel with grid (blocks, 1, 1). @return its result */
FAKE_EXPORT ks_cuda_result fake_launch(const char *kernel, unsigned blocks, unsigned threads,
                                       ks_cuda_stream stream);

/** A call that copies or sets memory, by its number in the driver: KS_CUPTI_COPIES(). */
FAKE_EXPORT void fake_copy(uint32_t function);

/** What is launched on this stream from now on goes into a graph and does not run. */
FAKE_EXPORT void fake_begin_capture(ks_cuda_stream stream);

/** The graph, for cuGraphLaunch; stays until the process ends. */
FAKE_EXPORT void *fake_end_capture(ks_cuda_stream stream);

/* Launches by the vendor's names. The grid and the block are checked; arguments are not looked at.
 */
FAKE_EXPORT ks_cuda_result cuLaunchKernel(ks_cuda_function, unsigned, unsigned, unsigned, unsigned,
                                          unsigned, unsigned, unsigned, ks_cuda_stream, void **,
                                          void **);
FAKE_EXPORT ks_cuda_result cuLaunchKernel_ptsz(ks_cuda_function, unsigned, unsigned, unsigned,
                                               unsigned, unsigned, unsigned, unsigned,
                                               ks_cuda_stream, void **, void **);
FAKE_EXPORT ks_cuda_result cuLaunchCooperativeKernel(ks_cuda_function, unsigned, unsigned, unsigned,
                                                     unsigned, unsigned, unsigned, unsigned,
                                                     ks_cuda_stream, void **);
FAKE_EXPORT ks_cuda_result cuLaunchCooperativeKernel_ptsz(ks_cuda_function, unsigned, unsigned,
                                                          unsigned, unsigned, unsigned, unsigned,
                                                          unsigned, ks_cuda_stream, void **);
FAKE_EXPORT ks_cuda_result cuLaunchKernelEx(const ks_cuda_launch_config *, ks_cuda_function,
                                            void **, void **);
FAKE_EXPORT ks_cuda_result cuLaunchKernelEx_ptsz(const ks_cuda_launch_config *, ks_cuda_function,
                                                 void **, void **);
FAKE_EXPORT ks_cuda_result cuGraphLaunch(void *, ks_cuda_stream);
FAKE_EXPORT ks_cuda_result cuGraphLaunch_ptsz(void *, ks_cuda_stream);

#endif
