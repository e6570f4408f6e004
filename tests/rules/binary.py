#!/usr/bin/env python3
"""The release binary starts on Ubuntu 22.04: no symbol newer than GLIBC_2.35, no shared libstdc++ and no vendor library, <= 6 MiB.

Releases are built on Debian 12. What a newer C library compiles needs that one, which is said and no fault.

usage: binary.py GPUCHECK
"""
import os
import re
import subprocess
import sys

ALLOWED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def main():
    binary = sys.argv[1]
    symbols = subprocess.run(["objdump", "-T", binary], capture_output=True, text=True, check=True).stdout
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9.]+)", symbols)}
    needed = set(re.findall(r"NEEDED\s+(\S+)", subprocess.run(["objdump", "-p", binary], capture_output=True, text=True, check=True).stdout))
    stripped = binary + ".stripped"
    subprocess.run(["strip", "-o", stripped, binary], check=True)
    size = os.path.getsize(stripped)
    os.unlink(stripped)
    problems = []
    here = tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[-1].split(".")))
    if here > (2, 36):
        print(f"built with the C library {'.'.join(map(str, here))}: packages of this build are for machines of that age only")
    elif max(versions) > (2, 35):
        problems.append(f"needs GLIBC_{'.'.join(map(str, max(versions)))}")
    if needed - ALLOWED:
        problems.append(f"needs {sorted(needed - ALLOWED)}")
    if size > 6 * 1024 * 1024:
        problems.append(f"{size} bytes stripped is more than 6 MiB")
    for problem in problems:
        print(problem)
    print(f"newest symbol GLIBC_{'.'.join(map(str, max(versions)))}, needs {sorted(needed)}, {size / 1048576:.2f} MiB stripped")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
