// Why a GPU is slower than it should be: clocks, what holds them down, power limits and temperatures.
#include "agent/vendor/nvml_session.h"

namespace gpucheck::vendor::nvml {
namespace {

constexpr unsigned kMaxMhz = 20000;
constexpr unsigned kMaxMilliwatts = 100000000;  // 100 kW: no board comes near

using NumberCall = Call<Return(Device, unsigned*)>;
using TypedCall = Call<Return(Device, unsigned, unsigned*)>;

void tell_mw(Session& session, std::string_view path, const NumberCall& call, Device gpu) {
    unsigned raw = ~0U;
    const Answer answer = session.ask(call, gpu, &raw);
    session.tell(path, answer.fact(raw == ~0U ? std::nullopt : decode_count(raw, kMaxMilliwatts)));
}

void tell_mhz(Session& session, std::string_view path, const TypedCall& call, Device gpu, unsigned clock) {
    unsigned raw = ~0U;
    const Answer answer = session.ask(call, gpu, clock, &raw);
    session.tell(path, answer.fact(decode_unsigned(raw, kMaxMhz)));
}

void tell_percent(Session& session, std::string_view path, const NumberCall& call, Device gpu) {
    unsigned raw = ~0U;
    const Answer answer = session.ask(call, gpu, &raw);
    session.tell(path, answer.fact(decode_unsigned(raw, 100)));
}

/// The old call's argument is unsigned, and never below zero.
Fact<int> ask_celsius(Session& session, const TypedCall& call, Device gpu, unsigned which) {
    unsigned raw = ~0U;
    const Answer answer = session.ask(call, gpu, which, &raw);
    return answer.fact(decode_celsius(raw));
}

void tell_temperature(Session& session, Device gpu) {
    const Calls& calls = session.calls();
    const unsigned version = struct_version(sizeof(Temperature), 1);
    Temperature now{version, 0, INT32_MIN};
    Answer answer = session.ask(calls.temperature_v, gpu, &now);
    Fact<int> celsius = answer.fact(now.version == version ? decode_celsius(now.temperature) : std::nullopt);
    if (!answer.good()) {
        const Fact<int> old = ask_celsius(session, calls.temperature, gpu, 0);
        if (old.known() || old.why() != "symbol absent") celsius = old;
    }
    session.tell("power.temperature_c", celsius);

    const unsigned margin_version = struct_version(sizeof(MarginTemperature), 1);
    MarginTemperature margin{margin_version, INT32_MIN};
    answer = session.ask(calls.margin, gpu, &margin);
    session.tell(
        "power.margin_c",
        answer.fact(margin.version == margin_version ? decode_celsius(margin.margin) : std::nullopt));

    const auto memory = session.fields(gpu, {{kMemoryTemperature}})[0];
    const std::optional<std::int64_t> raw = memory.answer.good() ? signed_of(memory.value) : std::nullopt;
    session.tell("power.memory_temperature_c", memory.answer.fact(raw ? decode_celsius(*raw) : std::nullopt));

    // Boards since Ada answer NOT_SUPPORTED; their FI 193 to 196 are margins, not temperatures.
    session.tell("power.slowdown_c", ask_celsius(session, calls.threshold, gpu, kSlowdown));
    session.tell("power.shutdown_c", ask_celsius(session, calls.threshold, gpu, kShutdown));
    session.tell("power.memory_max_c", ask_celsius(session, calls.threshold, gpu, kMemoryMax));
    session.tell("power.gpu_max_c", ask_celsius(session, calls.threshold, gpu, kGpuMax));
}

/// A throttle counter under the two numbers that nvml.h has given it. The other use of each number, power
/// smoothing, holds 32-bit settings; the counters are 64-bit nanoseconds.
Fact<std::uint64_t> one_of(const Session::Got& now, const Session::Got& before) {
    const auto counts = [](const Session::Got& got) {
        return got.answer.good() && got.value.value_type == kUnsignedLongLong;
    };
    if (counts(now) && counts(before)) return Missing{now.answer.source, "two fields claim to be it"};
    if (counts(before)) return before.count();
    if (counts(now)) return now.count();
    if (now.answer.good() || before.answer.good()) return Missing{now.answer.source, "NOT_SUPPORTED"};
    return *now.answer.bad;
}

void tell_throttle_times(Session& session, Device gpu) {
    const auto got = session.fields(gpu, {{kPolicyPower},
                                          {kPolicyThermal},
                                          {kPolicySyncBoost},
                                          {kPolicyBoardLimit},
                                          {kSwThermal},
                                          {kHwThermal},
                                          {kPowerBrake},
                                          {kSwThermal129},
                                          {kHwThermal129},
                                          {kPowerBrake129}});
    session.say("clocks.power_cap_ns", got[0].count());
    session.say("clocks.thermal_ns", got[1].count());
    session.say("clocks.sync_boost_ns", got[2].count());
    session.say("clocks.board_limit_ns", got[3].count());
    session.say("clocks.sw_thermal_ns", one_of(got[4], got[7]));
    session.say("clocks.hw_thermal_ns", one_of(got[5], got[8]));
    session.tell("clocks.power_brake_ns", one_of(got[6], got[9]));
}

void tell_reasons(Session& session, std::string_view path,
                  const Call<Return(Device, unsigned long long*)>& call, Device gpu) {
    unsigned long long bits = ~0ULL;
    const Answer answer = session.ask(call, gpu, &bits);
    session.tell(path, answer.fact(decode_count(bits)));
}

}  // namespace

void read_clocks(Session& session, Device gpu) {
    const Calls& calls = session.calls();
    unsigned pstate = ~0U;
    const Answer answer = session.ask(calls.pstate, gpu, &pstate);
    session.tell("clocks.pstate", answer.fact(decode_unsigned(pstate, 15)));
    tell_mhz(session, "clocks.sm_mhz", calls.clock, gpu, kClockSm);
    tell_mhz(session, "clocks.memory_mhz", calls.clock, gpu, kClockMemory);
    tell_mhz(session, "clocks.sm_max_mhz", calls.clock_max, gpu, kClockSm);
    tell_mhz(session, "clocks.memory_max_mhz", calls.clock_max, gpu, kClockMemory);
    tell_mhz(session, "clocks.sm_application_mhz", calls.clock_application, gpu, kClockSm);
    tell_reasons(session, "clocks.event_reasons", calls.event_reasons, gpu);
    tell_reasons(session, "clocks.event_reasons_supported", calls.event_reasons_supported, gpu);
    tell_throttle_times(session, gpu);
}

void read_power(Session& session, Device gpu) {
    const Calls& calls = session.calls();
    tell_mw(session, "power.power_mw", calls.power, gpu);
    tell_mw(session, "power.limit_mw", calls.power_limit, gpu);
    tell_mw(session, "power.limit_enforced_mw", calls.power_enforced, gpu);
    tell_mw(session, "power.limit_default_mw", calls.power_default, gpu);
    unsigned low = ~0U, high = ~0U;
    Answer answer = session.ask(calls.power_constraints, gpu, &low, &high);
    const auto mw = [&](unsigned raw) {
        return answer.fact(raw == ~0U ? std::nullopt : decode_count(raw, kMaxMilliwatts));
    };
    session.say("power.limit_min_mw", mw(low));
    session.tell("power.limit_max_mw", mw(high));
    unsigned long long energy = ~0ULL;
    answer = session.ask(calls.energy, gpu, &energy);
    session.tell("power.energy_mj", answer.fact(decode_count(energy)));
    tell_temperature(session, gpu);
    tell_percent(session, "power.fan_percent", calls.fan, gpu);
    Utilization busy{~0U, ~0U};
    answer = session.ask(calls.utilization, gpu, &busy);
    session.say("power.gpu_busy_percent", answer.fact(decode_unsigned(busy.gpu, 100)));
    session.tell("power.memory_busy_percent", answer.fact(decode_unsigned(busy.memory, 100)));
}

}  // namespace gpucheck::vendor::nvml
