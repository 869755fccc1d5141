#!/usr/bin/env bash
# Measure the same kernels with ncu and with kernsight, and compare metric by metric.
#
#     tests/gpu/compare_ncu.sh BUILD FOLDER [METRICS]
#
# BUILD has tests/gpu/gpu_zoo; both tools' output goes to FOLDER. METRICS: a file as
# common_metrics.txt. Ends with 77 where there is no ncu or no GPU. Clocks are left alone.
#
# ncu is asked for groups of metrics first, then, where a value is beyond its limit, for that metric
# alone: asked for many it divides counters of different launches (it has been seen to report 104 %
# of the warps), and restores between its passes what a kernel wrote, which a later pass writes back.
#
# ncu leaves an empty L2 cache to each kernel, kernsight one that is full of other data, where each
# line that comes in puts one out. What is still beyond its limit is compared once more: ncu then
# flushes nothing, and the program reads 128 MiB before each kernel, as kernsight does.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$1
folder=$2
metrics=${3:-$here/common_metrics.txt}
zoo=$build/tests/gpu/gpu_zoo
rounds=${ROUNDS:-5}
runs=${RUNS:-15}

mkdir -p "$folder"
if ! command -v ncu >/dev/null; then
    echo "compare_ncu.sh: there is no ncu"
    exit 77
fi
"$zoo" list >"$folder/zoo_list.csv"
kernels=$(wc -l <"$folder/zoo_list.csv")

# measure TABLE METRICS MODE [OPTION...]: with ncu, in a mode of the zoo; the table follows those
# before it. One round more than is measured, and skipped: the first launch of a kernel is not like
# the others.
measure()
{
    local table=$1 names=$2 mode=$3 status=0
    shift 3
    LC_ALL=C ncu --clock-control none --csv --page raw --print-units base --metrics "$names" \
        --launch-skip "$kernels" "$@" "$zoo" "$mode" $((rounds + 1)) \
        >"$folder/ncu.csv" 2>"$folder/ncu.err" || status=$?
    cat "$folder/ncu.csv" >>"$table"
    [ $status -ne 0 ] || return 0
    echo "compare_ncu.sh: ncu ended with $status for $names"
    tail -n 5 "$folder/ncu.csv" "$folder/ncu.err"
    [ $status -ne 77 ] || exit 77
}

# The groups of a file of metrics, a line each: names with commas between.
groups()
{
    awk -v RS= '{ line = ""
        for (i = 1; i <= NF; i++) line = line (line == "" ? "" : ",") $i
        print line }' < <(sed '/^#/d' "$1")
}

# compare VERDICT=TABLE...: as compare_ncu.py; what is beyond its limit goes to names.txt.
compare()
{
    local status=0
    python3 "$here/compare_ncu.py" "$metrics" "$folder/zoo_list.csv" "$folder/zoo_kernsight.csv" "$@" \
        >"$folder/compared.txt" || status=$?
    sed -n 's/^beyond its limit: \([^:]*\):.*/\1/p' "$folder/compared.txt" >"$folder/names.txt"
    return $status
}

# A group of metrics that fails leaves its rows out: the comparison says which are missing.
"$zoo" kernsight "$metrics" "$runs" >"$folder/zoo_kernsight.csv" 2>"$folder/zoo_kernsight.err" ||
    cat "$folder/zoo_kernsight.err"

tables=()
# ask VERDICT TABLE MODE [OPTION...]: ncu for what names.txt says, and compare with all asked so far.
ask()
{
    local verdict=$1 table=$folder/$2 mode=$3 names
    shift 3
    : >"$table"
    while read -r names; do
        measure "$table" "$names" "$mode" "$@"
    done <"$folder/names.txt"
    tables+=("$verdict=$table")
    compared=0
    compare "${tables[@]}" || compared=$?
}

groups "$metrics" >"$folder/names.txt"
ask ok zoo_ncu.csv plain
[ $compared -eq 0 ] || ask ok zoo_alone.csv plain
own="regex:^($(cut -d, -f2 "$folder/zoo_list.csv" | sort -u | paste -sd'|'))\$"
[ $compared -eq 0 ] ||
    ask swept zoo_swept.csv swept --cache-control none --replay-mode application --kernel-name "$own"
cat "$folder/compared.txt"
[ $compared -eq 0 ] || [ $compared -eq 3 ]
