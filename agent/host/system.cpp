// Calls the readers of the machine's surroundings in the order in which they need one another; see system.h.
#include "agent/host/system.h"

#include "agent/host/container.h"
#include "agent/host/dmi.h"
#include "agent/host/environment.h"
#include "agent/host/os.h"
#include "agent/host/resources.h"
#include "agent/host/secure_boot.h"
#include "agent/host/time_sync.h"
#include "agent/host/virtualization.h"

namespace gpucheck::host {

void read_system(const Sysroot& root, Host& host) {
    read_os(root, host);
    host.secure_boot = read_secure_boot(root);
    host.lockdown = read_lockdown(root);
    host.dmi = read_dmi(root);
    host.hypervisor = read_hypervisor(root, host.dmi);
    host.process = read_process(root);
    host.container = read_container(root, host.process);
    read_resources(root, host);
    host.time_synchronized = read_time_synchronized(root);
}

}  // namespace gpucheck::host
