// Sentences about verdicts, machines and counts; see words.h.
#include "agent/report/words.h"

#include <cstdio>

#include "agent/report/escape.h"

namespace gpucheck::report {
namespace {

constexpr std::size_t kNameBytes = 64;

void add_part(std::string& text, std::string_view part) {
    if (part.empty()) return;
    if (!text.empty()) text += ", ";
    text += part;
}

std::string known_or(const Fact<std::string>& fact, std::string_view otherwise) {
    return plain(fact.known() && !fact.value().empty() ? std::string_view(fact.value()) : otherwise,
                 kNameBytes);
}

std::string gpus(unsigned count) {
    return plural(count, "GPU");
}

// "; AMD KFD: 2 GPUs", "; AMD KFD: absent", "; AMD KFD: EACCES".
template <class T, class Count>
std::string place(std::string_view name, const Fact<T>& fact, Count count) {
    const std::string said = fact.known()    ? gpus(count(fact.value()))
                             : fact.absent() ? "absent"
                                             : plain(fact.why(), kNameBytes);
    return "; " + std::string(name) + ": " + said;
}

}  // namespace

std::string plural(std::size_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string_view shout(Verdict verdict) {
    switch (verdict) {
        case Verdict::not_applicable:
            return "NOT APPLICABLE";
        case Verdict::pass:
            return "PASS";
        case Verdict::warn:
            return "WARN";
        case Verdict::unknown:
            return "UNKNOWN";
        case Verdict::fail:
            return "FAIL";
    }
    return "UNKNOWN";
}

std::string machine_words(const Report& report) {
    const Snapshot& snapshot = report.snapshot;
    std::string details;
    if (snapshot.instance.provider.known() || snapshot.instance.type.known()) {
        std::string instance = known_or(snapshot.instance.provider, "");
        const std::string type = known_or(snapshot.instance.type, "");
        if (!instance.empty() && !type.empty()) instance += ' ';
        add_part(details, instance + type);
    }
    if (snapshot.instance.lifecycle.is("spot")) add_part(details, "spot");
    if (snapshot.host.bare_metal()) add_part(details, "bare metal");
    if (snapshot.host.virtual_machine()) add_part(details, known_or(snapshot.host.hypervisor, "") + " guest");
    if (snapshot.host.in_container()) add_part(details, known_or(snapshot.host.container, "") + " container");
    return known_or(snapshot.host.hostname, "this machine") + (details.empty() ? "" : " (" + details + ")");
}

std::string price_words(const Instance& instance) {
    if (!instance.price.known() || !instance.price->instance_usd.known()) return {};
    const auto usd = [](double value) {
        char buffer[32];
        std::snprintf(buffer, sizeof buffer, "%.2f USD", value);
        return std::string(buffer);
    };
    const HourlyPrice& price = *instance.price;
    std::string text = "Price of one hour: " + usd(*price.instance_usd);
    if (price.gpu_usd.known()) text += ", " + usd(*price.gpu_usd) + " a GPU";
    if (price.market.known()) text += ", " + plain(*price.market, kNameBytes);
    text += " (" + plain(instance.price.source(), kLineBytes);
    if (price.as_of.known()) text += ", seen " + plain(*price.as_of, kNameBytes);
    if (price.stale.is(true)) text += ": more than 90 days ago, ask again";
    return text + ").";
}

std::string count_words(const GpuCount& count) {
    const std::string promised = count.expected ? " of " + gpus(*count.expected) : std::string();
    if (!count.pci) return "GPUs could not be counted" + (promised.empty() ? "" : "," + promised);
    if (*count.pci == 0) return count.expected ? "0" + promised : "no GPU";
    std::string text = count.expected ? std::to_string(*count.pci) + promised : gpus(*count.pci);
    if (!count.bound) return text + " on the bus, drivers could not be read";
    if (*count.bound != *count.pci) {
        return text + " on the bus, " + std::to_string(*count.bound) + " bound to a driver";
    }
    return text + (count.expected ? "" : " (no number was promised)");
}

std::string summary_words(const Report& report, const View& view) {
    std::string text;
    if (view.fails > 0) add_part(text, plural(view.fails, "fault"));
    if (view.unknowns > 0) add_part(text, plural(view.unknowns, "required answer") + " missing");
    if (view.warns > 0) add_part(text, plural(view.warns, "warning"));
    if (!text.empty()) return text;
    if (report.verdict == Verdict::pass) return "nothing wrong in what was checked";
    return view.applied == 0 ? "no check applied, so nothing is known" : "nothing could be judged";
}

std::string headline(const Report& report, const View& view) {
    return std::string(shout(report.verdict)) + ": " + machine_words(report) + ": " +
           count_words(view.count) + "; " + summary_words(report, view);
}

std::string looked_at(const Report& report) {
    const Snapshot& snapshot = report.snapshot;
    if (!snapshot.gpus.empty()) return {};
    const Host& host = snapshot.host;
    std::string text = "Looked at ";
    if (host.pci_functions.known()) {
        text += plural(host.pci_functions.value(), "PCI function") + ": no GPU of NVIDIA or AMD";
        if (!host.unreadable_functions.empty()) {
            text += " (" + std::to_string(host.unreadable_functions.size()) + " could not be read)";
        }
    } else {
        text += "PCI functions (" + plain(host.pci_functions.why(), kNameBytes) + ")";
    }
    text += place("NVIDIA driver", host.nvidia.proc_gpus,
                  [](const std::vector<std::string>& names) { return static_cast<unsigned>(names.size()); });
    text += place("AMD KFD", host.kfd.gpu_nodes, [](unsigned count) { return count; });
    return text + ".";
}

std::string_view scope_words(Scope scope) {
    switch (scope) {
        case Scope::guest:
            return "you, inside this machine";
        case Scope::host:
            return "whoever runs the host: the provider or the hardware's owner";
        case Scope::unknown:
            break;
    }
    return "not clear yet: inside this machine or on its host";
}

std::string_view action_words(Action action) {
    switch (action) {
        case Action::none:
            return "";
        case Action::monitor:
            return "keep an eye on it";
        case Action::restart_app:
            return "restart the application";
        case Action::fix_guest_config:
            return "fix this machine's configuration";
        case Action::install_driver:
            return "install or repair the driver";
        case Action::reset_gpu:
            return "reset the GPU";
        case Action::reboot:
            return "reboot the machine";
        case Action::power_cycle:
            return "power the machine off and on";
        case Action::recreate_instance:
            return "recreate the instance";
        case Action::drain_and_replace:
            return "drain the machine and replace the GPU";
        case Action::contact_provider:
            return "contact the provider";
    }
    return "";
}

std::string caveat(const Report& report) {
    std::string text;
    if (!report.machine.empty()) add_part(text, "recorded machine " + plain(report.machine, kLineBytes));
    if (report.simulated) add_part(text, "simulated");
    if (!report.injected.empty())
        add_part(text, "fault injected on purpose: " + plain(report.injected, kNameBytes));
    return text;
}

std::string list_words(const std::vector<std::string_view>& subjects, std::size_t most) {
    std::string text;
    const std::size_t shown = subjects.size() > most ? most : subjects.size();
    for (std::size_t i = 0; i < shown; ++i) add_part(text, plain(subjects[i], kNameBytes));
    if (subjects.size() > shown) text += " and " + std::to_string(subjects.size() - shown) + " more";
    return text;
}

}  // namespace gpucheck::report
