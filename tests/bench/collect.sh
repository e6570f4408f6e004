#!/usr/bin/env bash
# Durable reports a second of the receiver over loopback keep-alive, and the latency of its answers.
# usage: collect.sh BUILD_DIR [REPORTS] [CONNECTIONS] [MACHINE] [DB]
# It ends by itself, listens on 127.0.0.1 alone and leaves nothing behind. Rates belong to one disk and one machine: say which.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1 reports=${2:-20000} connections=${3:-256} machine=${4:-$here/../machines/no-gpu-vm}
folder=$(mktemp -d)
database=${5:-$folder/reports.db}
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
"$build/agent/gpucheck" --machine "$machine" --format json >"$folder/report.json" || true
openssl genpkey -algorithm ed25519 -out "$folder/key.pem" 2>/dev/null
"$build/tests/fleet/collect/fleet_collect_server" --listen 127.0.0.1:0 --db "$database" >"$folder/said" &
server=$!
for _ in $(seq 100); do [ -s "$folder/said" ] && break; sleep 0.05; done
port=$(sed -n 's/.*:\([0-9]*\)$/\1/p' "$folder/said")
echo "a report has $(wc -c <"$folder/report.json") bytes; a signed envelope is sent as gzip"
"$build/tests/fleet/collect/fleet_collect_load" send "$port" "$folder/report.json" "$folder/key.pem" "$reports" "$connections"
ticks=$(awk '{print $14 + $15}' "/proc/$server/stat")
echo "the receiver used $((ticks * 1000000 / $(getconf CLK_TCK) / reports)) us of CPU a report, $(awk '/VmHWM/ {print $2}' "/proc/$server/status") KiB at most"
