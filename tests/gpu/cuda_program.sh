#!/usr/bin/env bash
# The program of docs/gpu.md, compiled by nvcc and run: its kernel reads 8 bytes for each element.
#
#     cuda_program.sh PREFIX FOLDER
#
# PREFIX: where kernsight is installed. 77: there is no nvcc.
set -euo pipefail

docs=$(cd "$(dirname "$0")/../.." && pwd)/docs/gpu.md
prefix=$(cd "$1" && pwd)
folder=$2
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
if [ ! -x "$nvcc" ]; then
    echo "cuda_program.sh: there is no nvcc"
    exit 77
fi
mkdir -p "$folder"
cd "$folder"
awk '/^```cuda$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$docs" >vadd.cu
library=$(dirname "$(find "$prefix" -name libkernsight.so | head -n 1)")
"$nvcc" vadd.cu -o vadd -I"$prefix/include" -L"$library" -lkernsight -Xlinker -rpath="$library"
./vadd
python3 - <<'END'
import csv
rows = [row for row in csv.DictReader(open("vadd.csv")) if row["Metric"] == "dram__bytes_read.sum"]
assert [row["n"] for row in rows] == ["1048576", "4194304"], rows
for row in rows:
    share = float(row["AvgValue"]) / (8 * int(row["n"]))
    print(f"n = {row['n']}: {share:.4f} of the bytes that the kernel reads")
    assert abs(share - 1) < 0.01
END
