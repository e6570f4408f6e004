// `gpucheck log FILE`: says of any kernel log which faults it reports, of which GPU, how often, and what to
// do.
#pragma once

#include <iosfwd>
#include <string>

namespace gpucheck {

struct LogOptions {
    std::string path = "-";       ///< a file, "-" for standard input, or /dev/kmsg
    std::string format = "text";  ///< "text" or "json"
    std::string gpu;              ///< a PCI address: only events of this GPU, and those that name no device
    bool since_boot = false;      ///< only what stands after the newest boot marker
    bool colour = false;          ///< the terminal wants colours (tty and no NO_COLOR)
};

/// Prints to `out`, complains to `err`. Exit status: 0 pass or warn, 1 fail, 2 unknown, 64 usage.
int run_log(const LogOptions& options, std::ostream& out, std::ostream& err);

}  // namespace gpucheck
