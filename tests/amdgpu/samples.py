#!/usr/bin/env python3
"""Writes one gpu_metrics file a layout, laid out by ctypes from the kernel's declarations; each field has its own number.

usage: samples.py MACHINES_FOLDER OUT_FOLDER
"""
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from amd_files import ATTRIBUTES, FIELDS, SIZES, gpu_metrics  # noqa: E402

NUMBERS = {
    "temperature_hotspot": 41, "temperature_mem": 42, "temperature_vrsoc": 43, "temperature_edge": 44, "curr_socket_power": 255,
    "average_socket_power": 255, "average_gfx_activity": 51, "average_umc_activity": 52, "energy_accumulator": 65536 * 3,
    "system_clock_counter": 99, "accumulation_counter": 1001, "prochot_residency_acc": 1002, "ppt_residency_acc": 1003,
    "socket_thm_residency_acc": 1004, "vr_thm_residency_acc": 1005, "hbm_thm_residency_acc": 1006, "throttle_status": 7,
    "indep_throttle_status": 1 << 40, "gfxclk_lock_status": 9, "pcie_link_width": 16, "pcie_link_speed": 320, "xgmi_link_width": 15,
    "xgmi_link_speed": 32, "pcie_l0_to_recov_count_acc": 2001, "pcie_replay_count_acc": 2002, "pcie_replay_rover_count_acc": 2003,
    "pcie_nak_sent_count_acc": 2004, "pcie_nak_rcvd_count_acc": 2005, "xgmi_read_data_acc": [3001, 3002, 3003, 3004, 3005, 3006, 3007],
    "xgmi_write_data_acc": [4001, 4002, 4003, 4004, 4005, 4006, 4007], "xgmi_link_status": [1, 1, 0, 1, 1, 1, 1, 2],
    "firmware_timestamp": 5001, "current_gfxclk": [101, 102, 103, 104, 105, 106], "current_socclk": [201, 202], "current_uclk": 301,
    "num_partition": 8, "pcie_lc_perf_other_end_recovery": 2006,
}


def main():
    out = Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for layout in SIZES:
        names = {name for name, _ in FIELDS[layout]}
        values = {name: value for name, value in NUMBERS.items() if name in names}
        if layout == "1.3":
            values |= {"current_gfxclk": 101, "current_socclk": 201}
        (out / f"{layout}.bin").write_bytes(gpu_metrics(layout, **values))
        (out / f"{layout}-ones.bin").write_bytes(gpu_metrics(layout))
    values = {name: value for name, value in NUMBERS.items() if name in ATTRIBUTES}
    # An attribute of a later kernel stands between those that are known.
    values = dict(list(values.items())[:5]) | {"temperature_hbm": [60, 61]} | dict(list(values.items())[5:])
    (out / "1.9.bin").write_bytes(gpu_metrics("1.9", **values))


if __name__ == "__main__":
    main()
