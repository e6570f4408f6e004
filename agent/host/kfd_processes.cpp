// Reads KFD's list of processes; see kfd_processes.h. Linux drivers/gpu/drm/amd/amdkfd/kfd_process.c: a
// folder for each process that opened /dev/kfd, with a file vram_<gpu_id> for each GPU and a folder for each
// queue.
#include "agent/host/kfd_processes.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace gpucheck::host {
namespace {

constexpr std::string_view kProcesses = "/sys/class/kfd/kfd/proc";
constexpr std::size_t kMostProcesses = 4096, kMostQueues = 4096;
// The folders are named by the machine's own numbers, which mean something else in a container:
// include/linux/ proc_ns.h, PROC_PID_INIT_INO.
constexpr std::string_view kMachinesPids = "pid:[4026531836]";

bool holds_memory(const Sysroot& root, const std::string& process, std::uint64_t gpu, Fact<bool>& known) {
    const Fact<std::uint64_t> bytes = root.read_u64(process + "/vram_" + std::to_string(gpu));
    // Without the file this process has nothing to do with the GPU.
    if (!bytes.known() && !bytes.absent()) known = bytes.missing();
    return bytes.known() && *bytes > 0;
}

bool has_queue(const Sysroot& root, const std::string& process, const std::vector<std::uint64_t>& gpus,
               Fact<bool>& known) {
    const std::string folder = process + "/queues";
    const Fact<std::vector<std::string>> queues = root.list(folder);
    if (!queues.known()) {
        if (!queues.absent()) known = queues.missing();
        return false;
    }
    for (std::size_t i = 0; i < std::min(queues->size(), kMostQueues); ++i) {
        const Fact<std::uint64_t> gpu = root.read_u64(folder + "/" + (*queues)[i] + "/gpuid");
        if (gpu.known() && std::find(gpus.begin(), gpus.end(), *gpu) != gpus.end()) return true;
        if (!gpu.known() && !gpu.absent()) known = gpu.missing();
    }
    return false;
}

}  // namespace

Fact<unsigned> read_kfd_processes(const Sysroot& root, const Device& gpu, const std::vector<unsigned>& own) {
    std::vector<std::uint64_t> gpus;
    for (const KfdNode& node : gpu.amd.kfd_nodes) {
        if (!node.gpu_id.known()) return node.gpu_id.missing();
        gpus.push_back(*node.gpu_id);
    }
    const std::string list(kProcesses);
    if (gpus.empty()) return Missing{list, "no KFD node of this GPU"};
    const Fact<std::vector<std::string>> folders = root.list(list);
    if (!folders.known()) return folders.missing();
    if (folders->size() > kMostProcesses)
        return Missing{list, "more than " + std::to_string(kMostProcesses) + " processes"};
    const bool our_numbers = root.link_target("/proc/self/ns/pid").is(std::string(kMachinesPids));
    unsigned count = 0;
    Fact<bool> known(true, list);
    for (const std::string& name : *folders) {
        unsigned pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error != std::errc{} || end != name.data() + name.size()) continue;
        if (our_numbers) {
            if (std::find(own.begin(), own.end(), pid) != own.end()) continue;
            // What a process that has ended leaves behind until the driver has cleaned up.
            if (root.exists("/proc/" + name).is(false)) continue;
        }
        const std::string process = list + "/" + name;
        const bool uses =
            std::any_of(gpus.begin(), gpus.end(),
                        [&](std::uint64_t id) { return holds_memory(root, process, id, known); }) ||
            has_queue(root, process, gpus, known);
        if (uses) ++count;
    }
    if (count == 0 && !known.known()) return known.missing();
    return Fact<unsigned>(count, list);
}

}  // namespace gpucheck::host
