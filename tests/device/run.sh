#!/usr/bin/env bash
# Proves on a real GPU, in under eight minutes, that every experiment passes, that injected faults are found, and how
# its speed compares with the vendor's BLAS and the framework's copy in the same run. Writes JSON and a table to $OUT.
#
# usage: OUT=FOLDER tests/device/run.sh [SECONDS for the long run, default 90]
set -u
cd "$(dirname "$0")/../.."
out=${OUT:-build/device}
seconds=${1:-90}
build=build/device-release
mkdir -p "$out"
: > "$out/steps.txt"

step() {  # NAME EXPECTED_EXIT COMMAND...: keeps what it printed, says whether the status is the expected one
    local name=$1 expected=$2 status=0
    shift 2
    "$@" > "$out/$name.log" 2>&1 || status=$?
    if [ "$status" = "$expected" ]; then echo "ok     $name"; else echo "FAILED $name: status $status, not $expected"; fi | tee -a "$out/steps.txt"
}

step configure 0 cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DGPUCHECK_TESTS=OFF
step build 0 cmake --build "$build" --target gpucheck --parallel "$(nproc)"
gpucheck=$build/agent/gpucheck
[ -x "$gpucheck" ] || { tail -n 40 "$out/build.log"; exit 1; }

# What the experiments say; other checks of a bare container may well be unknown, so that the status is not judged here.
/usr/bin/env time -f '%e' -o "$out/boot.seconds" "$gpucheck" --profile boot --format json --output "$out/boot.json" > /dev/null 2> "$out/boot.err"
"$gpucheck" --profile acceptance --budget "$seconds" --format json --output "$out/long.json" > /dev/null 2> "$out/long.err"
# What no hardware has proven yet (docs/experiments.md, Paths): each path by itself, and the large product alone.
for path in mma wgmma; do
    "$gpucheck" --experiment matrix --experiment "matrix.path=$path" --format json --budget 60 \
        --output "$out/path-$path.json" > /dev/null 2> "$out/path-$path.err"
done
"$gpucheck" --experiment gemm --format json --budget 60 --output "$out/gemm.json" > /dev/null 2> "$out/gemm.err"
for fault in bit lane operand skip; do
    "$gpucheck" --experiment matrix,pattern,gemm --experiment matrix.ms=5 --inject "$fault" --format json --budget 60 \
        --output "$out/inject-$fault.json" > /dev/null 2> "$out/inject-$fault.err"
done

python3 tests/device/vendor.py > "$out/vendor.json" 2> "$out/vendor.err" || echo '{}' > "$out/vendor.json"
python3 tests/device/table.py "$out" | tee "$out/table.txt"
