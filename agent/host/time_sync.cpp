// Asks the kernel's clock discipline and systemd-timesyncd; see time_sync.h.
#include "agent/host/time_sync.h"

namespace gpucheck::host {

Fact<bool> read_time_synchronized(const Sysroot& root) {
    // systemd-timesyncd(8) touches this file each time it has set the clock.
    constexpr const char* kTouched = "/run/systemd/timesync/synchronized";
    const Fact<bool>& kernel = root.process().clock_synchronized;
    if (kernel.is(true)) return kernel;
    const Fact<bool> touched = root.exists(kTouched);
    if (touched.is(true)) return touched;
    // chronyd leaves STA_UNSYNC set unless its configuration says rtcsync: then only chronyd itself could
    // tell.
    for (const char* pid_file : {"/run/chrony/chronyd.pid", "/run/chronyd.pid"}) {
        if (root.exists(pid_file).is(true))
            return Missing{pid_file, "chronyd runs and does not tell the kernel"};
    }
    if (kernel.known()) return kernel;
    const Fact<bool> timesyncd = root.exists("/run/systemd/timesync");
    if (timesyncd.is(true) && touched.known()) return touched;  // it runs and has not set the clock yet
    if (!touched.known()) return touched;
    return Missing{kTouched, "no known time service tells"};
}

}  // namespace gpucheck::host
