// A GPU's memory: errors that were corrected, errors that were not, and what the board did about them.
#include "agent/vendor/nvml_session.h"

namespace gpucheck::vendor::nvml {
namespace {

/// One counter of nvmlDeviceGetTotalEccErrors.
void tell_total(Session& session, std::string_view path, Device gpu, unsigned type, unsigned since) {
    unsigned long long count = ~0ULL;
    const Answer answer = session.ask(session.calls().ecc_total, gpu, type, since, &count);
    session.tell(path, answer.fact(decode_count(count)));
}

Fact<std::uint64_t> count_at(Session& session, Device gpu, unsigned type, unsigned since, unsigned location) {
    unsigned long long count = ~0ULL;
    const Answer answer = session.ask(session.calls().ecc_at, gpu, type, since, location, &count);
    return answer.fact(decode_count(count));
}

std::optional<std::uint64_t> sum(std::uint64_t a, std::uint64_t b) {
    if (!decode_count(a) || !decode_count(b) || a > ~b) return std::nullopt;
    return a + b;
}

/// SRAM's own status (driver 535 and later) says more than the counter by location; where both answer, the
/// counter by location stands, because the totals above are made of it.
void tell_sram(Session& session, Device gpu) {
    Fact<std::uint64_t> corrected = count_at(session, gpu, kCorrected, kVolatile, kLocationSram);
    Fact<std::uint64_t> uncorrected = count_at(session, gpu, kUncorrected, kVolatile, kLocationSram);
    Fact<std::uint64_t> aggregate = count_at(session, gpu, kUncorrected, kAggregate, kLocationSram);
    SramEccErrorStatus status{};
    const unsigned version = struct_version(sizeof status, 1);
    status.version = version;
    status.aggregate_unc_parity = status.aggregate_unc_secded = status.volatile_unc_parity = ~0ULL;
    status.volatile_unc_secded = status.volatile_cor = ~0ULL;
    status.threshold_exceeded = ~0U;
    const Answer answer = session.ask(session.calls().sram_status, gpu, &status);
    const bool whole = status.version == version;
    const auto from_status = [&](Fact<std::uint64_t>& fact, std::optional<std::uint64_t> value) {
        if (!fact.known() && answer.good()) fact = answer.fact(whole ? value : std::nullopt);
    };
    from_status(corrected, decode_count(status.volatile_cor));
    from_status(uncorrected, sum(status.volatile_unc_parity, status.volatile_unc_secded));
    from_status(aggregate, sum(status.aggregate_unc_parity, status.aggregate_unc_secded));
    session.say("ecc.sram_volatile_correctable", corrected);
    session.say("ecc.sram_volatile_uncorrectable", uncorrected);
    session.say("ecc.sram_aggregate_uncorrectable", aggregate);
    session.tell("ecc.sram_threshold_exceeded",
                 answer.fact(whole ? decode_flag(status.threshold_exceeded) : std::nullopt));
}

void tell_rows(Session& session, Device gpu) {
    unsigned corrected = ~0U, uncorrected = ~0U, pending = ~0U, failure = ~0U;
    Answer answer =
        session.ask(session.calls().remapped_rows, gpu, &corrected, &uncorrected, &pending, &failure);
    const auto rows = [&](unsigned raw) {
        return answer.fact(raw == ~0U ? std::nullopt : decode_count(raw, 1U << 30));
    };
    session.say("repair.rows_correctable", rows(corrected));
    session.say("repair.rows_uncorrectable", rows(uncorrected));
    session.say("repair.row_remap_pending", answer.fact(decode_flag(pending)));
    session.tell("repair.row_remap_failure", answer.fact(decode_flag(failure)));

    constexpr unsigned kMaxBanks = 1U << 24;
    RowRemapperHistogram banks{~0U, ~0U, ~0U, ~0U, ~0U};
    answer = session.ask(session.calls().remap_histogram, gpu, &banks);
    session.say("repair.banks_max", answer.fact(decode_unsigned(banks.max, kMaxBanks)));
    session.say("repair.banks_high", answer.fact(decode_unsigned(banks.high, kMaxBanks)));
    session.say("repair.banks_partial", answer.fact(decode_unsigned(banks.partial, kMaxBanks)));
    session.say("repair.banks_low", answer.fact(decode_unsigned(banks.low, kMaxBanks)));
    session.tell("repair.banks_none", answer.fact(decode_unsigned(banks.none, kMaxBanks)));
}

void tell_unrepairable(Session& session, Device gpu) {
    UnrepairableMemory memory;
    for (unsigned& word : memory.words) word = ~0U;
    memory.words[0] = struct_version(8, 1);
    Answer answer = session.ask(session.calls().unrepairable, gpu, &memory);
    session.tell("repair.memory_unrepairable", answer.fact(decode_unrepairable(memory)));

    const unsigned version = struct_version(sizeof(RepairStatus), 1);
    RepairStatus repair{version, ~0U, ~0U};
    answer = session.ask(session.calls().repair_status, gpu, &repair);
    const bool whole = repair.version == version;
    session.say("repair.channel_repair_pending",
                answer.fact(whole ? decode_flag(repair.channel_repair_pending) : std::nullopt));
    session.tell("repair.tpc_repair_pending",
                 answer.fact(whole ? decode_flag(repair.tpc_repair_pending) : std::nullopt));
}

}  // namespace

void read_ecc(Session& session, Device gpu) {
    const Calls& calls = session.calls();
    unsigned current = ~0U, pending = ~0U;
    Answer answer = session.ask(calls.ecc_mode, gpu, &current, &pending);
    session.say("ecc.current", answer.fact(decode_flag(current)));
    session.tell("ecc.pending", answer.fact(decode_flag(pending)));
    unsigned usual = ~0U;
    answer = session.ask(calls.ecc_default, gpu, &usual);
    session.tell("ecc.is_default", answer.fact(decode_flag(usual)));
    tell_total(session, "ecc.volatile_correctable", gpu, kCorrected, kVolatile);
    tell_total(session, "ecc.volatile_uncorrectable", gpu, kUncorrected, kVolatile);
    tell_total(session, "ecc.aggregate_correctable", gpu, kCorrected, kAggregate);
    tell_total(session, "ecc.aggregate_uncorrectable", gpu, kUncorrected, kAggregate);
    session.tell("ecc.dram_volatile_correctable",
                 count_at(session, gpu, kCorrected, kVolatile, kLocationDram));
    session.tell("ecc.dram_volatile_uncorrectable",
                 count_at(session, gpu, kUncorrected, kVolatile, kLocationDram));
    tell_sram(session, gpu);
}

void read_repair(Session& session, Device gpu) {
    tell_rows(session, gpu);
    const auto got = session.fields(gpu, {{kRetiredSbe}, {kRetiredDbe}, {kRetiredPending}});
    session.say("repair.retired_pages_sbe", got[0].count(1U << 24));
    session.say("repair.retired_pages_dbe", got[1].count(1U << 24));
    session.tell("repair.retired_pages_pending", got[2].flag());
    tell_unrepairable(session, gpu);
}

}  // namespace gpucheck::vendor::nvml
