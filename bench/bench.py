#!/usr/bin/env python3
"""Measure what kernsight itself costs and print each figure beside its goal (docs/accuracy.md).

Usage: bench.py BUILD_FOLDER. Needs pandas, for the comparison, and hyperfine.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

BUILD = Path(sys.argv[1])
BENCH = BUILD / "bench"
PROGRAM = BUILD / "cli" / "kernsight"
ROUNDS = 5

missed = []


def show(what, figure, goal, met):
    print(f"{what:<58} {figure:>16}   goal {goal:<12} {'' if met else 'MISSED'}")
    sys.stdout.flush()
    if not met:
        missed.append(what)


def output(*args):
    return subprocess.run([str(a) for a in args], check=True, capture_output=True,
                          text=True).stdout.split()


def median_time(function):
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def bench_annotate():
    outside, inside = map(float, output(BENCH / "bench_annotate_shared"))
    show("annotation, no run active", f"{outside:.1f} ns", "10 ns", outside <= 10)
    show("annotation, cpu__time_duration.sum", f"{inside:.1f} ns", "100 ns", inside <= 100)


def pandas_statistics(frame):
    """Every statistic of the table for each group, without a Python function per group."""
    groups = frame.groupby(["config", "metric"], sort=False)["value"]
    table = groups.agg(["mean", "std", "min", "max", "count", "median"])
    center = groups.transform("median")
    deviation = (frame["value"] - center).abs()
    keys = [frame["config"], frame["metric"]]
    table["mad"] = deviation.groupby(keys, sort=False).median()
    half = 2.2621571627982053 * table["std"] / np.sqrt(table["count"])
    table["ci_low"] = table["mean"] - half
    table["ci_high"] = table["mean"] + half
    table["relative"] = 100 * table["std"] / table["mean"].abs()
    table["stable"] = table["relative"] < 2
    scale = table["mad"].reindex(pd.MultiIndex.from_arrays(keys)).to_numpy() / 0.6745
    outlier = deviation.to_numpy() / scale > 6.91  # ks_outlier_z(10)
    table["outliers"] = pd.Series(outlier).groupby([k.to_numpy() for k in keys], sort=False).sum()
    table["geomean"] = np.exp(np.log(table["mean"]).groupby("metric").transform("mean"))
    return table


def bench_samples(folder):
    configs, metrics, runs = 10000, 10, 10
    values = folder / "values"
    times = [output(BENCH / "bench_tables", "samples", configs, metrics, runs, values)
             for _ in range(ROUNDS)]
    ours = statistics.median(float(t[0]) for t in times)
    per_sample = float(times[0][1])
    data = np.fromfile(values)
    frame = pd.DataFrame({
        "config": np.repeat(np.arange(configs), metrics * runs),
        "metric": np.tile(np.arange(metrics), configs * runs),
        "value": data,
    })
    theirs = median_time(lambda: pandas_statistics(frame))
    show(f"1,000,000 samples to a table: {ours:.3f} s, pandas {theirs:.3f} s",
         f"{theirs / ours:.1f} x", "5 x (aim 10)", theirs / ours >= 5)
    show("memory per sample", f"{per_sample:.1f} byte", "64 byte", per_sample <= 64)


def bench_csv(folder):
    path = folder / "t.csv"
    times = [float(output(BENCH / "bench_tables", "csv", 1000000, path)[0]) for _ in range(ROUNDS)]
    ours = statistics.median(times)
    frame = pd.read_csv(path, float_precision="round_trip")
    assert frame.shape == (1000000, 10)
    again = folder / "again.csv"
    start = time.perf_counter()
    frame.to_csv(again, index=False)
    theirs = time.perf_counter() - start
    show(f"CSV of 1,000,000 rows, 10 columns: {ours:.2f} s, pandas {theirs:.2f} s",
         f"{theirs / ours:.1f} x", "5 x", theirs / ours >= 5)


def bench_sweep():
    for large, runs in ((100000, 1), (100000, 10)):
        costs = {n: statistics.median(float(output(BENCH / "bench_sweep", n, runs)[0])
                                      for _ in range(3)) for n in (large // 10, large)}
        ratio = costs[large] / costs[large // 10]
        show(f"cost per config, {large:,} against {large // 10:,} configs, {runs} runs: "
             f"{costs[large] * 1e6:.1f} us", f"{ratio:.2f} x", "1.2 x", ratio <= 1.2)


def bench_version():
    def version():
        subprocess.run([PROGRAM, "--version"], stdout=subprocess.DEVNULL, check=True)
    for _ in range(3):
        version()
    seconds = statistics.median(median_time(version) for _ in range(5))
    show("kernsight --version", f"{seconds * 1e3:.1f} ms", "10 ms", seconds <= 0.010)


def hyperfine(folder):
    out = folder / "hyperfine.json"
    start = time.perf_counter()
    subprocess.run(["hyperfine", "-N", "--warmup", "0", "--runs", "200", "--export-json", out, "true"],
                   check=True, capture_output=True)
    wall = time.perf_counter() - start
    return json.loads(out.read_text())["results"][0]["mean"], wall


def kernsight(folder):
    out = folder / "kernsight.json"
    start = time.perf_counter()
    subprocess.run([PROGRAM, "run", "-q", "--warmup", "0", "--runs", "200", "--json", out, "--",
                    "true"], check=True, capture_output=True)
    wall = time.perf_counter() - start
    rows = json.loads(out.read_text())["rows"]
    return [r for r in rows if r["Metric"] == "cpu__time_duration.sum"][0]["AvgValue"] / 1e9, wall


def bench_program(folder):
    pairs = [(kernsight(folder), hyperfine(folder)) for _ in range(7)]
    mean = statistics.median(ours[0] / theirs[0] for ours, theirs in pairs)
    wall = statistics.median(ours[1] / theirs[1] for ours, theirs in pairs)
    means = statistics.median(p[0][0] for p in pairs), statistics.median(p[1][0] for p in pairs)
    walls = statistics.median(p[0][1] for p in pairs), statistics.median(p[1][1] for p in pairs)
    show(f"200 x true, mean: {means[0] * 1e6:.0f} us, hyperfine {means[1] * 1e6:.0f} us",
         f"{mean:.2f} x", "0.9 to 1.1 x", 0.9 <= mean <= 1.1)
    show(f"200 x true, wall: {walls[0] * 1e3:.0f} ms, hyperfine {walls[1] * 1e3:.0f} ms",
         f"{wall:.2f} x", "<= 1.1 x", wall <= 1.1)


def bench_statistics():
    """What docs/statistics.md promises: coverage of normal samples, false alarms of equal ones."""
    lines = subprocess.run([BENCH / "bench_statistics", "20000"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    rows = [(kind, of, [float(x) for x in rest]) for kind, of, *rest in map(str.split, lines)]
    held = [values[1] for kind, of, values in rows if kind in ("fixed", "auto") and of == "normal"]
    show("95 % intervals of normal samples, fixed runs and auto, hold the mean in",
         f"{100 * min(held):.1f} to {100 * max(held):.1f} %", "94 to 96 %",
         min(held) >= 0.94 and max(held) <= 0.96)
    alarms = [values[1] for kind, of, values in rows if kind == "equal" and of != "autocorrelated"]
    show("equal samples are called slower or faster in at most", f"{100 * max(alarms):.1f} %", "5 %",
         max(alarms) <= 0.05)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench_annotate()
        bench_version()
        bench_program(folder)
        bench_sweep()
        bench_samples(folder)
        bench_csv(folder)
        bench_statistics()
    if missed:
        print(f"{len(missed)} goals missed: {'; '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
