// A GPU's links: NVLink and its errors, its place in the NVSwitch fabric, the host link, the CPU of a
// superchip.
#include "agent/vendor/nvml_session.h"

namespace gpucheck::vendor::nvml {
namespace {

constexpr std::uint64_t kMaxLinks = 36;

Fact<unsigned> narrow(const Fact<std::uint64_t>& count) {
    return convert_fact<unsigned>(count, [](std::uint64_t raw) -> std::optional<unsigned> {
        if (raw > ~0U) return std::nullopt;
        return static_cast<unsigned>(raw);
    });
}

void tell_link_errors(Session& session, Device gpu, unsigned link, const std::string& path) {
    struct Counter {
        const char* name;
        unsigned id;
    };
    for (const Counter counter : {Counter{".crc_errors", kLinkCrc}, Counter{".replays", kLinkReplay},
                                  Counter{".recoveries", kLinkRecovery}, Counter{".ecc_errors", kLinkEcc}}) {
        unsigned long long count = ~0ULL;
        const Answer answer = session.ask(session.calls().link_errors, gpu, link, counter.id, &count);
        session.say(path + counter.name, answer.fact(decode_count(count)));
    }
    session.send();
}

/// NVLink 5 counts by field; older links answer NOT_SUPPORTED to all but the speed.
void tell_link_fields(Session& session, Device gpu, unsigned link, const std::string& path) {
    const auto got = session.fields(gpu, {{kLinkSpeed, link},
                                          {kLinkMalformed, link},
                                          {kLinkOverrun, link},
                                          {kLinkReceive, link},
                                          {kLinkIntegrity, link},
                                          {kLinkRecoveredOk, link},
                                          {kLinkRecoveredFailed, link},
                                          {kLinkEffectiveBer, link},
                                          {kLinkSymbolBer, link}});
    session.say(path + ".speed_mbps", narrow(got[0].count(1000000)));
    session.say(path + ".malformed_packets", got[1].count());
    session.say(path + ".buffer_overruns", got[2].count());
    session.say(path + ".receive_errors", got[3].count());
    session.say(path + ".integrity_errors", got[4].count());
    session.say(path + ".recoveries_ok", got[5].count());
    session.say(path + ".recoveries_failed", got[6].count());
    session.say(path + ".effective_ber", convert_fact<double>(got[7].count(), decode_ber));
    session.tell(path + ".symbol_ber", convert_fact<double>(got[8].count(), decode_ber));
}

void tell_link(Session& session, Device gpu, unsigned link) {
    const Calls& calls = session.calls();
    const std::string path = "nvlinks." + std::to_string(link);
    unsigned raw = ~0U;
    Answer answer = session.ask(calls.link_state, gpu, link, &raw);
    session.tell(path + ".active", answer.fact(decode_flag(raw)));
    raw = ~0U;
    answer = session.ask(calls.link_version, gpu, link, &raw);
    session.say(path + ".version", answer.fact(decode_unsigned(raw, 32)));
    PciInfo remote{};
    remote.domain = ~0U;
    answer = session.ask(calls.link_remote, gpu, link, &remote);
    session.say(path + ".remote", answer.fact(decode_address(remote)));
    raw = ~0U;
    answer = session.ask(calls.link_remote_type, gpu, link, &raw);
    session.tell(path + ".remote_type", answer.fact(decode_remote_type(raw)));
    tell_link_fields(session, gpu, link, path);
    tell_link_errors(session, gpu, link, path);
}

void tell_c2c(Session& session, Device gpu) {
    const auto count = session.fields(gpu, {{kC2cCount}})[0].count(kMaxLinks);
    session.tell("c2c_links", narrow(count));
    if (!count.known()) return session.tell("c2c_links_active", Fact<unsigned>(count.missing()));
    std::vector<Session::Wanted> wanted;
    for (unsigned link = 0; link < *count; ++link) wanted.push_back({kC2cStatus, link});
    unsigned active = 0;
    std::string source = count.source();
    if (!wanted.empty()) {
        for (const Session::Got& got : session.fields(gpu, wanted)) {
            const Fact<bool> up = got.flag();
            if (!up.known()) return session.tell("c2c_links_active", Fact<unsigned>(up.missing()));
            active += *up ? 1 : 0;
            source = up.source();
        }
    }
    session.tell("c2c_links_active", Fact<unsigned>(active, source));
}

struct Fabric {
    Answer answer;
    FabricInfoV info{};
    bool has_mask = false, has_summary = false, whole = true;
};

/// The newest layout that the driver knows.
Fabric ask_fabric(Session& session, Device gpu) {
    const Calls& calls = session.calls();
    Fabric fabric;
    for (const unsigned layout : {3U, 2U}) {
        const unsigned version =
            struct_version(layout == 3 ? sizeof fabric.info : kFabricInfoV2Bytes, layout);
        fabric.info = FabricInfoV{};
        fabric.info.version = version;
        fabric.info.state = fabric.info.health_summary = 0xff;
        fabric.answer = session.ask(calls.fabric_v, gpu, &fabric.info);
        fabric.has_mask = true;
        fabric.has_summary = layout == 3;
        fabric.whole = fabric.info.version == version;
        if (fabric.answer.good()) return fabric;
        if (fabric.answer.bad->why != name_of(kArgumentVersionMismatch) &&
            fabric.answer.bad->why != name_of(kInvalidArgument)) {
            break;
        }
    }
    if (fabric.answer.bad->why != "symbol absent") return fabric;
    FabricInfoV1 one{};
    one.state = 0xff;
    Fabric old;
    old.answer = session.ask(calls.fabric, gpu, &one);
    old.info.status = one.status;
    old.info.clique_id = one.clique_id;
    old.info.state = one.state;
    for (std::size_t i = 0; i < sizeof one.cluster_uuid; ++i) old.info.cluster_uuid[i] = one.cluster_uuid[i];
    return old;
}

/// Whether the numbers can be a state of the fabric; then what goes with them is believed too.
bool plausible(const Fabric& fabric) {
    return fabric.whole && decode_fabric_state(fabric.info.state) && fabric.info.status <= kUnknown &&
           (!fabric.has_summary || decode_health_summary(fabric.info.health_summary));
}

}  // namespace

void read_links(Session& session, Device gpu) {
    tell_c2c(session, gpu);
    const auto count = session.fields(gpu, {{kLinkCount}})[0].count(kMaxLinks);
    session.tell("nvlinks", narrow(count));
    if (!count.known()) return;
    for (unsigned link = 0; link < *count && !session.lost(); ++link) tell_link(session, gpu, link);
}

void read_fabric(Session& session, Device gpu) {
    const Fabric fabric = ask_fabric(session, gpu);
    const Answer& answer = fabric.answer;
    const bool good = plausible(fabric);
    const auto text = [&](std::optional<std::string> value) {
        return answer.fact(good ? value : std::nullopt);
    };
    session.say("fabric.state", text(decode_fabric_state(fabric.info.state)));
    session.say("fabric.status", text(name_of(fabric.info.status)));
    session.say("fabric.cluster_uuid", text(decode_uuid(fabric.info.cluster_uuid)));
    session.say("fabric.clique_id", answer.fact(good ? std::optional(fabric.info.clique_id) : std::nullopt));
    const Missing none{answer.source, answer.bad ? answer.bad->why : "not in this version"};
    session.say("fabric.health_mask",
                fabric.has_mask
                    ? answer.fact(good ? std::optional<std::uint64_t>(fabric.info.health_mask) : std::nullopt)
                    : Fact<std::uint64_t>(none));
    session.tell("fabric.health_summary", fabric.has_summary
                                              ? text(decode_health_summary(fabric.info.health_summary))
                                              : Fact<std::string>(none));
}

void read_pcie(Session& session, Device gpu) {
    const Calls& calls = session.calls();
    const auto tell = [&](std::string_view path, const Call<Return(Device, unsigned*)>& call, unsigned max) {
        unsigned raw = ~0U;
        const Answer answer = session.ask(call, gpu, &raw);
        if (raw == 0) raw = ~0U;  // no link has none
        session.say(path, answer.fact(decode_unsigned(raw, max)));
    };
    tell("pcie.generation", calls.pcie_generation, 8);
    tell("pcie.width", calls.pcie_width, 32);
    tell("pcie.generation_max", calls.pcie_generation_max, 8);
    tell("pcie.width_max", calls.pcie_width_max, 32);
    tell("pcie.generation_device_max", calls.pcie_generation_device, 8);
    unsigned replays = ~0U;
    const Answer answer = session.ask(calls.pcie_replays, gpu, &replays);
    session.tell("pcie.replays", answer.fact(replays == ~0U ? std::nullopt : decode_count(replays)));
    const auto got = session.fields(gpu, {{kPcieReplayRollover},
                                          {kPcieL0ToRecovery},
                                          {kPcieCorrectable},
                                          {kPcieNaksReceived},
                                          {kPcieNaksSent},
                                          {kPcieNonfatal},
                                          {kPcieFatal}});
    session.say("pcie.replay_rollovers", got[0].count());
    session.say("pcie.l0_to_recovery", got[1].count());
    session.say("pcie.correctable", got[2].count());
    session.say("pcie.naks_received", got[3].count());
    session.say("pcie.naks_sent", got[4].count());
    session.say("pcie.nonfatal", got[5].count());
    session.tell("pcie.fatal", got[6].count());
}

}  // namespace gpucheck::vendor::nvml
