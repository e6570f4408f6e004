// One GPU through NVML: who it is, what mode it is in, and whether NVML itself wants it reset.
#include <cstdio>

#include "agent/vendor/nvml_session.h"
#include "checks/model/bdf.h"

namespace gpucheck::vendor::nvml {
namespace {

constexpr std::uint64_t kMaxMemoryBytes = std::uint64_t{1} << 46;
constexpr unsigned kMaxProcesses = 1U << 20;

/// NVML prints 8 digits of domain; old drivers accept only what they print.
std::string bus_id(const std::string& address) {
    const std::optional<Bdf> bdf = Bdf::parse(address);
    if (!bdf) return address;
    char text[32];
    std::snprintf(text, sizeof text, "%08X:%02X:%02X.%X", bdf->domain, bdf->bus, bdf->device, bdf->function);
    return text;
}

using TextCall = Call<Return(Device, char*, unsigned)>;
void tell_text(Session& session, std::string_view path, const TextCall& call, Device gpu) {
    char text[128] = {};
    const Answer answer = session.ask(call, gpu, text, unsigned{96});
    session.tell(path, answer.fact(decode_text(text, 96)));
}

void tell_memory(Session& session, Device gpu) {
    MemoryV2 two{};
    two.version = struct_version(sizeof two, 2);
    two.total = two.used = two.reserved = ~0ULL;
    Answer answer = session.ask(session.calls().memory_v2, gpu, &two);
    if (two.version != struct_version(sizeof two, 2)) two.total = two.used = two.reserved = ~0ULL;
    Fact<std::uint64_t> reserved = answer.fact(decode_count(two.reserved, kMaxMemoryBytes));
    Memory one{two.total, 0, two.used};
    if (!answer.good()) {  // before driver 510
        one.total = one.used = ~0ULL;
        answer = session.ask(session.calls().memory, gpu, &one);
    }
    session.say("identity.memory_total_bytes", answer.fact(decode_count(one.total, kMaxMemoryBytes)));
    session.say("identity.memory_used_bytes", answer.fact(decode_count(one.used, kMaxMemoryBytes)));
    session.tell("identity.memory_reserved_bytes", reserved);
}

void tell_mig(Session& session, Device gpu) {
    const Calls& calls = session.calls();
    unsigned current = ~0U, pending = ~0U;
    Answer answer = session.ask(calls.mig_mode, gpu, &current, &pending);
    const Fact<bool> on = answer.fact(decode_flag(current));
    session.say("state.mig_current", on);
    session.tell("state.mig_pending", answer.fact(decode_flag(pending)));
    if (!on.is(true)) {
        const Missing why = on.known() ? Missing{on.source(), "MIG is off"} : on.missing();
        return session.tell("state.mig_instances", Fact<unsigned>(why));
    }
    unsigned max = ~0U;
    answer = session.ask(calls.mig_max, gpu, &max);
    const Fact<unsigned> slots = answer.fact(decode_unsigned(max, 64));
    if (!slots.known()) return session.tell("state.mig_instances", slots);
    unsigned found = 0;
    for (unsigned i = 0; i < *slots; ++i) {
        Device instance = nullptr;
        const Answer handle = session.ask(calls.mig_handle, gpu, i, &instance);
        if (handle.good()) {
            ++found;
        } else if (handle.bad->why != name_of(kNotFound)) {  // NOT_FOUND is an empty slot
            return session.tell("state.mig_instances", Fact<unsigned>(*handle.bad));
        }
    }
    session.tell("state.mig_instances", Fact<unsigned>(found, calls.mig_handle.name));
}

/// With room for none: the answer is INSUFFICIENT_SIZE and how many there are, and the layout of the entries,
/// which changed three times, does not matter.
void tell_processes(Session& session, std::string_view path,
                    const Call<Return(Device, unsigned*, void*)>& call, Device gpu) {
    unsigned count = 0;
    Answer answer = session.ask(call, gpu, &count, static_cast<void*>(nullptr));
    if (answer.bad && answer.bad->why == name_of(kInsufficientSize)) answer.bad.reset();
    session.tell(path, answer.fact(decode_unsigned(count, kMaxProcesses)));
}

void tell_inforom(Session& session, Device gpu) {
    const Answer answer = session.ask(session.calls().validate_inforom, gpu);
    const bool corrupted = answer.bad && answer.bad->why == name_of(kCorruptedInforom);
    session.tell("state.inforom_valid",
                 corrupted ? Fact<bool>(false, answer.source) : answer.fact(std::optional(true)));
}

}  // namespace

void read_identity(Session& session, Device gpu) {
    const Calls& calls = session.calls();
    tell_text(session, "identity.name", calls.name, gpu);
    tell_text(session, "identity.uuid", calls.uuid, gpu);
    tell_text(session, "identity.serial", calls.serial, gpu);
    tell_text(session, "identity.vbios_version", calls.vbios, gpu);
    tell_text(session, "identity.inforom_image", calls.inforom_image, gpu);
    char firmware[1024] = {};  // nvml.h promises 64; the call takes no size
    Answer answer = session.ask(calls.gsp_firmware, gpu, firmware);
    session.tell("identity.gsp_firmware", answer.fact(decode_text(firmware, 64)));
    unsigned minor = ~0U;
    answer = session.ask(calls.minor, gpu, &minor);
    session.tell("identity.minor", answer.fact(decode_unsigned(minor, 1U << 20)));
    Attributes attributes{};
    attributes.multiprocessors = ~0U;
    answer = session.ask(calls.attributes, gpu, &attributes);
    if (attributes.multiprocessors == 0) attributes.multiprocessors = ~0U;  // no GPU has none
    session.tell("identity.sm_count", answer.fact(decode_unsigned(attributes.multiprocessors, 4096)));
    tell_memory(session, gpu);
}

void read_state(Session& session, Device gpu) {
    const Calls& calls = session.calls();
    const auto got = session.fields(gpu, {{kRecoveryAction}});
    session.tell("state.recovery_action", convert_fact<std::string>(got[0].count(), decode_recovery_action));
    unsigned raw = ~0U;
    Answer answer = session.ask(calls.persistence, gpu, &raw);
    session.tell("state.persistence_mode", answer.fact(decode_flag(raw)));
    raw = ~0U;
    answer = session.ask(calls.compute_mode, gpu, &raw);
    session.tell("state.compute_mode", answer.fact(decode_compute_mode(raw)));
    raw = ~0U;
    answer = session.ask(calls.virtualization, gpu, &raw);
    session.tell("state.virtualization", answer.fact(decode_virtualization(raw)));
    tell_mig(session, gpu);
    tell_processes(session, "state.compute_processes", calls.compute_processes, gpu);
    tell_processes(session, "state.graphics_processes", calls.graphics_processes, gpu);
    tell_inforom(session, gpu);
}

namespace {

/// The GPU at `address`; nullptr when there is none, which was told with its reason.
Device find_gpu(Session& session, const std::string& address) {
    const std::string id = bus_id(address);
    Device gpu = nullptr;
    const Answer handle = session.ask(session.calls().handle_by_bus_id, id.c_str(), &gpu);
    Fact<bool> known = handle.fact(std::optional(true));
    if (handle.good() && gpu == nullptr) known = Missing{handle.source, "malformed"};
    if (!known.known()) {
        session.tell(kRest, known);
        return nullptr;
    }
    // The wrong GPU's facts would blame a healthy one.
    PciInfo info{};
    info.domain = ~0U;
    const Answer pci = session.ask(session.calls().pci_info, gpu, &info);
    const Fact<std::string> where = pci.fact(decode_address(info));
    const std::optional<Bdf> asked = Bdf::parse(address);
    if (where.known() && asked && Bdf::parse(*where) != Bdf{asked->domain, asked->bus, asked->device, 0}) {
        session.tell(kRest, Fact<bool>(Missing{pci.source, "malformed: handle of " + *where}));
        return nullptr;
    }
    if (!where.known()) {
        session.tell(kRest, Fact<bool>(where.missing()));
        return nullptr;
    }
    session.tell("identity.handle", known);
    return gpu;
}

}  // namespace

void read_gpu(Session& session, const std::string& address) {
    const Device gpu = find_gpu(session, address);
    if (gpu == nullptr) return;
    for (auto* read : {read_identity, read_ecc, read_repair, read_state, read_fabric, read_pcie, read_power,
                       read_clocks, read_links}) {
        if (!session.lost()) read(session, gpu);
    }
    if (session.lost()) session.tell(kRest, Fact<bool>(*session.lost()));
}

void read_presence(Session& session, const std::string& address) {
    const Device gpu = find_gpu(session, address);
    if (gpu != nullptr) read_fabric(session, gpu);
    if (session.lost()) session.tell(kRest, Fact<bool>(*session.lost()));
}

}  // namespace gpucheck::vendor::nvml
