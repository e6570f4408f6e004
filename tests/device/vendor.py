#!/usr/bin/env python3
"""What the vendor's BLAS and the framework's copy reach on the first GPU, as JSON: the rates to compare with.

Uses PyTorch where it is installed, since it brings cuBLAS or hipBLASLt; without it the answer says so.
"""
import json
import statistics
import sys


def median_seconds(work, synchronize, event, repeats=20):
    work()  # the first one pays for plans and clocks
    samples = []
    for _ in range(repeats):
        start, stop = event(), event()
        start.record()
        work()
        stop.record()
        synchronize()
        samples.append(start.elapsed_time(stop) / 1000)
    return statistics.median(samples)


def main():
    try:
        import torch
    except ImportError as error:
        print(json.dumps({"absent": f"PyTorch: {error}"}))
        return
    if not torch.cuda.is_available():
        print(json.dumps({"absent": "PyTorch sees no GPU"}))
        return
    result = {"library": f"PyTorch {torch.__version__}", "gpu": torch.cuda.get_device_name(0)}
    size = 8192
    operations = 2 * size**3

    def event():
        return torch.cuda.Event(enable_timing=True)

    a = torch.randint(-4, 5, (size, size), device="cuda").to(torch.bfloat16)
    b = torch.randint(-4, 5, (size, size), device="cuda").to(torch.bfloat16)
    seconds = median_seconds(lambda: torch.matmul(a, b), torch.cuda.synchronize, event)
    result["bf16_tflops"] = operations / seconds / 1e12
    try:
        a8, b8 = a.to(torch.float8_e4m3fn), b.t().contiguous().to(torch.float8_e4m3fn).t()
        one = torch.ones((), device="cuda")
        seconds = median_seconds(
            lambda: torch._scaled_mm(a8, b8, scale_a=one, scale_b=one, out_dtype=torch.bfloat16),
            torch.cuda.synchronize, event)
        result["e4m3_tflops"] = operations / seconds / 1e12
    except (RuntimeError, AttributeError, TypeError, NotImplementedError) as error:
        result["e4m3_absent"] = str(error).splitlines()[0]
    words = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(words)
    seconds = median_seconds(lambda: target.copy_(words), torch.cuda.synchronize, event)
    result["copy_gb_s"] = 2 * words.numel() / seconds / 1e9
    print(json.dumps(result))


if __name__ == "__main__":
    sys.exit(main())
