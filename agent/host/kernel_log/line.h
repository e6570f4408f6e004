// Takes one line of any kernel-log container apart: who wrote it, when, and the kernel's own words. Detected
// line by line, because logs that people paste are mixed, and a container that is not understood must not
// hide a fault.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/host/kernel_log/stamp.h"

namespace gpucheck::host {

struct LogLine {
    Stamp stamp;
    std::string_view
        message;  ///< may hold newlines (one record, several lines); points into the line or into `scratch`
    std::string_view program;  ///< who wrote it, when that is not the kernel; such words are not the kernel's
    std::uint64_t boot_id = 0;    ///< hash of journald's _BOOT_ID; 0: not printed
    int level = -1;               ///< 0 emergency .. 7 debug; -1: not printed
    bool boot_marker = false;     ///< journald's separator between boots
    bool continuation = false;    ///< a property line (" SUBSYSTEM=pci") below a /dev/kmsg record
    bool part_header = false;     ///< "Panic#1 Part2": pstore stores the newest part first
    bool fabric_manager = false;  ///< a line of /var/log/fabricmanager.log
    bool timed = false;           ///< a container was recognised
};

/// Parses `raw` (without its newline; a trailing carriage return is dropped). `scratch` keeps what had to be
/// rewritten: ANSI colours removed, JSON or \xHH escapes decoded.
LogLine parse_line(std::string_view raw, std::string& scratch);

/// Is `bytes` a line of text at all: something visible, and no NUL or other control bytes beyond tab, CR and
/// ESC.
bool looks_like_text(std::string_view bytes);

/// For terminals: control bytes, C1 and bidirectional controls and invalid UTF-8 are written as \xHH.
std::string printable(std::string_view text);

// The pieces, for line.cpp and its tests.
/// One object of `journalctl -o json`; also a truncated one, as far as it goes. False when `raw` is no object
/// with a MESSAGE.
bool parse_journal_json(std::string_view raw, LogLine& line, std::string& scratch);

}  // namespace gpucheck::host
