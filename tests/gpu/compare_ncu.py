#!/usr/bin/env python3
"""Compare what ncu and kernsight measured of the same kernels (compare_ncu.sh).

Usage: compare_ncu.py METRICS LIST OURS VERDICT=NCU...

METRICS: what is compared, common_metrics.txt. LIST: label,kernel of `gpu_zoo list`. OURS: kernel,metric,value,unit
of `gpu_zoo kernsight`. NCU: tables of `ncu --csv --page raw --print-units base`, one after the other; in each the
kernels of LIST in turn, several times: the median counts. Of several NCU the first one that a value agrees with
says VERDICT: "ok", or how ncu had to be asked for it.
Prints a row per metric and kernel; status 1 if one is beyond its limit or missing, 3 if some are as near to single
rounds of ncu alone.
"""

import collections
import csv
import math
import statistics
import sys

# The columns before the metrics in ncu's raw page are facts of the launch.
FACTS = {"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
         "Block Size", "Grid Size", "Device", "CC", "Kernel Time", "Section Name"}
EXACT = ("launch__", "smsp__sass_", "smsp__inst_executed.sum", "l1tex__t_requests_pipe_lsu_mem_global",
         "l1tex__t_sectors_pipe_lsu_mem_global", "smsp__thread_inst_executed_per_inst_executed")

FEW = 16384  # sectors that come and go in the L2 cache whatever a kernel does
SHORT = 50e3  # ns: a shorter kernel is not the same from launch to launch


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


def read_table(path, lines, kernels, values):
    """Append to {(label, metric): [(value, rounding)]} what a table has; give {metric: unit}."""
    header, units, *rows = csv.reader(lines)
    rows = [row for row in rows if len(row) == len(header)]
    if not rows or len(rows) % len(kernels):
        sys.exit(f"{path}: {len(rows)} kernels, which is no multiple of {len(kernels)}")
    name = header.index("Kernel Name")
    for i, row in enumerate(rows):
        label, kernel = kernels[i % len(kernels)]
        if row[name].partition("(")[0] != kernel:
            sys.exit(f"{path}: kernel {i} is {row[name]}, not {kernel}")
        for column, text in zip(header, row):
            if column not in FACTS:
                values.setdefault((label, column), []).append(number(text))
    return dict(zip(header, units))


def read_ncu(path, kernels):
    """{(label, metric): ([value of a round], rounding)} and {metric: unit}."""
    with open(path, newline="") as file:
        lines = [line for line in file if line.startswith('"')]
    starts = [i for i, line in enumerate(lines) if line.startswith('"ID"')]
    if not starts:
        sys.exit(f"{path}: no table of ncu is in it")
    values, units = {}, {}
    for start, end in zip(starts, starts[1:] + [len(lines)]):
        units |= read_table(path, lines[start:end], kernels, values)
    rounds = {}
    for key, seen in values.items():
        known = [value for value, _ in seen if value is not None]
        if known:
            rounds[key] = known, max(rounding for _, rounding in seen)
    return rounds, units


def read_ours(path):
    with open(path, newline="") as file:
        return {(row["kernel"], row["metric"]): (float(row["value"]) if row["value"] else None,
                                                 row["unit"])
                for row in csv.DictReader(file)}


def limit(metric, theirs, unit, duration):
    """How far the value may be from ncu's, and that in words. `duration`: of the kernel, in ns."""
    def share(of, floor=0.0, why=""):
        return max(of * abs(theirs), floor), f"{100 * of:g} %" + (why and f" or {why}")

    by_time = 0.02 if duration > SHORT else 0.10 if duration > 3e3 else 0.25
    if metric.startswith(EXACT):
        return 0.0, "exact"
    if metric.startswith("gpu__time_duration") or "__cycles_" in metric and "pct" not in metric:
        return share(by_time)
    if metric.startswith("dram__bytes_read"):
        return share(0.01, 64 * 1024, "64 KiB")
    if metric.startswith("dram__bytes_write"):
        return share(0.06, 1024 * 1024, "1 MiB")
    if unit == "%" or ".pct" in metric:
        return share(0.03, 0.3, "0.3 point")
    if metric.startswith(("lts__t_sectors", "l1tex__t_bytes")):
        return share(0.02, 4096, "4096")
    if "bank_conflicts" in metric or "wavefronts" in metric:
        return share(0.05, 4096, "4096")
    return share(0.05, 0.05, "0.05")  # ratios: instructions per cycle, stalls


def show(value):
    return "-" if value is None else f"{value:.0f}" if value == int(value) else f"{value:.6g}"


def room(key, theirs, unit, duration):
    """ncu's median, how far a value may be from it, and that in words."""
    values, rounding = theirs[key]
    expected = statistics.median(values)
    far, words = limit(key[1], expected, unit, duration)
    return expected, far + rounding * (1 + 1e-9), words


def judge(key, value, few, tables, unit, duration):
    """(ncu, limit, verdict): the verdict of the first table that agrees; "spread" where the value is as near to one of
    ncu's own rounds of a short kernel; "-" where there is nothing to compare, a share of hits in a cache that the
    kernel hardly uses (ncu has been seen to give 152 %); "NO"."""
    known = [(verdict, theirs) for verdict, theirs in tables if key in theirs]
    if not known or value is None:
        return None, "both", "NO"
    for verdict, theirs in known:
        expected, far, words = room(key, theirs, unit, duration)
        if abs(value - expected) <= far:
            return expected, words, verdict
    if key[1].startswith("lts__t_sector_hit_rate") and few:
        return expected, f"< {FEW} sectors", "-"
    rounds = [one for _, theirs in known for one in theirs[key][0]]
    if duration < SHORT and min(rounds) - far <= value <= max(rounds) + far:
        return expected, words, "spread"
    return expected, words, "NO"


def compare(metrics, kernels, tables, units, ours):
    """Rows of (metric, kernel, ncu, ours, limit, verdict)."""
    for metric in metrics:
        for label, _ in kernels:
            value, _ = ours.get((label, metric), (None, ""))
            sectors, _ = ours.get((label, "lts__t_sectors.sum"), (None, ""))
            times, _ = tables[0][1].get((label, "gpu__time_duration.sum"), ([0.0], 0.0))
            expected, words, verdict = judge((label, metric), value, sectors is not None and sectors < FEW, tables,
                                             units.get(metric, ""), statistics.median(times))
            yield metric, label, expected, value, words, verdict


def apart(expected, value):
    if expected is None or value is None:
        return "missing"
    return f"{100 * (value - expected) / expected:+.2f} %" if expected else f"{value - expected:+.6g}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        metrics = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    kernels = read_list(sys.argv[2])
    ours = read_ours(sys.argv[3])
    tables, units = [], {}
    for argument in sys.argv[4:]:
        verdict, _, path = argument.partition("=")
        theirs, theirs_units = read_ncu(path, kernels)
        tables.append((verdict, theirs))
        units |= theirs_units
    rows = list(compare(metrics, kernels, tables, units, ours))
    print(f"{'metric':<70} {'kernel':<22} {'ncu':>14} {'ours':>14} {'difference':>12} {'limit':>18} ok")
    for metric, label, expected, value, words, verdict in rows:
        print(f"{metric:<70} {label:<22} {show(expected):>14} {show(value):>14} {apart(expected, value):>12} "
              f"{words:>18} {verdict}")
    for metric in dict.fromkeys(metric for _, metric in ours):
        our_units = {unit for (_, m), (_, unit) in ours.items() if m == metric}
        if metric in units and our_units != {units[metric]}:
            print(f"unit of {metric}: ncu {units[metric] or '-'}, ours {' '.join(our_units) or '-'}")
    counts = collections.Counter(row[-1] for row in rows)
    print(f"{counts['ok']} of {len(rows)} values agree, {counts['swept']} more where the L2 cache was full, "
          f"{counts['spread']} with single rounds of ncu, {counts['-']} have nothing to compare, "
          f"{counts['NO']} do not agree")
    beyond = [row for row in rows if row[-1] in ("NO", "spread")]
    for metric in dict.fromkeys(row[0] for row in beyond):
        print(f"beyond its limit: {metric}: {', '.join(row[1] for row in beyond if row[0] == metric)}")
    sys.exit(1 if counts["NO"] or not rows else 3 if counts["spread"] else 0)


if __name__ == "__main__":
    main()
