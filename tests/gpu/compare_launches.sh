#!/usr/bin/env bash
# Our metrics of launches and devices against ncu's, on the kernels of the zoo:
#
#     compare_launches.sh BUILD FOLDER
#
# FOLDER gets what both said. 0: all that both know is equal; 77: there is no ncu.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
zoo=$1/tests/gpu/gpu_zoo
folder=$2
mkdir -p "$folder"
if ! command -v ncu >/dev/null; then
    echo "compare_launches.sh: there is no ncu"
    exit 77
fi

# all that we have, as the program lists it
for pattern in 'launch__*' 'device__attribute_*' '*__maximum_warps*'; do
    "$1/cli/kernsight" metrics --json "$pattern"
done | python3 -c '
import json, sys
decoder, text, at = json.JSONDecoder(), sys.stdin.read().strip(), 0
while at < len(text):
    rows, at = decoder.raw_decode(text, at)
    print("\n".join(row["Metric"] for row in rows))
    at += len(text[at:]) - len(text[at:].lstrip())
' >"$folder/launch_metrics.txt"
"$zoo" list >"$folder/zoo_list.csv"

LC_ALL=C ncu --clock-control none --csv --page raw --print-units base --print-fp \
    --metrics "$(paste -sd, "$folder/launch_metrics.txt")" "$zoo" plain 1 \
    >"$folder/launches_ncu.csv" 2>"$folder/launches_ncu.err"
"$zoo" kernsight "$folder/launch_metrics.txt" 1 >"$folder/launches_ours.csv"

python3 - "$folder" >"$folder/launches.csv" <<'END'
import csv, sys
from pathlib import Path
folder = Path(sys.argv[1])
kernels = [line.split(",") for line in (folder / "zoo_list.csv").read_text().split()]
place = {names[0]: number for number, names in enumerate(kernels)}
out = csv.writer(sys.stdout)
out.writerow(["Launch", "Kernel", "Metric", "Value", "Unit", "Reason"])
for row in csv.reader((folder / "launches_ours.csv").open()):
    if len(row) == 4 and row[0] in place:
        out.writerow([place[row[0]], kernels[place[row[0]]][-1], row[1],
                      "" if row[2] == "nan" else row[2], row[3], ""])
END
python3 "$here/check_launch_metrics.py" "$folder/launches_ncu.csv" "$folder/launches.csv"
