// Rates from reports, boards and command lines; see cost_machine.h.
#include "agent/cost_machine.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "checks/specs/row_reader.h"

namespace gpucheck {
namespace {

using cost::MeasuredMachine;
using cost::Refusal;
using cost::RefusalCode;

struct Rate {
    std::string_view key;
    std::optional<double> MeasuredMachine::*member;
    double factor, least, most;
};
constexpr double kGiga = 1e9, kTera = 1e12;
constexpr Rate kRates[] = {
    {"bandwidth_gb_s", &MeasuredMachine::bandwidth_bytes_s, kGiga, 1, 1e6},
    {"fp16_tflops", &MeasuredMachine::fp16_flop_s, kTera, 0.1, 1e6},
    {"fp8_tflops", &MeasuredMachine::fp8_flop_s, kTera, 0.1, 1e6},
    {"fp4_tflops", &MeasuredMachine::fp4_flop_s, kTera, 0.1, 1e6},
    {"capacity_gb", &MeasuredMachine::capacity_bytes, kGiga, 1, 1e5},
    {"power_w", &MeasuredMachine::power_w, 1, 1, 1e5},
};

// A number, or {"value": number, "verified": bool}; what failed verification was not measured.
std::optional<double> measured(const Json& group, std::string_view key) {
    const Json* found = RowReader::member(group, key);
    if (found == nullptr) return std::nullopt;
    if (found->is_object()) {
        const Json* verified = RowReader::member(*found, "verified");
        if (verified != nullptr && (!verified->is_boolean() || !verified->get<bool>())) return std::nullopt;
        found = RowReader::member(*found, "value");
    }
    if (found == nullptr || !found->is_number()) return std::nullopt;
    const auto value = found->get<double>();
    return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<double> first_of(const Json& group, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        if (const auto value = measured(group, key)) return value;
    }
    return std::nullopt;
}

std::string text_of(const Json& object, std::string_view key) {
    const Json* found = RowReader::member(object, key);
    return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

// The slowest GPU counts; a rate that one GPU lacks is missing for all.
void keep_least(std::optional<double>& rate, std::optional<double> other, bool first) {
    if (first || !other) {
        rate = first || !rate ? (first ? other : rate) : std::nullopt;
        return;
    }
    if (rate) rate = std::min(*rate, *other);
}

Refusal nothing_measured(const std::string& why) {
    return {RefusalCode::no_measurement,
            why + "; --assume datasheet or --assume published estimate without, labelled so"};
}

std::optional<Refusal> unusable(const Json& report) {
    if (!text_of(report, "injected").empty()) {
        return Refusal{RefusalCode::no_measurement, "the report is of a run with an injected fault"};
    }
    const Json* count = RowReader::member(report, "gpu_count");
    const Json* expected = count != nullptr ? RowReader::member(*count, "expected") : nullptr;
    const Json* pci = count != nullptr ? RowReader::member(*count, "pci") : nullptr;
    if (expected != nullptr && pci != nullptr && expected->is_number_unsigned() && *expected != *pci) {
        return Refusal{RefusalCode::gpu_count_mismatch, "the report has not as many GPUs as were expected"};
    }
    return std::nullopt;
}

std::optional<Refusal> unusable_gpu(const Json& gpu) {
    const std::string name = text_of(gpu, "bdf").substr(0, 40);
    if (text_of(gpu, "verdict") == "fail") {
        return Refusal{RefusalCode::no_measurement, "GPU " + name + " failed: a failed GPU gets no tokens/s"};
    }
    const Json* partition = RowReader::member(gpu, "partition");
    const Json* logical = partition != nullptr ? RowReader::member(*partition, "logical_gpus") : nullptr;
    if (logical != nullptr && logical->is_number_unsigned() && logical->get<std::uint64_t>() > 1) {
        return Refusal{RefusalCode::partitioned,
                       "GPU " + name + " is in partitions, which need measurements of their own"};
    }
    return std::nullopt;
}

void take_gpu(const Json& gpu, const BoardRow& row, bool first, MeasuredMachine& machine) {
    const Json* found = RowReader::member(gpu, "measurements");
    static const Json kNone = Json::object();
    const Json& group = found != nullptr ? *found : kNone;
    const auto scaled = [](std::optional<double> value, double factor) {
        return value ? std::optional(*value * factor) : std::nullopt;
    };
    // The constants were fitted with what a copy kernel reaches on AMD and weight streaming on NVIDIA.
    const bool amd = row.board.vendor == Vendor::amd;
    const auto bandwidth = amd ? first_of(group, {"memory_copy_gb_s", "memory_read_gb_s"})
                               : first_of(group, {"memory_read_gb_s", "memory_copy_gb_s"});
    keep_least(machine.bandwidth_bytes_s, scaled(bandwidth, kGiga), first);
    keep_least(machine.fp16_flop_s, scaled(first_of(group, {"bf16_tflops", "fp16_tflops"}), kTera), first);
    keep_least(machine.fp8_flop_s, scaled(measured(group, "fp8_tflops"), kTera), first);
    keep_least(machine.fp4_flop_s, scaled(measured(group, "fp4_tflops"), kTera), first);
    auto capacity = measured(group, "capacity_bytes");
    if (!capacity) capacity = measured(gpu, "memory_bytes");
    keep_least(machine.capacity_bytes, capacity, first);
    keep_least(machine.power_w, measured(group, "power_w"), first);
}

}  // namespace

std::optional<double> number_from(std::string_view text) {
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

std::optional<std::pair<std::string, std::string>> key_value(const std::string& text) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size()) return std::nullopt;
    return std::pair{text.substr(0, at), text.substr(at + 1)};
}

std::variant<Json, UsageError> read_report(std::string_view text, const std::string& name) {
    auto parsed = parse_json(text);
    if (const auto* error = std::get_if<JsonError>(&parsed)) return UsageError{name + ": " + error->what};
    Json& report = std::get<Json>(parsed);
    const Json* gpus = RowReader::member(report, "gpus");
    if (gpus == nullptr || !gpus->is_array() || text_of(report, "schema_version").empty()) {
        return UsageError{name + ": not a report of gpucheck (gpucheck --format json makes one)"};
    }
    return std::move(report);
}

cost::Price price_from_report(const Json& report) {
    const Json* instance = RowReader::member(report, "instance");
    const Json* price = instance != nullptr ? RowReader::member(*instance, "price") : nullptr;
    if (price == nullptr) return {};
    const auto usd = cost::usable_price(measured(*price, "gpu_usd"));
    if (!usd) return {};
    const auto part = [&](std::string_view key) { return text_of(*price, key).substr(0, 60); };
    return {usd, "as reported: " + (part("source").empty() ? "no source" : part("source")), part("as_of"),
            part("market")};
}

MachineOutcome machine_from_report(const Json& report, const BoardTable& boards) {
    const Json* gpus = RowReader::member(report, "gpus");
    if (gpus == nullptr || !gpus->is_array()) return nothing_measured("the report has no GPU");
    if (gpus->empty()) return nothing_measured("the report has no GPU");
    if (auto refusal = unusable(report)) return *refusal;
    MeasuredMachine machine;
    machine.gpus = static_cast<unsigned>(std::min<std::size_t>(gpus->size(), 1024));
    for (const Json& gpu : *gpus) {
        if (auto refusal = unusable_gpu(gpu)) return *refusal;
        const BoardRow* row = boards.find_row(text_of(gpu, "board_key"));
        if (row == nullptr)
            return Refusal{RefusalCode::no_measurement, "the report has a GPU of an unknown board"};
        const bool first = &gpu == &gpus->front();
        if (!first && row->board.key != machine.board) {
            return Refusal{RefusalCode::gpu_count_mismatch, "the report has GPUs of different boards"};
        }
        if (first) {
            const MeasuredMachine sheet = cost::datasheet_machine(*row);
            machine.board = sheet.board;
            machine.board_name = sheet.board_name;
            machine.fabric = sheet.fabric;
            machine.has_fp8 = sheet.has_fp8;
            machine.has_fp4 = sheet.has_fp4;
        }
        take_gpu(gpu, *row, first, machine);
    }
    if (!machine.bandwidth_bytes_s || !machine.fp16_flop_s) {
        return nothing_measured(
            "the report has no measured bandwidth and memory-to-memory matrix rate of every GPU");
    }
    const Json* simulated = RowReader::member(report, "simulated");
    const bool recorded = simulated != nullptr && simulated->is_boolean() && simulated->get<bool>();
    machine.basis = cost::Basis::measured;
    machine.source = "measured by gpucheck, report " + text_of(report, "report_id").substr(0, 40) + " of " +
                     text_of(report, "created").substr(0, 30) + (recorded ? ", simulated" : "");
    return machine;
}

std::optional<UsageError> unknown_board(const std::string& board, const BoardTable& boards) {
    if (boards.find_row(board) != nullptr) return std::nullopt;
    std::string text = "no board '" + board.substr(0, 60) + "'";
    const std::vector<std::string> near = boards.near_keys(board);
    for (std::size_t i = 0; i < near.size(); ++i) text += (i == 0 ? "; did you mean " : " or ") + near[i];
    return UsageError{text + " (see gpucheck specs)"};
}

MachineOutcome assumed_machine(const std::string& board, const std::string& assume, unsigned gpus,
                               const BoardTable& boards, const cost::Tables& tables) {
    if (auto error = unknown_board(board, boards)) return *error;
    const BoardRow* row = boards.find_row(board);
    MeasuredMachine machine = cost::datasheet_machine(*row);
    if (assume == "published") {
        const cost::BoardRates* rates = tables.rates_of(board);
        if (rates == nullptr) {
            return Refusal{RefusalCode::no_measurement, "no published rates of a healthy " + row->board.name +
                                                            "; --assume datasheet has its datasheet"};
        }
        machine = rates->machine;
        machine.board_name = row->board.name;
    }
    machine.gpus = gpus;
    return machine;
}

std::optional<UsageError> apply_measured(const std::vector<std::string>& texts, MeasuredMachine& machine) {
    for (const std::string& text : texts) {
        const auto pair = key_value(text);
        const auto value = pair ? number_from(pair->second) : std::nullopt;
        const auto* rate = std::find_if(std::begin(kRates), std::end(kRates),
                                        [&](const Rate& r) { return pair && r.key == pair->first; });
        if (rate == std::end(kRates)) {
            return UsageError{
                "--measured " + text.substr(0, 60) +
                ": KEY=VALUE with bandwidth_gb_s, fp16_tflops, fp8_tflops, fp4_tflops, capacity_gb, power_w"};
        }
        if (!value || *value < rate->least || *value > rate->most) {
            return UsageError{"--measured " + text.substr(0, 60) + ": not a number in the range of its unit"};
        }
        machine.*(rate->member) = value.value_or(0) * rate->factor;  // known: g++ does not see it
        if (rate->key == "fp8_tflops") machine.has_fp8 = true;
        if (rate->key == "fp4_tflops") machine.has_fp4 = true;
    }
    return std::nullopt;
}

}  // namespace gpucheck
