#!/bin/sh
# Makes a NoCloud seed for a local try of cloud-init: a small disk that a virtual machine finds by its label.
#   cloud-init/nocloud-seed.sh seed.img cloud-init/examples/user-data-baked-image.yaml [instance-id] [vendor-data]
#   qemu-system-x86_64 -m 2048 -nographic -machine accel=kvm:tcg -drive file=IMAGE.qcow2,snapshot=on \
#     -drive file=seed.img,format=raw,media=cdrom -nic user -smbios type=1,manufacturer=DigitalOcean,serial=900000001
# Another instance-id makes cloud-init, and gpucheck, begin anew.
set -eu

[ $# -ge 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 64; }
image=$1 user_data=$2 instance_id=${3:-gpucheck-1} vendor_data=${4:-}
head -n 1 "$user_data" | grep -qx '#cloud-config' || { echo "$user_data: its first line is not #cloud-config" >&2; exit 65; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$user_data" "$folder/user-data"
printf 'instance-id: %s\nlocal-hostname: gpucheck\n' "$instance_id" >"$folder/meta-data"
# Empty rather than absent: cloud-init asks again and again for what a seed does not have.
: >"$folder/network-config"
if [ -n "$vendor_data" ]; then cp "$vendor_data" "$folder/vendor-data"; else : >"$folder/vendor-data"; fi

for tool in genisoimage mkisofs xorrisofs; do
    command -v "$tool" >/dev/null || continue
    (cd "$folder" && "$tool" -quiet -output seed.img -volid cidata -rational-rock -joliet user-data meta-data network-config vendor-data)
    cp "$folder/seed.img" "$image"
    exit 0
done
echo "nocloud-seed.sh: needs genisoimage, mkisofs or xorrisofs" >&2
exit 69
