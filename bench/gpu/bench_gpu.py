#!/usr/bin/env python3
"""Measure what measuring on a GPU costs, and print each figure beside its goal (docs/accuracy.md).

Usage: bench_gpu.py BUILD [FOLDER]. FOLDER gets figures.txt and figures.json. Only Python's own library
is needed. Where ncu is installed, it measures the same calls; it never touches the clocks.
"""

import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(sys.argv[1]) / "bench" / "gpu" / "bench_gpu"
FOLDER = Path(sys.argv[2]) if len(sys.argv) > 2 else None
ROUNDS = 3
RUNS = 10
DURATION = "gpu__time_duration.sum"
THROUGHPUTS = ("gpu__time_duration.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed,"
               "dram__throughput.avg.pct_of_peak_sustained_elapsed")

figures = []


def say(line):
    print(line)
    sys.stdout.flush()
    if FOLDER:
        with open(FOLDER / "figures.txt", "a", encoding="utf-8") as file:
            file.write(line + "\n")


def show(what, value, unit, goal=None):
    """A figure; with a goal it must not be above that."""
    met = goal is None or value <= goal
    figures.append({"what": what, "value": value, "unit": unit, "goal": goal, "met": met})
    beside = "" if goal is None else f"   goal {goal:.3f} {unit}{'' if met else '   MISSED'}"
    say(f"{what:<72} {value:9.3f} {unit}{beside}")


class Failed(Exception):
    """A program did not give its figures."""


def call(*args):
    """{name: [values]} of the program's lines, and its wall time in seconds, start to end."""
    start = time.perf_counter()
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=300,
                          check=False)
    wall = time.perf_counter() - start
    lines = done.stdout.splitlines()
    why = [line[7:] for line in lines if line.startswith("failed ")]
    if done.returncode == 77:
        say(f"bench_gpu.py: {why[0] if why else 'there is no GPU'}")
        sys.exit(77)
    if done.returncode:
        raise Failed(why[0] if why else (done.stderr + done.stdout)[-300:].strip())
    values = {"wall": [wall]}
    for line in lines:
        name, _, text = line.partition(" ")
        try:
            values.setdefault(name, []).append(float(text))
        except ValueError:
            pass  # what ncu says
    return values


def median_of(*args):
    """Medians over fresh processes; of `again` the best of each process: the rest is noise."""
    rounds = [call(*args) for _ in range(ROUNDS)]
    medians = {name: statistics.median(r[name][0] for r in rounds) for name in rounds[0]}
    if "again" in rounds[0]:
        medians["again"] = statistics.median(min(r["again"]) for r in rounds)
    return medians


def bench_set(title, metrics, extra, again_goal):
    """A metric set in a fresh process, and again; `extra`: seconds that the first may take more."""
    ours = median_of(BENCH, "kernsight", metrics, RUNS)
    calls = int(ours["calls"])
    plain = median_of(BENCH, "plain", calls)
    say(f"{title}: {calls} calls for each of 4 sizes; kernels of "
        + ", ".join(f"{ours[f'ns{n}'] / 1e3:.0f}" for n in (1024, 2048, 3072, 4096)) + " us")
    show("  unprofiled: the same calls, first", plain["first"], "s")
    show("  kernsight: first sweep", ours["first"], "s", plain["first"] + extra)
    show("  unprofiled: the same calls, again", plain["again"], "s")
    show("  kernsight: again", ours["again"], "s",
         again_goal * plain["again"] if again_goal else None)
    show("  kernsight: again, in times the unprofiled", ours["again"] / plain["again"], "x", again_goal)
    show("  whole process: unprofiled (two sweeps)", plain["wall"], "s")
    show("  whole process: kernsight (three sweeps)", ours["wall"], "s")
    show("  memory: kernsight's process", ours["rss_mib"], "MiB", 1024)
    if shutil.which("ncu"):
        ncu = call("ncu", "--clock-control", "none", "--csv", "--page", "raw", "--metrics", metrics,
                   "--launch-count", 4 * (1 + RUNS), BENCH, "plain", 1 + RUNS)
        show("  whole process: ncu, one sweep profiled (of two)", ncu["wall"][0], "s")


def bench_configs(metrics, runs):
    ours = call(BENCH, "configs", metrics, runs, 100, 1000)
    few, many = ours["per_config100"][0], ours["per_config1000"][0]
    say(f"configs of one launch, {runs} runs, {metrics}:")
    show("  per config, of 100", 1e3 * few, "ms")
    show("  per config, of 1,000", 1e3 * many, "ms", 1.2e3 * few)
    show("  memory", ours["rss_mib"][0], "MiB", 1024)


def main():
    if FOLDER:
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "figures.txt").unlink(missing_ok=True)
    failures = 0
    for bench, args in ((bench_set, ("duration", DURATION, 0.6, 1.2)),
                        (bench_set, ("duration, SM and DRAM throughput", THROUGHPUTS, 1.1, None)),
                        (bench_configs, (DURATION, 10))):
        try:
            bench(*args)
        except (Failed, subprocess.TimeoutExpired, KeyError) as why:
            failures += 1
            say(f"{args[0]}: FAILED: {why}")
    missed = [f["what"].strip() for f in figures if not f["met"]]
    say(f"{len(missed)} goals missed, {failures} benches failed")
    if FOLDER:
        (FOLDER / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if missed or failures else 0)


if __name__ == "__main__":
    main()
