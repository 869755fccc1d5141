#!/usr/bin/env python3
"""Compare our metrics of launches and devices with ncu's, kernel by kernel.

    check_launch_metrics.py NCU.csv OURS.csv [--tolerance 0.005] [--ignore METRIC ...]

NCU.csv is what this prints (lines before the header are passed over):

    ncu --csv --page raw --print-units base --print-fp --metrics \
        launch__grid_size,...,device__attribute_warp_size PROGRAM

a row per launch with "ID" and "Kernel Name", a column per metric, a row of units below the header.
The long form (`--page details`: a row per launch and metric with "Metric Name", "Metric Unit" and
"Metric Value") is read too. Without `--print-units base` bytes are shown in Kbyte with two digits;
they are scaled back and compared to those digits only.

OURS.csv has a row per launch and metric, the launches in the order in which they were made:

    Launch,Kernel,Metric,Value,Unit,Reason

Launch counts from 0 and Kernel is any text that is in ncu's name of the kernel, or holds it (both
without template arguments); Value is empty where we have none, Reason says why then. A metric of the
device may stand once, with an empty Launch. Or it is what `kernsight` writes with `--csv`: columns
Annotation, Metric, AvgValue, Unit, Failure; then the n-th annotation is ncu's n-th launch, and every
annotation must launch one kernel.

Per metric: how many launches are equal, different, missing with us, or unknown to one side. Status 0
if none differs, 1 if any does, 2 if the files do not fit together.
"""

import argparse
import csv
import re
import sys
from collections import defaultdict

PREFIXES = ("launch__", "device__attribute_")
OCCUPANCY = ("sm__maximum_warps_per_active_cycle_pct", "sm__maximum_warps_avg_per_active_cycle",
             "smsp__maximum_warps_avg_per_active_cycle")
SCALE = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
IDS = ("launch__context_id", "launch__stream_id")  # ncu's process is another one


def wanted(name):
    return name.startswith(PREFIXES) or name in OCCUPANCY


def number(text):
    """A value as ncu prints it, with its precision: (value, half of the last digit)."""
    text = (text or "").replace(",", "").strip()
    if not re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", text):
        return None
    digits = re.match(r"[+-]?\d+(?:\.(\d+))?", text)[1]
    return float(text), 0.5 * 10.0 ** -len(digits) if digits and "e" not in text.lower() else 0.0


def scaled(value, unit):
    """In the base unit: (value, half digit), unit."""
    match = re.match(r"([KMGT])(byte.*)", unit or "")
    if not match or value is None:
        return value, unit or ""
    factor = SCALE[match[1]]
    return (value[0] * factor, value[1] * factor), match[2]


def read_rows(path):
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    start = next((i for i, line in enumerate(lines)
                  if line.startswith(('"ID"', "ID,", "Launch,", "Annotation,", '"Annotation"'))), None)
    if start is None:
        sys.exit(f"{path}: no header with ID, Launch or Annotation in it")
    return list(csv.DictReader(lines[start:]))


def read_ncu(path):
    """[(kernel, {metric: (number or None, unit, text)})] in order of launch."""
    rows = read_rows(path)
    launches = {}
    if rows and "Metric Name" in rows[0]:
        for row in rows:
            kernel, metrics = launches.setdefault(row["ID"], (row["Kernel Name"], {}))
            if wanted(row["Metric Name"]):
                value, unit = scaled(number(row["Metric Value"]), row["Metric Unit"])
                metrics[row["Metric Name"]] = (value, unit, row["Metric Value"])
        return list(launches.values())
    units = rows.pop(0) if rows and not rows[0]["ID"] else {}
    result = []
    for row in rows:
        metrics = {}
        for name, text in row.items():
            if name and wanted(name) and text not in ("", None):
                value, unit = scaled(number(text), units.get(name, ""))
                metrics[name] = (value, unit, text)
        result.append((row["Kernel Name"], metrics))
    return result


def read_ours(path):
    """As read_ncu(), with the reason in the place of the text."""
    rows = read_rows(path)
    launches, device = {}, {}
    plain = bool(rows) and "Launch" in rows[0]
    for row in rows:
        key = row["Launch"] if plain else row["Annotation"]
        text = row["Value"] if plain else row["AvgValue"]
        reason = (row.get("Reason") if plain else row.get("Failure")) or "no reason"
        entry = (number(text), row.get("Unit") or "", reason)
        if not wanted(row["Metric"]):
            continue
        if plain and key == "":
            device[row["Metric"]] = entry
            continue
        name = row.get("Kernel", "") if plain else ""
        launches.setdefault(key, (name, {}))[1][row["Metric"]] = entry
    keys = sorted(launches, key=int) if plain else list(launches)
    return [(launches[k][0], {**device, **launches[k][1]}) for k in keys]


def same_kernel(a, b):
    a, b = (re.sub(r"^(void|int) ", "", re.split(r"[<(]", name)[0]) for name in (a, b))
    return a in b or b in a


def compare(theirs, ours, tolerance):
    """Of one metric and launch: what it is, and what to tell."""
    if ours is None:
        return "only ncu", theirs[2]
    if theirs is None:
        return "only us", ours[0][0] if ours[0] else ours[2]
    if ours[0] is None:
        return "missing", f"ncu {theirs[2]}; {ours[2]}"
    if theirs[0] is None:
        return "text", theirs[2]
    value, (expected, half) = ours[0][0], theirs[0]
    # ncu shows some in few digits: half of the last is allowed; all digits are taken as exact
    near = abs(value - expected) <= half * (1 + 1e-9) + (tolerance * abs(expected) if half else 0)
    if not near:
        return "different", f"ncu {theirs[2]} {theirs[1]}, ours {value} {ours[1]}".rstrip()
    if theirs[1] != ours[1]:
        return "unit", f"ncu '{theirs[1]}', ours '{ours[1]}'"
    return "equal", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ncu")
    parser.add_argument("ours")
    parser.add_argument("--tolerance", type=float, default=0.0,
                        help="relative difference allowed where ncu shows decimals (default 0)")
    parser.add_argument("--ignore", nargs="*", default=list(IDS), metavar="METRIC",
                        help=f"told, but no difference (default: {' '.join(IDS)})")
    options = parser.parse_args()
    theirs, ours = read_ncu(options.ncu), read_ours(options.ours)
    if len(theirs) != len(ours) or not theirs:
        print(f"ncu has {len(theirs)} launches, we have {len(ours)}", file=sys.stderr)
        return 2
    counts = defaultdict(lambda: defaultdict(int))
    notes = defaultdict(list)
    for i, ((kernel, their_metrics), (name, our_metrics)) in enumerate(zip(theirs, ours)):
        if name and not same_kernel(kernel, name):
            print(f"launch {i}: ncu has {kernel}, we have {name}", file=sys.stderr)
            return 2
        for metric in sorted(their_metrics.keys() | our_metrics.keys()):
            what, note = compare(their_metrics.get(metric), our_metrics.get(metric),
                                 options.tolerance)
            counts[metric][what] += 1
            if note != "" and len(notes[metric]) < 3 and note not in notes[metric]:
                notes[metric].append(str(note))
    order = ["different", "unit", "missing", "text", "only ncu", "only us", "equal"]
    worst = {metric: min(found, key=order.index) for metric, found in counts.items()}
    for metric in sorted(counts, key=lambda m: (order.index(worst[m]), m)):
        found = ", ".join(f"{counts[metric][w]} {w}" for w in order if counts[metric][w])
        mark = " (ignored)" if metric in options.ignore and worst[metric] == "different" else ""
        print(f"{worst[metric]:10} {metric:52} {found}{mark}")
        for note in notes[metric]:
            print(f"{'':10}     {note}")
    total = {w: sum(1 for m in worst if worst[m] == w) for w in order}
    print("metrics: " + ", ".join(f"{n} {w}" for w, n in total.items() if n))
    return int(any(w == "different" and m not in options.ignore for m, w in worst.items()))


if __name__ == "__main__":
    sys.exit(main())
