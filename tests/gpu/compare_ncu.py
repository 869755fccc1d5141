#!/usr/bin/env python3
"""Compare what ncu and kernsight measured of the same kernels (compare_ncu.sh).

Usage: compare_ncu.py METRICS LIST NCU OURS

METRICS: what is compared, common_metrics.txt. LIST: label,kernel of `gpu_zoo list`. NCU: `ncu --csv --page raw --print-units base`; the kernels of
LIST in turn, several times: the median counts, of percentages and ratios all that the rounds span, because
those of kernels of some us differ from round to round by more than any limit. OURS:
kernel,metric,value,unit of `gpu_zoo kernsight`.
Prints a row per metric and kernel; status 1 if one is beyond its limit or missing. A percentage or ratio of a
kernel below 50 us that is beyond it by no more than the kernel's own time may be is "short": such kernels differ
from launch to launch, and ncu takes what it divides from different launches (it reports 104 % of warps).
"""

import csv
import math
import statistics
import sys

# The columns before the metrics in ncu's raw page are facts of the launch.
FACTS = {"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
         "Block Size", "Grid Size", "Device", "CC", "Kernel Time", "Section Name"}
EXACT = ("launch__", "smsp__sass_", "smsp__inst_executed.sum", "l1tex__t_requests_pipe_lsu_mem_global",
         "l1tex__t_sectors_pipe_lsu_mem_global", "smsp__thread_inst_executed_per_inst_executed")


# Sectors that come and go in the L2 cache whatever a kernel does.
NOISE = 8192

# What follows from the kernel itself goes before what ncu says: between its passes it restores memory, whose lines
# are written back while a later pass runs, and its passes can differ by some of a thousand counts.
TRUTHS = {
    # 1056 sums of 4 bytes; what is left of the room is for the counter's own noise
    ("dram__bytes_write.sum", "reduce-16M"): (4224, 64 * 1024),
    # each of 4096 x 4096 floats is stored to another row: a sector each
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "transpose-naive-4096"): (4096 * 4096, 0),
}


def read_list(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def number(text):
    """A number as ncu prints it, and half of its last digit; None for a text."""
    plain = text.replace(",", "").strip()
    try:
        value = float(plain)
    except ValueError:
        return None, 0.0
    if not math.isfinite(value):
        return None, 0.0
    mantissa, _, exponent = plain.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    rounding = 0.5 * 10.0 ** (int(exponent or 0) - digits) if digits or exponent else 0.0
    return value, rounding


def read_ncu(path, kernels):
    """{(label, metric): (median, least, most, rounding)} and {metric: unit}."""
    with open(path, newline="") as file:
        lines = [line for line in file if not line.startswith("==")]
    starts = [i for i, line in enumerate(lines) if line.startswith('"ID"')]
    if not starts:
        sys.exit(f"{path}: no table of ncu is in it")
    header, units, *rows = csv.reader(lines[starts[0]:])
    rows = [row for row in rows if len(row) == len(header)]
    if not rows or len(rows) % len(kernels):
        sys.exit(f"{path}: {len(rows)} kernels, which is no multiple of {len(kernels)}")
    name = header.index("Kernel Name")
    values = {}
    for i, row in enumerate(rows):
        label, kernel = kernels[i % len(kernels)]
        if row[name].partition("(")[0] != kernel:
            sys.exit(f"{path}: kernel {i} is {row[name]}, not {kernel}")
        for column, text in zip(header, row):
            if column not in FACTS:
                values.setdefault((label, column), []).append(number(text))
    medians = {}
    for key, seen in values.items():
        known = [value for value, _ in seen if value is not None]
        if known:
            rounding = max(rounding for _, rounding in seen)
            medians[key] = statistics.median(known), min(known), max(known), rounding
    return medians, dict(zip(header, units))


def read_ours(path):
    with open(path, newline="") as file:
        return {(row["kernel"], row["metric"]): (float(row["value"]) if row["value"] else None,
                                                 row["unit"])
                for row in csv.DictReader(file)}


def limit(metric, theirs, unit, by_time):
    """How far the value may be from ncu's, that in words, and whether from any of its rounds. `by_time`: the share
    that the kernel's time may be off by."""
    def share(of, floor=0.0, why="", of_any=False):
        return max(of * abs(theirs), floor), f"{100 * of:g} %" + (why and f" or {why}"), of_any

    if metric.startswith(EXACT):
        return 0.0, "exact", False
    if metric.startswith("gpu__time_duration") or "__cycles_" in metric and "pct" not in metric:
        return share(by_time)
    if metric.startswith("dram__bytes_read"):
        return share(0.01, 64 * 1024, "64 KiB")
    if metric.startswith("dram__bytes_write"):
        return share(0.06, 1024 * 1024, "1 MiB")
    if unit == "%" or ".pct" in metric:
        return share(0.03, 0.3, "0.3 point", True)
    if metric.startswith(("lts__t_sectors", "l1tex__t_bytes")):
        return share(0.02, NOISE, f"{NOISE}")
    if "bank_conflicts" in metric or "wavefronts" in metric:
        return share(0.05, 4096, "4096")
    return share(0.05, 0.05, "0.05", True)  # ratios: instructions per cycle, stalls


def show(value):
    return "-" if value is None else f"{value:.0f}" if value == int(value) else f"{value:.6g}"


def by_time(ns):
    return 0.02 if ns > 50e3 else 0.10 if ns > 3e3 else 0.25


def judge(metric, label, value, theirs, unit):
    """"ok", "short" or "NO", and the limit in words."""
    expected, least, most, rounding = theirs[label, metric]
    ns, *_ = theirs.get((label, "gpu__time_duration.sum"), (0.0,))
    sectors, *_ = theirs.get((label, "lts__t_sectors.sum"), (math.inf,))
    if (metric, label) in TRUTHS:
        truth, room = TRUTHS[metric, label]
        return "ok" if abs(value - truth) <= room else "NO", f"{truth} by hand"
    if metric == "lts__t_sector_hit_rate.pct" and sectors < 2 * NOISE:
        return "ok" if 0 <= value <= 100 else "NO", "hardly any sectors"
    room, words, of_any = limit(metric, expected, unit, by_time(ns))
    if not of_any:
        least = most = expected
    room += rounding * (1 + 1e-9)
    if least - room <= value <= most + room:
        return "ok", words
    room += by_time(ns) * abs(expected)
    short = of_any and ns <= 50e3 and least - room <= value <= most + room
    return "short" if short else "NO", words


def compare(metrics, kernels, theirs, units, ours):
    """Rows of (metric, kernel, ncu, ours, limit, verdict)."""
    for metric in metrics:
        for label, _ in kernels:
            expected, *_ = theirs.get((label, metric), (None,))
            value, _ = ours.get((label, metric), (None, ""))
            if expected is None or value is None:
                yield metric, label, expected, value, "both", "NO"
            else:
                verdict, words = judge(metric, label, value, theirs, units.get(metric, ""))
                yield metric, label, expected, value, words, verdict


def difference(expected, value):
    if expected is None or value is None:
        return "missing"
    return f"{100 * (value - expected) / expected:+.2f} %" if expected else f"{value - expected:+.6g}"


def print_beyond(rows, verdict, words):
    for metric in dict.fromkeys(row[0] for row in rows if row[-1] == verdict):
        labels = ", ".join(row[1] for row in rows if row[0] == metric and row[-1] == verdict)
        print(f"{words}: {metric}: {labels}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        metrics = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    kernels = read_list(sys.argv[2])
    theirs, units = read_ncu(sys.argv[3], kernels)
    ours = read_ours(sys.argv[4])
    rows = list(compare(metrics, kernels, theirs, units, ours))
    print(f"{'metric':<70} {'kernel':<22} {'ncu':>14} {'ours':>14} {'difference':>12} {'limit':>18} ok")
    for metric, label, expected, value, words, verdict in rows:
        print(f"{metric:<70} {label:<22} {show(expected):>14} {show(value):>14} {difference(expected, value):>12} "
              f"{words:>18} {verdict}")
    for metric in dict.fromkeys(metric for _, metric in ours):
        our_units = {unit for (_, m), (_, unit) in ours.items() if m == metric}
        if metric in units and our_units != {units[metric]}:
            print(f"unit of {metric}: ncu {units[metric] or '-'}, ours {' '.join(our_units) or '-'}")
    bad = sum(row[-1] == "NO" for row in rows)
    short = sum(row[-1] == "short" for row in rows)
    print(f"{len(rows) - bad - short} of {len(rows)} values agree, {short} more within what a short kernel's time "
          f"varies, {bad} do not")
    print_beyond(rows, "short", "a short kernel")
    print_beyond(rows, "NO", "beyond its limit")
    sys.exit(1 if bad or not rows else 0)


if __name__ == "__main__":
    main()
