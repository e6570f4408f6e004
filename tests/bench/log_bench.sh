#!/bin/sh
# Compares reading a large log with `grep -cE` over the same file, and runs the logs that are meant to hurt: prints MB/s and the
# largest resident size. Usage: log_bench.sh PATH/log_bench_tool [MEGABYTES]
set -eu
tool=$1
megabytes=${2:-200}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# One fault in 10,000 ordinary lines of a busy host.
awk -v bytes=$((megabytes * 1000000)) 'BEGIN {
    for (n = 0; size < bytes; n++) {
        if (n % 10000 == 9999) line = sprintf("[%8d.%06d] NVRM: Xid (PCI:0000:%02x:00): 31, pid=%d, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE CE2", n / 50, n % 1000000, n / 10000 % 8 * 16 + 16, n)
        else if (n % 4 == 0) line = sprintf("[%8d.%06d] IPv6: ADDRCONF(NETDEV_CHANGE): cali%08x: link becomes ready", n / 50, n % 1000000, n * 7)
        else if (n % 4 == 1) line = sprintf("[%8d.%06d] audit: type=1400 audit(%d.043:%d): apparmor=\"STATUS\" operation=\"profile_replace\" name=\"snap.lxd.daemon\" pid=%d", n / 50, n % 1000000, n, n % 999, n % 65536)
        else if (n % 4 == 2) line = sprintf("[%8d.%06d] EXT4-fs (nvme%dn1p2): mounted filesystem with ordered data mode. Quota mode: none.", n / 50, n % 1000000, n % 8)
        else line = sprintf("[%8d.%06d] docker0: port %d(veth%06x) entered forwarding state", n / 50, n % 1000000, n % 64, n % 16777216)
        print line; size += length(line) + 1
    }
}' > "$folder/log"
cat "$folder/log" > /dev/null

pattern='NVRM: Xid|SXid|fallen off the bus|RmInitAdapter failed|Fatal error during GPU init|ring .* timeout|uncorrectable hardware error|IO_PAGE_FAULT'
seconds() { # best of three, wall clock
    best=
    for round in 1 2 3; do
        begin=$(date +%s.%N)
        "$@" > "$folder/out" 2> "$folder/err" || true
        end=$(date +%s.%N)
        best=$(echo "$begin $end ${best:-999999}" | awk '{ t = $2 - $1; print (t < $3 ? t : $3) }')
    done
    echo "$best"
}
rate() { echo "$1 $2" | awk '{ printf "%.0f MB/s", $1 / 1000000 / $2 }'; }
resident() { /usr/bin/time -f %M "$@" 2>&1 > /dev/null | tail -1 | awk '{ printf "%.1f MiB", $1 / 1024 }'; }
measure() { # name file
    size=$(stat -c %s "$2")
    time=$(seconds "$tool" "$2")
    printf '%-34s %7.1f MB  %8.3f s  %12s  %s\n' "$1" "$(echo "$size" | awk '{print $1/1e6}')" "$time" "$(rate "$size" "$time")" "$(resident "$tool" "$2")"
    tail -1 "$folder/out"
}

size=$(stat -c %s "$folder/log")
time_grep=$(seconds env LC_ALL=C grep -cE "$pattern" "$folder/log")
printf '%-34s %7.1f MB  %8.3f s  %12s\n' 'grep -cE, eight alternatives, C' "$(echo "$size" | awk '{print $1/1e6}')" "$time_grep" "$(rate "$size" "$time_grep")"
time_grep=$(seconds grep -cE "$pattern" "$folder/log")
printf '%-34s %7.1f MB  %8.3f s  %12s\n' 'grep -cE, this locale' "$(echo "$size" | awk '{print $1/1e6}')" "$time_grep" "$(rate "$size" "$time_grep")"
measure 'gpucheck log, same file' "$folder/log"
rm "$folder/log"

[ "$megabytes" -ge 100 ] || exit 0
head -c 1073741824 /dev/zero | tr '\0' 'x' > "$folder/line"
measure 'one line of 1 GiB' "$folder/line"
head -c 1073741824 /dev/zero | tr '\0' 'N' > "$folder/line"
measure 'one line of 1 GiB, near an anchor' "$folder/line"
rm "$folder/line"
yes '[ 8801.440172] NVRM: Xid (PCI:0000:2b:00): 45, pid=12, name=python3, Ch 00000008' | head -n 10000000 > "$folder/xids"
measure '10 million Xids' "$folder/xids"
rm "$folder/xids"
yes 'amdgpu 0000:83:00.0: amdgpu: 0 uncorrectable hardware errors detected in total in umc block' | head -n 5000000 > "$folder/near"
measure 'every line a near-miss (RAS)' "$folder/near"
yes '[   12.400000] amdgpu 0000:83:00.0: amdgpu: SMU is initialized successfully!' | head -n 5000000 > "$folder/near"
measure 'every line a driver line' "$folder/near"
yes 'NVRM:     -4    76   GSP_RM_CONTROL        0x0000000020802a02 0x0000000000000008 0x00062ed1a6b480ff 0x00062ed1a6b48273    372us' | head -n 5000000 > "$folder/near"
measure 'every line a history table' "$folder/near"
yes '{"_TRANSPORT":"kernel","PRIORITY":"4","__REALTIME_TIMESTAMP":"1736835611770412","_SOURCE_MONOTONIC_TIMESTAMP":"301770412","_BOOT_ID":"0a1b2c3d4e5f60718293a4b5c6d7e8f9","MESSAGE":"amdgpu 0000:83:00.0: amdgpu: SMU is initialized successfully!"}' | head -n 3000000 > "$folder/near"
measure 'every line journal JSON' "$folder/near"
head -c 500000000 /dev/zero | tr '\0' '\n' > "$folder/near"
measure 'nothing but newlines' "$folder/near"
