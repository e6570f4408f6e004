#!/usr/bin/env bash
# The commands of the README:
#   ./setup.sh run    install what is needed, build, validate this machine, show a recorded failing one
#   ./setup.sh test   install what is needed, build, run every test
#   ./setup.sh package   install what is needed, build, make a .deb and (where rpmbuild is) an .rpm
# Works on a fresh Debian 12 or Ubuntu 22.04/24.04, as root or with sudo.
set -eu
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

# Debian's names; the same on Ubuntu 22.04 and 24.04.
packages_run="g++ cmake ninja-build pkg-config nlohmann-json3-dev libspdlog-dev libfmt-dev libcli11-dev zlib1g-dev liblzma-dev libzstd-dev
libcurl4-openssl-dev libssl-dev libsimdjson-dev libjs-chart.js libboost-dev libsqlite3-dev libpqxx-dev"
packages_test="$packages_run libgtest-dev postgresql python3 python3-jsonschema python3-yaml binutils man-db git dpkg-dev file genisoimage
mmdebstrap debian-archive-keyring qemu-system-x86 qemu-utils e2fsprogs shellcheck yamllint slurmctld slurmd slurm-client munge"

# The fleet's page in a browser; Ubuntu's chromium is a snap, which CI's containers cannot run. Without it that test is skipped.
! grep -qx 'ID=debian' /etc/os-release 2>/dev/null || packages_test="$packages_test chromium"

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
        echo "setup.sh: installing packages needs root or sudo: $*" >&2
        exit 1
    fi
}

install_packages() {
    command -v apt-get >/dev/null || {
        echo "setup.sh: this script knows Debian and Ubuntu; elsewhere install: $*" >&2
        return 0
    }
    local missing=""
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    say "Installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -qq
    # shellcheck disable=SC2086  # a list of names
    as_root apt-get install -y -qq --no-install-recommends $missing
}

# GCC before 12 lacks parts of C++20 that we use; Ubuntu 22.04 has 11 by default and 12 beside it.
choose_compiler() {
    [ -z "${CXX:-}" ] || return 0
    local version
    version=$(g++ -dumpversion 2>/dev/null | cut -d. -f1)
    if [ "${version:-0}" -lt 12 ]; then
        install_packages g++-12
        CXX=g++-12
        export CXX
    fi
}

# GPU images need a compiler each: clang 22 (AMD; ROCm's amdclang++ does too) and nvcc (NVIDIA). What is missing is said, and
# the report of such a build says it again for each GPU it could not test.
install_gpu_compilers() {
    local amd="" package
    for package in clang-22 clang-21 clang-20; do
        [ -n "$amd" ] || ! command -v "clang++-${package#clang-}" >/dev/null || amd=$package
    done
    if [ -z "$amd" ] && ! [ -x /opt/rocm/bin/amdclang++ ] && command -v apt-cache >/dev/null; then
        [ -n "$(ls /var/lib/apt/lists/*Packages* 2>/dev/null)" ] || as_root apt-get update -qq
        if apt-cache policy clang-22 lld-22 llvm-22 2>/dev/null | grep -c 'Candidate: [^(]' | grep -qx 3; then
            install_packages clang-22 lld-22 llvm-22
            amd=clang-22
        fi
    fi
    [ -n "$amd" ] || [ -x /opt/rocm/bin/amdclang++ ] ||
        say "No clang 20 or newer here: the AMD images (gfx90a gfx942 gfx950 gfx1100 gfx1201) will be absent from this build"
    command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] ||
        say "No nvcc here: the NVIDIA images (sm_80 sm_89 sm_90 sm_100 sm_120, PTX) will be absent from this build"
}

# promtool alone: installing its package would start a Prometheus server on this machine.
get_promtool() {
    if ! command -v promtool >/dev/null && ! [ -x build/tools/promtool ]; then
        say "Unpacking promtool"
        mkdir -p build/tools/unpacked
        (cd build/tools && apt-get download -qq prometheus && dpkg-deb -x prometheus_*.deb unpacked && cp unpacked/usr/bin/promtool .) ||
            say "No promtool here: alert rules are tested without it"
        rm -rf build/tools/unpacked build/tools/prometheus_*.deb
    fi
    PATH=$PATH:$PWD/build/tools
}

build() { # preset
    choose_compiler
    say "Building ($1)"
    cmake --preset "$1" >"build-$1.log" 2>&1 || { cat "build-$1.log"; exit 1; }
    rm -f "build-$1.log"
    cmake --build --preset "$1"
}

run() {
    # shellcheck disable=SC2086
    install_packages $packages_run
    install_gpu_compilers
    build release
    local gpucheck=build/release/agent/gpucheck status=0

    say "This machine"
    "$gpucheck" --output build/report.json || status=$?
    [ "$status" -le 2 ] || exit "$status"

    say "A recorded machine: eight GPUs were promised, seven are on the bus"
    "$gpucheck" --machine tests/machines/h100-x8-one-missing --expect gpu_count=8 --output build/report-example.json || true

    say "Try next: $gpucheck --help, $gpucheck explain, $gpucheck list"
    echo "verdict of this machine: exit status $status (0 pass or warn, 1 fail, 2 unknown)"
    echo "report: $PWD/build/report.json"
}

# The last lines of a long log say which tests failed; this says why, in a few lines each.
ring() { # preset, tests at once
    ctest --preset "$1" -j"$2" && return 0
    say "What failed in $1"
    awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3; said = ""; lines = more = 0 }
        /^ *(FAIL|ERROR|Traceback|AssertionError)|: Failure$|: error: |Sanitizer:/ { more = /: Failure$/ ? 6 : 1 }
        more > 0 && lines < 30 { more--; lines++; said = said "    " substr($0, 1, 400) "\n" }
        /^Test (Failed|timeout)/ { print name; printf "%s", said }' "build/$1/Testing/Temporary/LastTest.log"
    return 1
}

run_tests() {
    # shellcheck disable=SC2086
    install_packages $packages_test
    get_promtool
    install_gpu_compilers
    build ci
    say "Tests"
    ring ci 3
    if [ "${GPUCHECK_SANITIZERS:-1}" = 1 ]; then
        build asan
        say "Tests under AddressSanitizer and UndefinedBehaviorSanitizer"
        ring asan 2
    fi
}

make_packages() {
    # shellcheck disable=SC2086
    install_packages $packages_run dpkg-dev file gzip
    install_gpu_compilers
    build release
    local generators=DEB
    ! command -v rpmbuild >/dev/null || generators="DEB;RPM"
    say "Packages ($generators)"
    (cd build/release && cpack -G "$generators" -B packages)
    ls -l build/release/packages/*.deb build/release/packages/*.rpm 2>/dev/null || true
}

case "${1:-}" in
    run) run ;;
    test) run_tests ;;
    package) make_packages ;;
    *)
        sed -n '2,6s/^# \{0,1\}//p' "$0"
        exit 64
        ;;
esac
