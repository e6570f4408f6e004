"""Reports of machines that do not exist, as gpucheck writes them, for tests of the command line."""
import random


def report(number, factor=1.0, seed=1, node=None, **members):
    draw = random.Random(seed * 100_003 + number)

    def gpu(index):
        speed = {"memory_read_gb_s": 3020, "bf16_tflops": 742, "host_link_h2d_gb_s": 55}
        return {"bdf": f"0000:{0x10 + index:02x}:00.0", "vendor": "nvidia", "board_key": "h100-sxm-80gb", "serial": f"16{number:05d}{index}",
                "uuid": f"GPU-{number}-{index}", "vbios_version": "96.00.99.00.01", "verdict": "pass",
                "measurements": {name: round(draw.gauss(value, value * 0.004) * factor, 2) for name, value in speed.items()}}

    made = {"schema_version": "1.0", "report_id": f"01a22e6d-f626-713c-92c0-{seed:04x}{number:08x}", "created": "2026-11-30T10:00:00Z",
            "boot_id": f"boot-{seed}-{number}", "tool": {"name": "gpucheck", "version": "0.1.0"}, "profile": "acceptance", "duration_s": 60,
            "simulated": False, "injected": None, "machine": None, "verdict": "pass", "gpu_count": {"expected": 8, "pci": 8, "bound": 8},
            "instance": {"provider": "aws", "type": "p5.48xlarge", "id": f"i-{number:05d}", "region": "us-east-1", "zone": f"z{number % 3}",
                         "price": {"instance_usd": 20.72}},
            "host": {"hostname": node or f"node-{number:03d}", "kernel": "6.8.0", "os": "Ubuntu 24.04", "drivers": {"nvidia": "570.133.20", "amdgpu": None}},
            "gpus": [gpu(index) for index in range(8)],
            "checks": [{"id": name, "verdict": "pass", "required": True}
                       for name in ("run", "gpu.count", "driver.loaded", "driver.bound", "nodes.access", "pcie.width")],
            "findings": [], "cost": []}
    made.update(members)
    return made


def failing(number, **members):
    made = report(number, **members)
    made["verdict"] = "fail"
    made["checks"][-1]["verdict"] = "fail"
    made["gpus"][3]["verdict"] = "fail"
    made["findings"] = [{"code": "pcie.link.narrow", "check": "pcie.width", "verdict": "fail", "scope": "host", "subject": made["gpus"][3]["bdf"],
                         "action": "drain_and_replace"}]
    return made
