#!/usr/bin/env bash
# Measure the same kernels with ncu and with kernsight, and compare metric by metric.
#
#     tests/gpu/compare_ncu.sh BUILD FOLDER [METRICS]
#
# BUILD has tests/gpu/gpu_zoo; both tools' output goes to FOLDER. METRICS: a file as
# common_metrics.txt. Ends with 77 where there is no ncu or no GPU. Clocks are left alone.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$1
folder=$2
metrics=${3:-$here/common_metrics.txt}
zoo=$build/tests/gpu/gpu_zoo
rounds=${ROUNDS:-5}
runs=${RUNS:-5}

mkdir -p "$folder"
if ! command -v ncu >/dev/null; then
    echo "compare_ncu.sh: there is no ncu"
    exit 77
fi
"$zoo" list >"$folder/zoo_list.csv"
kernels=$(wc -l <"$folder/zoo_list.csv")
names=$(grep -v '^#' "$metrics" | grep . | paste -sd,)

# One round more than is measured, and skipped: the first launch of a kernel is not like the others.
status=0
LC_ALL=C ncu --clock-control none --csv --page raw --print-units base --metrics "$names" \
    --launch-skip "$kernels" "$zoo" plain $((rounds + 1)) \
    >"$folder/zoo_ncu.csv" 2>"$folder/zoo_ncu.err" || status=$?
if [ $status -ne 0 ]; then
    echo "compare_ncu.sh: ncu ended with $status"
    tail -n 5 "$folder/zoo_ncu.csv" "$folder/zoo_ncu.err"
    [ $status -eq 77 ] && exit 77
    exit 1
fi

# A group of metrics that fails leaves its rows out: the comparison says which are missing.
"$zoo" kernsight "$metrics" "$runs" >"$folder/zoo_kernsight.csv" 2>"$folder/zoo_kernsight.err" ||
    cat "$folder/zoo_kernsight.err"

python3 "$here/compare_ncu.py" "$metrics" "$folder/zoo_list.csv" "$folder/zoo_ncu.csv" \
    "$folder/zoo_kernsight.csv"
