#!/usr/bin/env python3
"""What the compilers made of the kernels: registers that spilled, a type's instruction that is not there, or a loop that
leaves the matrix unit idle would make a healthy GPU look slow, or test something else than what is reported.

usage: isa.py registers|instructions|busy|nvidia|sass --images DIR --readelf X --objdump X --mca X --ptxas X
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

import cubin

SKIP = 77
AMD = ["gfx90a", "gfx942", "gfx950"]
# The instruction that each kernel is about. gfx90a spells the older names.
EXPECTED = {
    "gfx90a": {"f64": "v_mfma_f64_16x16x4f64", "f16": "v_mfma_f32_32x32x8f16", "bf16": "v_mfma_f32_32x32x8bf16_1k",
               "i8": "v_mfma_i32_32x32x8i8"},
    "gfx942": {"f64": "v_mfma_f64_16x16x4_f64", "f16": "v_mfma_f32_32x32x8_f16", "bf16": "v_mfma_f32_32x32x8_bf16",
               "i8": "v_mfma_i32_32x32x16_i8", "tf32": "v_mfma_f32_32x32x4_xf32",
               "e4m3": "v_mfma_f32_32x32x16_fp8_fp8", "e5m2": "v_mfma_f32_32x32x16_bf8_bf8"},
    "gfx950": {"f64": "v_mfma_f64_16x16x4_f64", "f16": "v_mfma_f32_32x32x16_f16", "bf16": "v_mfma_f32_32x32x16_bf16",
               "i8": "v_mfma_i32_32x32x32_i8",
               **{t: "v_mfma_scale_f32_32x32x64_f8f6f4" for t in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")}},
}
FORMAT_CODE = {"e4m3": 0, "e5m2": 1, "e2m3": 2, "e3m2": 3, "e2m1": 4}  # cbsz and blgp of the scaled instruction
# mma.sync of PTX, by kernel; sm_80 lacks FP8.
PTX = {"f64": "m8n8k4.row.col.f64.f64.f64.f64", "tf32": "m16n8k8.row.col.f32.tf32.tf32.f32",
       "f16": "m16n8k16.row.col.f32.f16.f16.f32", "bf16": "m16n8k16.row.col.f32.bf16.bf16.f32",
       "i8": "m16n8k32.row.col.s32.s8.s8.s32", "e4m3": "m16n8k32.row.col.f32.e4m3.e4m3.f32",
       "e5m2": "m16n8k32.row.col.f32.e5m2.e5m2.f32"}
CHAINS, STEPS = 4, 2
PER_ITERATION = 2 * STEPS * CHAINS


def run(*command, stdin=None):
    done = subprocess.run([str(c) for c in command], input=stdin, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def need(tool, name):
    if tool.endswith("NOTFOUND") or not tool:
        skip(f"{name} is not installed")
    return tool


def amd_images(folder):
    found = [p for p in sorted(folder.glob("*.gfx*")) if p.suffix != ".zst"]
    return found or skip(f"no AMD images in {folder}")


def registers(args):
    """No kernel of any AMD image spills or needs scratch, and each is built for the block size that is launched."""
    readelf, bad, kernels = need(args.readelf, "llvm-readelf"), [], 0
    for image in amd_images(args.images):
        notes = run(readelf, "--notes", image)
        value = {}
        for key, text in re.findall(r"\.(\w+):\s+(\S+)", notes):
            value[key] = text
            if key != "vgpr_spill_count":  # the last but one of a kernel's keys, which are sorted
                continue
            kernels += 1
            bad += [f"{image.name} {value['name']}: {key} {value[key]}"
                    for key in ("vgpr_spill_count", "sgpr_spill_count", "private_segment_fixed_size") if value[key] != "0"]
            name = re.sub(r"\.kd$", "", value.get("symbol", value["name"]))
            most = "256" if name.startswith("matrix") or re.fullmatch(r"gemm_(f16|bf16|e4m3)", name) else "1024"
            if value["max_flat_workgroup_size"] != most:
                bad.append(f"{image.name} {name}: workgroup size {value['max_flat_workgroup_size']}")
            value = {}
        print(f"{image.name:32} {image.stat().st_size:8} bytes")
    return bad, kernels


def kernels_of(objdump, image):
    """Name -> [(offset, instruction, branch target or None)]."""
    kernels, name = {}, None
    for line in run(objdump, "-d", image).splitlines():
        if match := re.match(r"([0-9a-f]+) <(\w+)>:", line):
            name, start = match.group(2), int(match.group(1), 16)
            kernels[name] = []
        elif name and (match := re.match(r"\s+(\S.*?)\s*// ([0-9A-F]+): [0-9A-F ]+(?:<\w+(?:\+0x([0-9a-f]+))?>)?", line)):
            target = int(match.group(3), 16) if match.group(3) else None
            kernels[name].append((int(match.group(2), 16) - start, match.group(1), target))
    return kernels


def inner_loop(instructions):
    """The shortest backward branch around all products of an iteration."""
    loops = []
    for at, text, target in instructions:
        if text.startswith("s_cbranch") and target is not None and target <= at:
            body = [t for offset, t, _ in instructions if target <= offset <= at]
            if sum(t.startswith("v_mfma") for t in body) >= PER_ITERATION:
                loops.append(body)
    return min(loops, key=len) if loops else []


def each_matrix_kernel(args):
    objdump = need(args.objdump, "llvm-objdump")
    images = {p.suffix[1:]: p for p in amd_images(args.images) if p.stem == "matrix"}
    for arch in AMD:
        if arch not in images:
            continue
        kernels = kernels_of(objdump, images[arch])
        if {f"matrix_{t}" for t in EXPECTED[arch]} != {k for k in kernels if k.startswith("matrix_")}:
            raise SystemExit(f"{arch}: kernels are {sorted(kernels)}")
        for kind in EXPECTED[arch]:
            yield arch, kind, kernels[f"matrix_{kind}"]


def instructions(args):
    """The inner loop holds exactly the products of an iteration, all of the instruction that the type is about."""
    bad, kernels = [], 0
    for arch, kind, code in each_matrix_kernel(args):
        kernels += 1
        products = [t for t in inner_loop(code) if t.startswith("v_mfma")]
        names = {re.sub(r"_e64$", "", t.split()[0]) for t in products}
        if names != {EXPECTED[arch][kind]} or len(products) != PER_ITERATION:
            bad.append(f"{arch} {kind}: {len(products)} of {sorted(names)} in the inner loop")
        if "scale" in EXPECTED[arch][kind] and FORMAT_CODE[kind] != 0:
            code_text = f"cbsz:{FORMAT_CODE[kind]} blgp:{FORMAT_CODE[kind]}"
            if not all(code_text in t for t in products):
                bad.append(f"{arch} {kind}: no {code_text} in {products[0]}")
    for image in (p for p in amd_images(args.images) if p.stem == "gemm"):
        arch = image.suffix[1:]
        for name, code in kernels_of(args.objdump, image).items():
            kind = name.removeprefix("gemm_")
            if kind not in EXPECTED[arch]:
                continue
            kernels += 1
            names = {re.sub(r"_e64$", "", t.split()[0]) for _, t, _ in code if t.startswith("v_mfma")}
            if names != {EXPECTED[arch][kind]}:
                bad.append(f"{arch} {name}: {sorted(names)}")
    return bad, kernels


def busy(args):
    """LLVM's machine model sees the matrix unit busy for 95 % of the inner loop, each wave by itself."""
    mca, bad, kernels = need(args.mca, "llvm-mca"), [], 0
    for arch, kind, code in each_matrix_kernel(args):
        kernels += 1
        body = "\n".join(inner_loop(code)) + "\n"
        report = run(mca, "-mtriple=amdgcn", f"-mcpu={arch}", "-iterations=100", stdin=body)
        cycles = int(re.search(r"Total Cycles:\s+(\d+)", report).group(1))
        # FP64 products are on another resource of the model than the rest: count what the products themselves take.
        by_instruction = report.split("Resource pressure by instruction:")[1]
        rows = [re.findall(r"\d+\.\d+", line.split("v_mfma")[0]) for line in by_instruction.splitlines() if "v_mfma" in line]
        share = sum(float(value) for row in rows for value in row) * 100 / cycles
        print(f"{arch} {kind:5} matrix unit busy {share:6.1%} of {cycles} cycles")
        if share < 0.95:
            bad.append(f"{arch} {kind}: {share:.1%}")
    return bad, kernels


def nvidia(args):
    """No spills and no stack, by ptxas on the PTX; each type's mma.sync is in its kernel, for every product."""
    ptxas = need(args.ptxas, "ptxas")
    ptx = args.images / "matrix.compute_89"
    if not ptx.exists():
        skip(f"no NVIDIA images in {args.images}")
    bad, kernels, text = [], 0, ptx.read_text()
    for kind, shape in PTX.items():
        entry = re.search(rf"\.entry matrix_{kind}\b(.*?)\n}}", text, re.S)
        if entry is None:
            bad.append(f"no kernel matrix_{kind}")
            continue
        kernels += 1
        chains = 16 if kind == "f64" else 8
        found = entry.group(1).count("mma.sync.aligned." + shape)
        if found < 3 * STEPS * chains or found != entry.group(1).count("mma.sync"):
            bad.append(f"matrix_{kind}: {found} of {shape}")
    for source in sorted(p for p in args.images.glob("*.compute_*") if p.suffix != ".zst"):
        log = subprocess.run([ptxas, "-v", "-arch=sm_" + source.suffix[-2:], source, "-o", "/dev/null"],
                             capture_output=True, text=True).stderr
        properties = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", log)
        kernels += len(properties)
        bad += [f"{source.name}: {p}" for p in properties if p != ("0", "0", "0")]
        if not properties:
            bad.append(f"{source.name}: ptxas said nothing")
    for image in sorted(args.images.glob("*")):
        if ".sm_" in image.name or ".compute_" in image.name:
            print(f"{image.name:32} {image.stat().st_size:8} bytes")
    return bad, kernels


def expected_sass(image, kind):
    """The matrix instruction of a kernel in an image, and how often; 0: any number."""
    arch = int(re.sub(r"\D", "", image.suffix[1:]))
    if image.stem == "matrix_native":
        name = "QMMA" if arch == 120 else {"i8": "IGMMA", "e4m3": "QGMMA", "e5m2": "QGMMA"}.get(kind, "HGMMA")
        return name, 48 if arch == 120 else 12
    if kind in ("e4m3", "e5m2") and 90 <= arch < 120:
        return "HMMA", 0  # by FP16, in a routine of its own: what matrix_paths.cpp tells of the legacy path
    name = {"f64": "DMMA", "i8": "IMMA", "e4m3": "QMMA", "e5m2": "QMMA"}.get(kind, "HMMA")
    return name, 0 if image.stem == "gemm" else 96 if kind == "f64" else 48


def sass(args):
    """No image has a kernel with a stack, and each matrix kernel holds its type's instruction, for every product, and no
    other. Products of wgmma follow each other without a wait: two fences and two waits in all."""
    images = [p for p in sorted(args.images.glob("*.sm_*")) if p.suffix != ".zst"] or skip(f"no cubins in {args.images}")
    bad, kernels = [], 0
    for image in images:
        bad += [f"{image.name} {name}: {bytes_} bytes of stack" for name, bytes_ in cubin.stacks(image).items() if bytes_]
        for name, counts in cubin.opcodes(image).items():
            kernels += 1
            kind = name.split("_")[-1]
            found = cubin.matrix_opcodes(counts)
            if not re.fullmatch(r"(matrix|wgmma|f8f6f4|gemm)_(?!check)[a-z0-9]+", name):
                if found:
                    bad.append(f"{image.name} {name}: {found}")
                continue
            wanted, times = expected_sass(image, kind)
            if set(found) != {wanted} or times not in (0, found[wanted]):
                bad.append(f"{image.name} {name}: {found}, not {times or 'any'} {wanted}")
            if name.startswith("wgmma") and counts[cubin.WARPGROUP] != 4:
                bad.append(f"{image.name} {name}: {counts[cubin.WARPGROUP]} fences and waits")
    return bad, kernels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["registers", "instructions", "busy", "nvidia", "sass"])
    parser.add_argument("--images", type=Path, required=True)
    for tool in ("readelf", "objdump", "mca", "ptxas"):
        parser.add_argument(f"--{tool}", default="")
    args = parser.parse_args()
    part = {"registers": registers, "instructions": instructions, "busy": busy, "nvidia": nvidia, "sass": sass}[args.part]
    bad, kernels = part(args)
    for line in bad:
        print(f"wrong: {line}")
    print(f"{kernels} kernels, {len(bad)} wrong")
    return 1 if bad or kernels == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
