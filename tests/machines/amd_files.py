"""amdgpu's telemetry files for recorded machines: gpu_metrics as the kernel's structs lay it out, RAS, hwmon, clocks.

The structs are declared field by field as in drivers/gpu/drm/amd/include/kgd_pp_interface.h and laid out by ctypes with C's
rules, so that the offsets in the product's tables are checked by something that was not copied from them. Numbers are our own.
"""
import ctypes
import struct

U8, U16, U32, U64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64

HEADER = [("structure_size", U16), ("format_revision", U8), ("content_revision", U8)]
RESIDENCY = [("accumulation_counter", U32), ("prochot_residency_acc", U32), ("ppt_residency_acc", U32),
             ("socket_thm_residency_acc", U32), ("vr_thm_residency_acc", U32), ("hbm_thm_residency_acc", U32)]
SENSORS = [("temperature_hotspot", U16), ("temperature_mem", U16), ("temperature_vrsoc", U16), ("curr_socket_power", U16),
           ("average_gfx_activity", U16), ("average_umc_activity", U16)]
LINKS = [("gfxclk_lock_status", U32), ("pcie_link_width", U16), ("pcie_link_speed", U16), ("xgmi_link_width", U16),
         ("xgmi_link_speed", U16), ("gfx_activity_acc", U32), ("mem_activity_acc", U32), ("pcie_bandwidth_acc", U64),
         ("pcie_bandwidth_inst", U64), ("pcie_l0_to_recov_count_acc", U64), ("pcie_replay_count_acc", U64),
         ("pcie_replay_rover_count_acc", U64)]
NAKS = [("pcie_nak_sent_count_acc", U32), ("pcie_nak_rcvd_count_acc", U32)]
XGMI = [("xgmi_read_data_acc", U64 * 8), ("xgmi_write_data_acc", U64 * 8)]
CLOCKS = [("firmware_timestamp", U64), ("current_gfxclk", U16 * 8), ("current_socclk", U16 * 4), ("current_vclk0", U16 * 4),
          ("current_dclk0", U16 * 4), ("current_uclk", U16)]
ENERGY = [("energy_accumulator", U64), ("system_clock_counter", U64)]
MEDIA = [("vcn_activity", U16 * 4), ("jpeg_activity", U16 * 32)]

FIELDS = {
    "1.3": HEADER + [("temperature_edge", U16), ("temperature_hotspot", U16), ("temperature_mem", U16),
                     ("temperature_vrgfx", U16), ("temperature_vrsoc", U16), ("temperature_vrmem", U16),
                     ("average_gfx_activity", U16), ("average_umc_activity", U16), ("average_mm_activity", U16),
                     ("average_socket_power", U16)] + ENERGY +
           [(f"average_{n}", U16) for n in ("gfxclk_f", "socclk_f", "uclk_f", "vclk0_f", "dclk0_f", "vclk1_f", "dclk1_f")] +
           [(f"current_{n}", U16) for n in ("gfxclk", "socclk", "uclk", "vclk0", "dclk0", "vclk1", "dclk1")] +
           [("throttle_status", U32), ("current_fan_speed", U16), ("pcie_link_width", U16), ("pcie_link_speed", U16),
            ("padding", U16), ("gfx_activity_acc", U32), ("mem_activity_acc", U32), ("temperature_hbm", U16 * 4),
            ("firmware_timestamp", U64), ("voltage_soc", U16), ("voltage_gfx", U16), ("voltage_mem", U16), ("padding1", U16),
            ("indep_throttle_status", U64)],
    "1.4": HEADER + SENSORS + MEDIA[:1] + ENERGY + [("throttle_status", U32)] + LINKS + XGMI + CLOCKS + [("padding", U16)],
    "1.5": HEADER + SENSORS + MEDIA + ENERGY + [("throttle_status", U32)] + LINKS + NAKS + XGMI + CLOCKS + [("padding", U16)],
    # The 1.6 that the kernel had first and took back: same revision, 384 bytes.
    "1.6-early": HEADER + SENSORS + MEDIA + ENERGY + RESIDENCY + [("throttle_status", U32)] + LINKS + NAKS + XGMI + CLOCKS +
                 [("padding", U16)],
}


def partitions(*arrays):
    class Partition(ctypes.Structure):
        _fields_ = list(arrays)
    return Partition * 8


BUSY = [("gfx_busy_inst", U32 * 8), ("jpeg_busy", U16 * 32), ("vcn_busy", U16 * 4), ("gfx_busy_acc", U64 * 8)]
BUSY_40 = [("gfx_busy_inst", U32 * 8), ("jpeg_busy", U16 * 40), ("vcn_busy", U16 * 4), ("gfx_busy_acc", U64 * 8)]
FIELDS["1.6"] = (HEADER + SENSORS + ENERGY + RESIDENCY + LINKS + NAKS + XGMI + CLOCKS + [("num_partition", U16)] +
                 [("xcp_stats", partitions(*BUSY)), ("pcie_lc_perf_other_end_recovery", U32)])


def with_link_status(stats):
    return (HEADER + SENSORS + [("mem_max_bandwidth", U64)] + ENERGY + RESIDENCY + LINKS + NAKS + XGMI +
            [("xgmi_link_status", U16 * 8), ("padding", U16)] + CLOCKS + [("num_partition", U16)] +
            [("xcp_stats", stats), ("pcie_lc_perf_other_end_recovery", U32)])


FIELDS["1.7"] = with_link_status(partitions(*BUSY, ("below_host_limit", U64 * 8)))
FIELDS["1.8-early"] = with_link_status(partitions(*BUSY_40, ("ppt", U64 * 8), ("thm", U64 * 8), ("low_utilization", U64 * 8)))
FIELDS["1.8"] = with_link_status(partitions(*BUSY_40, ("ppt", U64 * 8), ("thm", U64 * 8), ("low_utilization", U64 * 8),
                                            ("total", U64 * 8)))
SIZES = {"1.3": 120, "1.4": 288, "1.5": 360, "1.6-early": 384, "1.6": 1664, "1.7": 2208, "1.8-early": 3360, "1.8": 3872}

# Attributes of layout 1.9: name -> (id, unit, type); enum amdgpu_metrics_attr_{id,unit,type}.
TYPES = {"u8": (0, "B"), "s8": (1, "b"), "u16": (2, "H"), "s16": (3, "h"), "u32": (4, "I"), "s32": (5, "i"), "u64": (6, "Q"),
         "s64": (7, "q")}
ATTRIBUTES = {
    "temperature_hotspot": (0, 2, "u16"), "temperature_mem": (1, 2, "u16"), "temperature_vrsoc": (2, 2, "u16"),
    "curr_socket_power": (3, 3, "u16"), "average_gfx_activity": (4, 10, "u16"), "average_umc_activity": (5, 10, "u16"),
    "mem_max_bandwidth": (6, 8, "u64"), "energy_accumulator": (7, 0, "u64"), "system_clock_counter": (8, 4, "u64"),
    "accumulation_counter": (9, 0, "u32"), "prochot_residency_acc": (10, 0, "u32"), "ppt_residency_acc": (11, 0, "u32"),
    "socket_thm_residency_acc": (12, 0, "u32"), "vr_thm_residency_acc": (13, 0, "u32"), "hbm_thm_residency_acc": (14, 0, "u32"),
    "gfxclk_lock_status": (15, 0, "u32"), "pcie_link_width": (16, 0, "u16"), "pcie_link_speed": (17, 7, "u16"),
    "xgmi_link_width": (18, 0, "u16"), "xgmi_link_speed": (19, 6, "u16"), "gfx_activity_acc": (20, 10, "u32"),
    "mem_activity_acc": (21, 10, "u32"), "pcie_l0_to_recov_count_acc": (24, 0, "u64"), "pcie_replay_count_acc": (25, 0, "u64"),
    "pcie_replay_rover_count_acc": (26, 0, "u64"), "pcie_nak_sent_count_acc": (27, 0, "u32"),
    "pcie_nak_rcvd_count_acc": (28, 0, "u32"), "xgmi_read_data_acc": (29, 9, "u64"), "xgmi_write_data_acc": (30, 9, "u64"),
    "xgmi_link_status": (31, 0, "u16"), "firmware_timestamp": (32, 5, "u64"), "current_gfxclk": (33, 1, "u16"),
    "current_socclk": (34, 1, "u16"), "current_uclk": (37, 1, "u16"), "num_partition": (38, 0, "u16"),
    "pcie_lc_perf_other_end_recovery": (39, 0, "u32"), "temperature_hbm": (48, 2, "u16"),
}


def metrics_1_9(values):
    """Header, attribute count, then each attribute as its packed encoding and its values."""
    body = b""
    for name, value in values.items():
        ident, unit, kind = ATTRIBUTES[name]
        code, letter = TYPES[kind]
        items = value if isinstance(value, (list, tuple)) else [value]
        body += struct.pack("<Q", unit << 24 | code << 20 | ident << 10 | len(items))
        body += struct.pack(f"<{len(items)}{letter}", *items)
    return struct.pack("<HBBi", 8 + len(body), 1, 9, len(values)) + body


def gpu_metrics(layout, **values):
    """The file's bytes; every field that is not given is all ones, as the driver leaves what it does not know."""
    if layout == "1.9":
        return metrics_1_9(values)

    class Metrics(ctypes.LittleEndianStructure):
        _fields_ = FIELDS[layout]
    size = ctypes.sizeof(Metrics)
    assert size == SIZES[layout], (layout, size)
    metrics = Metrics.from_buffer(bytearray(b"\xff" * size))
    metrics.structure_size, metrics.format_revision, metrics.content_revision = size, 1, int(layout[2])
    for name, value in values.items():
        if isinstance(value, (list, tuple)):
            for i, item in enumerate(value):
                getattr(metrics, name)[i] = item
        else:
            assert hasattr(metrics, name), name
            setattr(metrics, name, value)
    return bytes(metrics)


def metrics_values(layout, index=0, partitions_now=1, guest=False, **changes):
    """What an idle, healthy GPU says: it has throttled for power in its life (ppt), and for nothing else."""
    values = {"temperature_hotspot": 46 + index, "temperature_mem": 39 + index, "average_gfx_activity": 0, "average_umc_activity": 0,
              "energy_accumulator": 1835008000 + index * 65536, "system_clock_counter": 905000000000, "pcie_link_width": 16,
              "firmware_timestamp": 90500000000 + index}
    if layout == "1.3":
        values |= {"temperature_edge": 38, "temperature_vrsoc": 41, "average_socket_power": 41, "current_gfxclk": 800, "current_socclk": 1090,
                   "current_uclk": 1600, "throttle_status": 0, "indep_throttle_status": 0, "pcie_link_speed": 160, "gfx_activity_acc": 0,
                   "mem_activity_acc": 0}
    else:
        values |= {"temperature_vrsoc": 42, "curr_socket_power": 132 + index, "gfxclk_lock_status": 0, "pcie_link_speed": 320,
                   "xgmi_link_width": 16, "xgmi_link_speed": 32, "gfx_activity_acc": 120034, "mem_activity_acc": 40011,
                   "pcie_l0_to_recov_count_acc": 1, "pcie_replay_count_acc": 0, "pcie_replay_rover_count_acc": 0,
                   "xgmi_read_data_acc": [4096 * (i + 1) for i in range(7)] + [0],
                   "xgmi_write_data_acc": [2048 * (i + 1) for i in range(7)] + [0], "current_gfxclk": [132] * 8, "current_socclk": [29] * 4,
                   "current_uclk": 900}
        if layout in ("1.4", "1.5"):
            values |= {"throttle_status": 0}
        if layout != "1.4":
            values |= {"pcie_nak_sent_count_acc": 0, "pcie_nak_rcvd_count_acc": 0}
        if layout[2] >= "6":
            values |= {"accumulation_counter": 905113, "prochot_residency_acc": 0, "ppt_residency_acc": 21345, "socket_thm_residency_acc": 0,
                       "vr_thm_residency_acc": 0, "hbm_thm_residency_acc": 0}
            if layout != "1.6-early":
                values |= {"num_partition": partitions_now, "pcie_lc_perf_other_end_recovery": 0}
        if layout[2] >= "7":
            values["xgmi_link_status"] = [1] * 7 + [2]
        if guest:  # the host keeps the counters of the PCIe link
            for name in [n for n in values if n.startswith("pcie_") and "link" not in n]:
                del values[name]
    return values | changes


RAS_BLOCKS = ("athub", "gfx", "hdp", "mmhub", "pcie_bif", "sdma", "umc", "xgmi_wafl")


def ras_files(m, path, deferred=True, counts=None, pages=""):
    """`counts`: block -> (ue, ce, de); all others are zero."""
    m.file(f"{path}/ras/features", "feature mask: 0x7fff")
    for block in RAS_BLOCKS:
        ue, ce, de = (counts or {}).get(block, (0, 0, 0))
        m.file(f"{path}/ras/{block}_err_count", f"ue: {ue}\nce: {ce}\n" + (f"de: {de}\n" if deferred else ""))
    m.file(f"{path}/ras/gpu_vram_bad_pages", pages)
    return m


def hwmon_files(m, path, index, temperatures, power, cap_w, idle_w=130):
    """`temperatures`: label -> (degrees, critical, emergency); `power` is power1_input or power1_average."""
    folder = f"{path}/hwmon/hwmon{3 + index}"
    m.file(f"{folder}/name", "amdgpu")
    numbers = {"edge": 1, "junction": 2, "mem": 3}
    for label, (now, critical, emergency) in temperatures.items():
        stem = f"{folder}/temp{numbers[label]}"
        m.file(f"{stem}_label", label).file(f"{stem}_input", str(now * 1000))
        m.file(f"{stem}_crit", str(critical * 1000)).file(f"{stem}_emergency", str(emergency * 1000))
    m.file(f"{folder}/{power}", str(idle_w * 1000000))
    for name in ("power1_cap", "power1_cap_default", "power1_cap_max"):
        m.file(f"{folder}/{name}", str(cap_w * 1000000))
    m.file(f"{folder}/power1_cap_min", "0")
    return m


# device id -> layout of gpu_metrics, watts of the cap (AMD's data sheets), top clocks of shader and memory
KINDS = {0x740f: ("1.3", 300, 1700, 1600), 0x75a0: ("1.8", 1000, 2200, 1900), 0x75a3: ("1.8", 1400, 2400, 1900),
         0x74a5: ("1.7", 1000, 2100, 1500), 0x74b9: ("1.7", 1000, 2100, 1500)}


def telemetry_files(m, path, index, device, guest=False, partitions_now=1, layout=None, metrics=None, ras=None):
    """Everything amdgpu's sysfs says of a healthy GPU. `metrics`: fields of gpu_metrics to change."""
    usual, cap_w, sclk, mclk = KINDS.get(device, ("1.7", 750, 2100, 1300))
    layout = layout or usual
    old = layout == "1.3"
    m.file(f"{path}/gpu_metrics", gpu_metrics(layout, **metrics_values(layout, index, partitions_now, guest, **(metrics or {}))))
    temperatures = {"junction": (46 + index, 100, 105), "mem": (39 + index, 105, 110)}
    if old:
        temperatures["edge"] = (38, 100, 105)
    hwmon_files(m, path, index, temperatures, "power1_average" if old else "power1_input", cap_w, 41 if old else 132 + index)
    m.file(f"{path}/pp_dpm_sclk", f"0: 500Mhz \n1: 800Mhz *\n2: {sclk}Mhz \n" if old else f"S: 132Mhz *\n0: 500Mhz\n1: {sclk}Mhz\n")
    m.file(f"{path}/pp_dpm_mclk", f"0: 400Mhz \n1: {mclk}Mhz *\n" if old else f"0: 900Mhz *\n1: 1200Mhz\n2: {mclk}Mhz\n")
    m.file(f"{path}/power_dpm_force_performance_level", "auto")
    m.file(f"{path}/gpu_busy_percent", "0").file(f"{path}/mem_busy_percent", "0")
    if not guest:
        m.file(f"{path}/pcie_replay_count", "0")
        m.file(f"{path}/xgmi_error", "0")
        m.file(f"{path}/xgmi_physical_id", str(index))
        ras_files(m, path, deferred=not old, **(ras or {}))
        if not old:
            m.file(f"{path}/available_memory_partition", "NPS1, NPS4")
    return m
