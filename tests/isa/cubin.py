"""Reads what ptxas made, out of the very images that are embedded: stack of each kernel, and its instructions' opcodes, so
that no disassembler has to be installed. NVIDIA documents neither; both were found by assembling PTX that holds one kind of
instruction, or a kernel that spills, and comparing with `ptxas -v`. Another ptxas that numbers them otherwise fails the test.
"""
import collections
import struct

FRAME_SIZE = 0x11  # attribute of .nv.info: bytes of stack, spills included, as `ptxas -v` says "stack frame"
HMMA, IMMA, DMMA, QMMA = 0x23C, 0x237, 0x23F, 0x27A  # mma.sync of FP16/BF16/TF32, INT8, FP64, FP8 and below
HGMMA, IGMMA, QGMMA = 0xDF0, 0xDF1, 0xDF3  # wgmma of the same
WARPGROUP = 0x9C5  # wgmma.fence, and the waits
MATRIX = {HMMA: "HMMA", IMMA: "IMMA", DMMA: "DMMA", QMMA: "QMMA", HGMMA: "HGMMA", IGMMA: "IGMMA", QGMMA: "QGMMA"}


def sections(path):
    data = path.read_bytes()
    offset = struct.unpack_from("<Q", data, 0x28)[0]
    count, names = struct.unpack_from("<H", data, 0x3C)[0], struct.unpack_from("<H", data, 0x3E)[0]
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * i) for i in range(count)]

    def text(at):
        return data[headers[names][4] + at:data.index(b"\0", headers[names][4] + at)].decode()

    return {text(h[0]): data[h[4]:h[4] + h[5]] for h in headers}


def stacks(path):
    """Kernel -> bytes of stack."""
    parts, found = sections(path), {}
    info, symbols, strings = parts[".nv.info"], parts[".symtab"], parts[".strtab"]
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form != 4:  # the value is in the header
            continue
        if attribute == FRAME_SIZE:
            index, value = struct.unpack_from("<II", info, at)
            name = struct.unpack_from("<I", symbols, 24 * index)[0]
            found[strings[name:strings.index(b"\0", name)].decode()] = value
        at += size
    return found


def opcodes(path):
    """Kernel -> how often each opcode is there."""
    return {name[6:]: collections.Counter(struct.unpack_from("<H", code, i)[0] & 0xFFF for i in range(0, len(code), 16))
            for name, code in sections(path).items() if name.startswith(".text.")}


def matrix_opcodes(counter):
    return {MATRIX[op]: n for op, n in counter.items() if op in MATRIX}
