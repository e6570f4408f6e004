// Finds PCIe errors that the hardware counted on a GPU's way to the CPU: fatal ones precede "fallen off the
// bus", and a storm of corrected ones eats bandwidth that nobody can account for.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "checks/all.h"
#include "checks/model/wiring.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "pcie.aer";
// A handful at link training is normal (field reports of pop-os/pop#3363 and others show thousands in a
// storm).
constexpr std::uint64_t kStormCount = 100;
constexpr double kStormPerMinute = 10.0;

NotApplicable applies(const Snapshot& snapshot) {
    return snapshot.gpus.empty() ? NotApplicable("no GPU found") : std::nullopt;
}

std::string counted(const AerCounters& counters) {
    std::string text = std::to_string(counters.total);
    std::string names;
    for (std::size_t i = 0; i < counters.nonzero.size() && i < 4; ++i) {
        names += (names.empty() ? "" : ", ") + counters.nonzero[i].name;
    }
    return names.empty() ? text : text + " (" + names + ")";
}

/// One function's counters: nullopt when they are clean, or when the operating system does not own AER here.
std::optional<Finding> judge_function(const Subject& subject, const Bdf& bdf, const Aer& aer,
                                      const Fact<double>& uptime) {
    const std::string where = bdf.str() + ": ";
    if (aer.fatal.known() && aer.fatal->total > 0) {
        return finding("pcie.aer.fatal", Verdict::fail, subject, "0 fatal errors since boot",
                       where + counted(*aer.fatal), aer.fatal.source());
    }
    if (aer.nonfatal.known() && aer.nonfatal->total > 0) {
        return finding("pcie.aer.nonfatal", Verdict::warn, subject, "0 uncorrected errors since boot",
                       where + counted(*aer.nonfatal), aer.nonfatal.source());
    }
    for (const Fact<AerCounters>* counters : {&aer.fatal, &aer.nonfatal, &aer.correctable}) {
        if (counters->known() || counters->absent()) continue;
        return finding("pcie.aer.unread", Verdict::unknown, subject, "readable error counters",
                       where + counters->why(), counters->source());
    }
    if (!aer.correctable.known() || aer.correctable->total < kStormCount) return std::nullopt;
    if (!uptime.known() || !(*uptime > 0) || !std::isfinite(*uptime)) {
        return finding("pcie.aer.unread", Verdict::unknown, subject, "the time since boot",
                       where + counted(*aer.correctable) + " corrected, uptime not known", uptime.source());
    }
    const double per_minute = static_cast<double>(aer.correctable->total) / (std::max(*uptime, 60.0) / 60.0);
    if (per_minute <= kStormPerMinute) return std::nullopt;
    std::array<char, 32> rate{};
    std::snprintf(rate.data(), rate.size(), "%.0f a minute", per_minute);
    return finding("pcie.aer.storm", Verdict::warn, subject,
                   "at most 10 corrected errors a minute since boot",
                   where + counted(*aer.correctable) + ", " + rate.data(), aer.correctable.source());
}

bool has_counters(const Aer& aer) {
    return !(aer.correctable.absent() && aer.nonfatal.absent() && aer.fatal.absent());
}

struct SharedPort {
    const PciPort* port = nullptr;
    std::vector<Bdf> gpus;
};

std::vector<SharedPort> ports_of(const Snapshot& snapshot) {
    std::vector<SharedPort> ports;
    for (const Device& gpu : snapshot.gpus) {
        for (const PciPort& port : gpu.pci.path) {
            if (port.emulated()) continue;
            auto found = std::find_if(ports.begin(), ports.end(),
                                      [&](const SharedPort& p) { return p.port->bdf == port.bdf; });
            if (found == ports.end()) found = ports.insert(ports.end(), {&port, {}});
            found->gpus.push_back(gpu.bdf);
        }
    }
    return ports;
}

Finding judge_gpu(const Device& gpu, const std::vector<SharedPort>& ports, const Fact<double>& uptime) {
    std::size_t with_counters = 0;
    std::optional<Finding> worst;
    const auto visit = [&](const Bdf& bdf, const Aer& aer) {
        if (!has_counters(aer)) return;
        ++with_counters;
        auto result = judge_function(gpu.bdf, bdf, aer, uptime);
        if (result && (!worst || result->verdict > worst->verdict)) worst = std::move(result);
    };
    visit(gpu.bdf, gpu.pci.aer);
    for (const SharedPort& shared : ports) {
        if (shared.gpus.size() == 1 && shared.gpus.front() == gpu.bdf)
            visit(shared.port->bdf, shared.port->aer);
    }
    if (worst) return std::move(*worst);
    const std::string& source = gpu.pci.aer.correctable.source();
    if (with_counters == 0) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "AER counters",
                       "none: the firmware or the hypervisor keeps error reporting to itself", source);
    }
    return finding(kId, Verdict::pass, gpu.bdf, "no uncorrected errors and no storm since boot",
                   "clean on " + std::to_string(with_counters) + " functions", source);
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const std::vector<SharedPort> ports = ports_of(snapshot);
    const Fact<double>& uptime = snapshot.host.uptime_s;
    for (const Device& gpu : snapshot.gpus) findings.push_back(judge_gpu(gpu, ports, uptime));
    // A port above several GPUs is one fault, not one for each of them.
    for (const SharedPort& shared : ports) {
        if (shared.gpus.size() < 2 || !has_counters(shared.port->aer)) continue;
        auto result = judge_function(shared.port->bdf, shared.port->bdf, shared.port->aer, uptime);
        if (!result) continue;
        result->observed +=
            "; above " + std::to_string(shared.gpus.size()) + " GPUs from " + shared.gpus.front().str();
        findings.push_back(std::move(*result));
    }
}

}  // namespace

const Check kPcieAerCheck{.id = kId,
                          .title = "PCIe errors on the way to each GPU",
                          .impact = Impact::passive,
                          .required_from = Profile::acceptance,
                          .applies = applies,
                          .judge = judge};

}  // namespace gpucheck
