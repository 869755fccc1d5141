#!/usr/bin/env bash
# All that needs a GPU, for a machine that has one: build, tests, comparison with ncu, figures, the
# example, doctor. Goes on whatever fails; each step's output is in OUTDIR, the summary at the end.
#
#     tests/gpu/run_all.sh OUTDIR
#
# Needs cmake, ninja or make, and a C compiler; no test library, no nvcc. ncu is used where it is there.
# Clocks, power, persistence and MIG are left alone.
set -uo pipefail

out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.." || exit 1
build=build/gpu
export LC_ALL=C
summary=$out/summary.txt
: >"$summary"
failures=0

# step NAME SECONDS COMMAND...: its output in OUTDIR/NAME.log, a line in the summary. All together have
# so many seconds that the script ends well before 10 minutes.
readonly ALL=520
step()
{
    local name=$1 limit=$2 start=$SECONDS status=0
    shift 2
    if [ $((ALL - SECONDS)) -lt "$limit" ]; then
        limit=$((ALL - SECONDS > 5 ? ALL - SECONDS : 5))
    fi
    timeout --kill-after=5 "$limit" "$@" >"$out/$name.log" 2>&1 || status=$?
    local word=ok
    case $status in
    0) ;;
    77) word=skipped ;;
    124 | 137) word="FAILED (over $limit s)" ;;
    *) word="FAILED ($status)" ;;
    esac
    [ $status -eq 0 ] || [ $status -eq 77 ] || failures=$((failures + 1))
    printf '%-22s %-20s %4d s\n' "$name" "$word" $((SECONDS - start)) | tee -a "$summary"
    return $status
}

# Lines of a step's log for the summary: say NAME PATTERN [AT MOST].
say()
{
    grep -hE "$2" "$out/$1.log" 2>/dev/null | cut -c1-150 | head -n "${3:-6}" | sed 's/^/    /' | tee -a "$summary"
}

configure()
{
    local generator=Ninja
    command -v ninja >/dev/null || generator="Unix Makefiles"
    # without libyaml the program lacks sweep files, nothing that is needed here
    cmake -G "$generator" -S . -B $build -DCMAKE_BUILD_TYPE=Release -DKS_BUILD_TESTS=OFF \
        -DKS_BUILD_GPU_TESTS=ON "$@"
}

configure_any()
{
    configure || { rm -rf $build && configure -DKS_WITH_YAML=OFF; }
}

# What does not build leaves out its own step alone.
compile()
{
    local go_on=-k
    [ ! -f $build/build.ninja ] || go_on="-k 0"
    # shellcheck disable=SC2086 # an option and its value
    cmake --build $build -j "$(nproc)" -- $go_on
    local status=$?
    cmake --install $build --prefix build/install-gpu && return $status
}

machine()
{
    uname -a
    nvidia-smi
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,temperature.gpu,power.draw \
        --format=csv
    ncu --version
    cc --version
    cmake --version
    true
}

example()
{
    cmake -S examples/cuda -B build/examples-cuda -DCMAKE_PREFIX_PATH="$PWD/build/install-gpu" &&
        cmake --build build/examples-cuda &&
        build/examples-cuda/access --csv "$out/access.csv" \
            ${HAS_GNUPLOT:+--plot "$out/access.svg"} &&
        build/examples-cuda/graph && build/examples-cuda/overlap && build/examples-cuda/cache &&
        build/examples-cuda/devices
}

HAS_GNUPLOT=$(command -v gnuplot || true)
# A step of a shell function, for which timeout needs a shell of its own.
export build out HAS_GNUPLOT
export -f configure configure_any compile machine example
in_shell()
{
    local name=$1 limit=$2
    step "$name" "$limit" bash -c "set -o pipefail; $3"
}

in_shell machine 30 machine
in_shell configure 60 configure_any
in_shell build 150 compile
say build '(error:|undefined reference)' 6
step doctor 30 $build/cli/kernsight doctor
for test in kernels memory counts runs launches tracing graphs waiting threads cases toolkit nvml; do
    step "test-$test" 100 "$build/tests/gpu/gpu_test_$test"
    say "test-$test" '^(not ok|Bail|# [0-9]+ passed)' 5
    say "test-$test" '^# test_' 2
done
step cuda-program 60 tests/gpu/cuda_program.sh build/install-gpu "$out/cuda"
say cuda-program '(of the bytes|Error|error)' 3
step compare-ncu 220 tests/gpu/compare_ncu.sh $build "$out"
say compare-ncu '(agree|beyond its limit|compare_ncu|gpu_zoo)' 14
step launch-metrics 60 tests/gpu/compare_launches.sh $build "$out"
say launch-metrics '(differ|equal)' 8
step bench 150 python3 bench/gpu/bench_gpu.py $build "$out"
say bench '(goal|FAILED)' 12
in_shell example 120 example
if [ "$failures" -eq 0 ]; then
    echo "all steps ended well, in $SECONDS s" | tee -a "$summary"
else
    echo "$failures steps failed, in $SECONDS s; their logs are in $out" | tee -a "$summary"
fi
printf '\n======== summary ========\n'
head -n 56 "$summary"
[ "$failures" -eq 0 ]
