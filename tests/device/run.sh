#!/usr/bin/env bash
# Proves on a real GPU, in under eight minutes, that every experiment passes, that injected faults are found, and how
# its speed compares with the vendor's BLAS and the framework's copy in the same run. A part that fails is told and the
# others go on. Needs no network, and with --binary no compiler and no libraries either.
#
# usage: tests/device/run.sh [--binary GPUCHECK] [--out FOLDER] [--seconds N] [-- OPTIONS...]
#   --binary   a ready gpucheck (the release preset's: libstdc++ is in it); without it one is built here
#   --out      where the JSON files, logs and the table go; default: $OUT, or build/device
#   --seconds  of the long run; default 90
#   OPTIONS    for every run of gpucheck
# The exit status is 0 when every step ended as it should, every experiment ran clean and every injected fault was found.
set -u
cd "$(dirname "$0")/../.." || exit 1

usage() { sed -n '/^# usage/,/^# The exit/p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 64; }

gpucheck="" out=${OUT:-build/device} seconds=90 limit=470
while [ $# -gt 0 ]; do
    case $1 in
        --binary) gpucheck=${2:?--binary needs a path}; shift 2 ;;
        --out) out=${2:?--out needs a folder}; shift 2 ;;
        --seconds) seconds=${2:?--seconds needs a number}; shift 2 ;;
        --) shift; break ;;
        *) usage ;;
    esac
done
case $seconds in '' | *[!0-9]*) usage ;; esac
mkdir -p "$out" || exit 1
rm -f "$out"/*.json "$out"/*.log "$out"/*.txt
SECONDS=0
failed=0

# step NAME SECONDS STATUSES COMMAND...: at most so long and never past the limit of all; keeps what was printed.
step() {
    local name=$1 most=$2 good=" $3 " status=0 left=$((limit - SECONDS)) start=$SECONDS
    shift 3
    [ "$most" -le "$left" ] || most=$left
    if [ "$most" -lt 5 ]; then
        echo "FAILED $name: no time left" | tee -a "$out/steps.txt"
        failed=1
        return 1
    fi
    timeout --kill-after=5 "$most" "$@" > "$out/$name.log" 2>&1 || status=$?
    case $good in
        *" $status "*) echo "ok     $name ($((SECONDS - start)) s)" | tee -a "$out/steps.txt"; return 0 ;;
    esac
    echo "FAILED $name: status $status after $((SECONDS - start)) s: $(tail -n 1 "$out/$name.log")" | tee -a "$out/steps.txt"
    failed=1
    return 1
}

build() {
    local folder=build/device-release generator=()
    command -v ninja > /dev/null && generator=(-G Ninja)
    step configure 60 0 cmake "${generator[@]}" -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DGPUCHECK_TESTS=OFF &&
        step build 240 0 cmake --build "$folder" --target gpucheck --parallel "$(nproc)" && gpucheck=$folder/agent/gpucheck
}

# The verdict is not judged here: a bare container is rightly unknown in much that is no business of its GPU.
report() { # NAME SECONDS OPTIONS...
    local name=$1 most=$2
    shift 2
    step "$name" "$most" "0 1 2" "$gpucheck" --format json --output "$out/$name.json" "$@"
}

step machine 20 "0 1 2 127" sh -c 'uname -a; nvidia-smi || rocm-smi' || true
[ -n "$gpucheck" ] || build || true
if [ -n "$gpucheck" ] && step binary 20 0 "$gpucheck" --version; then
    report boot 80 --profile boot "$@"
    for fault in bit lane operand skip; do
        report "inject-$fault" 40 --budget 30 --experiment matrix,pattern,gemm --experiment matrix.ms=5 --inject "$fault" "$@"
    done
    report long $((seconds + 15)) --profile acceptance --budget "$seconds" "$@"
    # What no hardware has proven yet (docs/experiments.md, Paths): each path by itself.
    for path in mma wgmma; do
        report "path-$path" 40 --budget 30 --experiment matrix --experiment "matrix.path=$path" "$@"
    done
else
    failed=1
fi
if timeout --kill-after=5 90 python3 tests/device/vendor.py > "$out/vendor.json" 2> "$out/vendor.log"; then
    echo "ok     vendor" | tee -a "$out/steps.txt"
else
    echo "FAILED vendor: $(tail -n 1 "$out/vendor.log")" | tee -a "$out/steps.txt"
    echo '{"absent": "vendor.py ended early"}' > "$out/vendor.json"
    failed=1
fi
python3 tests/device/table.py "$out" "$out/summary.json" > "$out/table.txt" || failed=1
cat "$out/table.txt"
exit "$failed"
