// What NVML says of the machine: whether driver and library fit, how many GPUs it lists, and which it leaves
// out.
#include "agent/vendor/nvml_session.h"

namespace gpucheck::vendor::nvml {
namespace {

constexpr unsigned kMaxGpus = 256;

void read_versions(Session& session) {
    const Calls& calls = session.calls();
    char text[96] = {};
    Answer answer = session.ask(calls.driver_version, text, unsigned{80});
    session.tell("driver_version", answer.fact(decode_text(text, 80)));
    char nvml[96] = {};
    answer = session.ask(calls.nvml_version, nvml, unsigned{80});
    session.tell("nvml_version", answer.fact(decode_text(nvml, 80)));
    int cuda = -1;
    answer = session.ask(calls.cuda_version, &cuda);
    session.tell("cuda_driver_version", answer.fact(decode_unsigned(static_cast<unsigned>(cuda), 1000000)));
}

void read_excluded(Session& session) {
    const Calls& calls = session.calls();
    unsigned count = ~0U;
    Answer answer = session.ask(calls.excluded_count, &count);
    const Fact<unsigned> known = answer.fact(decode_unsigned(count, kMaxGpus));
    if (!known.known()) return session.tell("excluded", Fact<std::vector<std::string>>(known.missing()));
    std::vector<std::string> addresses;
    for (unsigned i = 0; i < *known; ++i) {
        ExcludedDeviceInfo info{};
        info.pci.domain = ~0U;
        const Answer one = session.ask(calls.excluded_info, i, &info);
        const Fact<std::string> address = one.fact(decode_address(info.pci));
        if (!address.known())
            return session.tell("excluded", Fact<std::vector<std::string>>(address.missing()));
        addresses.push_back(*address);
    }
    session.tell("excluded", Fact<std::vector<std::string>>(std::move(addresses), known.source()));
}

/// Confidential computing is on when its feature is, or when links are protected between several GPUs.
void read_confidential(Session& session) {
    const Calls& calls = session.calls();
    ConfComputeSettings settings{};
    settings.version = struct_version(sizeof settings, 1);
    settings.cc_feature = settings.multi_gpu_mode = ~0U;
    Answer answer = session.ask(calls.cc_settings, &settings);
    Fact<bool> on;
    if (answer.good() && settings.cc_feature <= 1 && settings.multi_gpu_mode <= 2) {
        on = Fact<bool>(settings.cc_feature == 1 || settings.multi_gpu_mode != 0, answer.source);
    } else {
        ConfComputeState state{~0U, ~0U, ~0U};
        answer = session.ask(calls.cc_state, &state);
        on = answer.fact(decode_flag(state.cc_feature));
    }
    session.tell("confidential_compute", on);
    if (on.is(false)) {
        return session.tell("confidential_compute_ready",
                            Fact<bool>(Missing{on.source(), "confidential computing is off"}));
    }
    unsigned ready = ~0U;
    answer = session.ask(calls.cc_ready, &ready);
    session.tell("confidential_compute_ready", answer.fact(decode_flag(ready)));
}

/// Last, because asking for a handle wakes the GPU, and a sick one may hang.
void read_listed(Session& session, const Fact<unsigned>& count) {
    const Calls& calls = session.calls();
    if (!count.known()) return session.tell("listed", Fact<std::vector<std::string>>(count.missing()));
    std::vector<std::string> addresses;
    for (unsigned i = 0; i < *count; ++i) {
        const std::string where = " of index " + std::to_string(i);
        Device gpu = nullptr;
        const Answer handle = session.ask_for(calls.handle_by_index, where, i, &gpu);
        PciInfo info{};
        info.domain = ~0U;
        const Answer pci = handle.good() ? session.ask_for(calls.pci_info, where, gpu, &info) : handle;
        const Fact<std::string> address = pci.fact(decode_address(info));
        if (!address.known())
            return session.tell("listed", Fact<std::vector<std::string>>(address.missing()));
        addresses.push_back(*address);
    }
    session.tell("listed", Fact<std::vector<std::string>>(std::move(addresses), calls.handle_by_index.name));
}

}  // namespace

void read_system(Session& session) {
    read_versions(session);
    unsigned count = ~0U;
    const Answer answer = session.ask(session.calls().device_count, &count);
    Fact<unsigned> known = answer.fact(decode_unsigned(count, kMaxGpus));
    if (answer.good() && !known.known())
        known = Missing{answer.source, "malformed: " + std::to_string(count)};
    session.tell("gpu_count", known);
    read_excluded(session);
    read_confidential(session);
    read_listed(session, known);
}

}  // namespace gpucheck::vendor::nvml
