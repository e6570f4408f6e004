// From a command line to a plan; see cost_plan.h.
#include "agent/cost_plan.h"

#include <algorithm>

#include "agent/cost_file.h"
#include "checks/cost/data/hf_config.h"

namespace gpucheck {
namespace {

using cost::Refusal;
using cost::RefusalCode;

constexpr std::size_t kLargestConfig = std::size_t{1} << 20, kLargestReport = std::size_t{64} << 20;
constexpr unsigned kMostGpus = 1024, kAssumedGpus = 8;
// One small, one usual, one large dense model and a mixture of experts.
constexpr const char* kUsualModels[] = {"llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b", "qwen3-235b-a22b"};

// One number of the command line within bounds; empty text: `otherwise`.
std::optional<double> bounded(const std::string& text, double otherwise, double least, double most) {
    if (text.empty()) return otherwise;
    const auto value = number_from(text);
    return value && *value >= least && *value <= most ? value : std::nullopt;
}

std::optional<UsageError> read_models(const cli::CostOptions& options, CostPlan& plan) {
    if (options.models.empty()) {
        for (const char* key : kUsualModels) {
            if (const cost::LlmModel* model = plan.tables.model(key)) plan.models.push_back(model);
        }
        if (plan.models.empty())
            return UsageError{"models.json has none of the usual models: name one with --model"};
        return std::nullopt;
    }
    for (const std::string& name : options.models) {
        if (const cost::LlmModel* model = plan.tables.model(name)) {
            plan.models.push_back(model);
            continue;
        }
        if (!name.ends_with(".json") && name.find('/') == std::string::npos) {
            return UsageError{
                "--model " + name.substr(0, 80) +
                ": neither a model of --list-models nor a config.json: a size is never guessed from a name"};
        }
        const auto text = read_text_file(name, kLargestConfig);
        if (const auto* error = std::get_if<FileError>(&text)) return UsageError{"--model " + error->what};
        auto model = cost::read_hf_config(std::get<std::string>(text), name);
        if (const auto* error = std::get_if<std::string>(&model)) return UsageError{"--model " + *error};
        plan.read_models.push_back(
            std::make_unique<cost::LlmModel>(std::move(std::get<cost::LlmModel>(model))));
        plan.models.push_back(plan.read_models.back().get());
    }
    return std::nullopt;
}

std::optional<UsageError> read_load(const cli::CostOptions& options, CostPlan& plan) {
    const auto isl = bounded(options.isl, 1000, 1, 1e9), osl = bounded(options.osl, 1000, 1, 1e9);
    if (!isl)
        return UsageError{"--isl " + options.isl.substr(0, 40) + ": not a number of tokens from 1 to 1e9"};
    if (!osl)
        return UsageError{"--osl " + options.osl.substr(0, 40) + ": not a number of tokens from 1 to 1e9"};
    plan.lengths = {{*isl, *osl}};
    if (options.isl.empty() && options.osl.empty() && !options.compare.empty())
        plan.lengths.emplace_back(8192, 1024);
    if (!options.concurrency.empty()) {
        plan.concurrency = bounded(options.concurrency, 1, 1, 1e9);
        if (!plan.concurrency) {
            return UsageError{"--concurrency " + options.concurrency.substr(0, 40) +
                              ": not a number from 1 to 1e9"};
        }
    }
    if (!options.weights.empty()) {
        plan.weights = cost::precision_from(options.weights);
        if (!plan.weights) return UsageError{"--weights is none of fp16, fp8, fp4, mxfp4"};
    }
    if (!options.kv.empty()) {
        plan.kv = cost::precision_from(options.kv);
        if (plan.kv != cost::Precision::fp16 && plan.kv != cost::Precision::fp8) {
            return UsageError{"--kv is neither fp16 nor fp8"};
        }
    }
    const auto utilization = bounded(options.utilization, 0.5, 1e-6, 1);
    if (!utilization) return UsageError{"--utilization is no fraction in (0, 1]"};
    plan.utilization = *utilization;
    if (!options.group.empty()) {
        const auto group = number_from(options.group);
        if (!group || (*group != 1 && *group != 2 && *group != 4 && *group != 8)) {
            return UsageError{"--tp is none of 1, 2, 4, 8"};
        }
        plan.group = static_cast<unsigned>(*group);
    }
    for (const std::string& name : {options.scenario}) {
        if (!name.empty() && name != "offline" && name != "server" && name != "interactive") {
            return UsageError{"--scenario is none of offline, server, interactive"};
        }
    }
    return std::nullopt;
}

struct Count {
    std::optional<unsigned> gpus;
    std::optional<UsageError> error;
};

Count count_of(const cli::CostOptions& options) {
    if (options.gpus.empty()) return {};
    const auto value = number_from(options.gpus);
    if (!value || *value < 1 || *value > kMostGpus || *value != static_cast<unsigned>(*value)) {
        return {std::nullopt, UsageError{"--gpus is no whole number from 1 to 1024"}};
    }
    return {static_cast<unsigned>(*value), std::nullopt};
}

// --measured on top of what is assumed; alone, what nobody measured stays unknown, but for the memory's size.
MachineOutcome given_machine(const cli::CostOptions& options, const std::string& board, unsigned gpus,
                             const BoardTable& boards, const cost::Tables& tables) {
    cost::MeasuredMachine machine;
    if (!board.empty()) {
        auto base = assumed_machine(board, options.assume, gpus, boards, tables);
        if (!std::holds_alternative<cost::MeasuredMachine>(base)) return base;
        machine = std::get<cost::MeasuredMachine>(base);
    }
    if (options.assume.empty()) {
        machine.bandwidth_bytes_s.reset();
        machine.fp16_flop_s.reset();
        machine.fp8_flop_s.reset();
        machine.fp4_flop_s.reset();
        machine.basis = cost::Basis::given;
        machine.source = "given with --measured";
        if (machine.capacity_bytes) machine.source += "; memory size of a healthy board unless given";
    } else {
        machine.source = "given with --measured, else " + machine.source;
        if (options.assume == "published") machine.basis = cost::Basis::given;
    }
    machine.gpus = gpus;
    if (auto error = apply_measured(options.measured, machine)) return *error;
    return machine;
}

// The board and the count when no report says them.
std::variant<std::pair<std::string, unsigned>, Refusal, UsageError> board_of(
    const cli::CostOptions& options, const CostSurroundings& surroundings, std::optional<unsigned> gpus,
    std::vector<std::string>& notes) {
    std::string board = options.board;
    if (board.empty() && !options.compare.empty()) board = options.compare.front();
    if (!board.empty()) {
        if (!gpus) notes.push_back("8 GPUs assumed; --gpus says how many the instance has");
        return std::pair{board, gpus.value_or(kAssumedGpus)};
    }
    const auto looked = surroundings.look();
    if (const auto* error = std::get_if<std::string>(&looked)) return UsageError{*error};
    const MachineBoards& found = std::get<MachineBoards>(looked);
    if (found.partitioned) {
        return Refusal{RefusalCode::partitioned, "GPUs in partitions need measurements of their own"};
    }
    if (found.board.empty()) return Refusal{RefusalCode::no_measurement, found.why + "; --board names one"};
    if (gpus && *gpus != found.gpus) {
        return Refusal{
            RefusalCode::gpu_count_mismatch,
            "--gpus " + std::to_string(*gpus) + ", and this machine has " + std::to_string(found.gpus)};
    }
    return std::pair{found.board, found.gpus};
}

// The report of --from, or the one that is being made.
std::variant<Json, UsageError> reported(const cli::CostOptions& options,
                                        const CostSurroundings& surroundings) {
    if (surroundings.report != nullptr) return read_report(*surroundings.report, "this report");
    const auto text = read_text_file(options.from, kLargestReport);
    if (const auto* error = std::get_if<FileError>(&text)) return UsageError{"--from " + error->what};
    auto report = read_report(std::get<std::string>(text), options.from);
    if (const auto* error = std::get_if<UsageError>(&report)) return UsageError{"--from " + error->what};
    return report;
}

MachineOutcome own_machine(const cli::CostOptions& options, const CostSurroundings& surroundings,
                           const BoardTable& boards, CostPlan& plan) {
    const Count count = count_of(options);
    if (count.error) return *count.error;
    if (!options.from.empty() && (!options.board.empty() || !options.measured.empty()))
        return UsageError{
            "--from takes board and measurements from the report: neither --board nor --measured beside it"};
    if (!options.from.empty() || surroundings.report != nullptr) {
        auto report = reported(options, surroundings);
        if (const auto* error = std::get_if<UsageError>(&report)) return *error;
        plan.reported = price_from_report(std::get<Json>(report));
        auto machine = machine_from_report(std::get<Json>(report), boards);
        const auto* made = std::get_if<cost::MeasuredMachine>(&machine);
        if (made != nullptr && count.gpus && *count.gpus != made->gpus) {
            return Refusal{RefusalCode::gpu_count_mismatch,
                           "--gpus differs from the report's number of GPUs"};
        }
        return machine;
    }
    if (options.assume.empty() && options.measured.empty()) {
        return Refusal{RefusalCode::no_measurement,
                       "nothing was measured: --from takes a report's measurements, --measured your own; "
                       "--assume datasheet "
                       "or --assume published estimate without, labelled so"};
    }
    if (!options.measured.empty() && options.board.empty() && options.compare.empty() && count.gpus) {
        // Rates alone are enough for an estimate; only the board's name and formats are not known then.
        const auto looked = surroundings.look();
        const auto* found = std::get_if<MachineBoards>(&looked);
        if (found == nullptr || found->board.empty())
            return given_machine(options, "", *count.gpus, boards, plan.tables);
    }
    const auto board = board_of(options, surroundings, count.gpus, plan.notes);
    if (const auto* refusal = std::get_if<Refusal>(&board)) return *refusal;
    if (const auto* error = std::get_if<UsageError>(&board)) return *error;
    const auto& [key, gpus] = std::get<std::pair<std::string, unsigned>>(board);
    if (!options.measured.empty()) return given_machine(options, key, gpus, boards, plan.tables);
    return assumed_machine(key, options.assume, gpus, boards, plan.tables);
}

// The others of --compare: never measured here.
std::variant<std::vector<cost::MeasuredMachine>, Refusal, UsageError> others(const cli::CostOptions& options,
                                                                             const cost::MeasuredMachine& own,
                                                                             const BoardTable& boards,
                                                                             CostPlan& plan) {
    std::vector<cost::MeasuredMachine> machines;
    const std::string assume = options.assume.empty() ? "published" : options.assume;
    for (const std::string& board : options.compare) {
        const bool own_assumed = own.basis == cost::Basis::published || own.basis == cost::Basis::datasheet;
        if (own_assumed && board == own.board) continue;
        auto made = assumed_machine(board, assume, own.gpus, boards, plan.tables);
        if (auto* error = std::get_if<UsageError>(&made)) return *error;
        if (auto* refusal = std::get_if<Refusal>(&made)) {
            plan.notes.push_back(board + " is left out: " + refusal->why);
            continue;
        }
        machines.push_back(std::move(std::get<cost::MeasuredMachine>(made)));
    }
    return machines;
}

}  // namespace

PlanOutcome plan_cost(const cli::CostOptions& options, const CostSurroundings& surroundings) {
    CostPlan plan;
    if (!options.assume.empty() && options.assume != "datasheet" && options.assume != "published") {
        return UsageError{"--assume is neither datasheet nor published"};
    }
    auto boards = BoardTable::load(options.machine.specs_folder);
    if (auto* error = std::get_if<std::string>(&boards)) return UsageError{*error};
    const BoardTable& table = std::get<BoardTable>(boards);
    auto tables = cost::Tables::load(options.machine.specs_folder);
    if (auto* error = std::get_if<std::string>(&tables)) return UsageError{*error};
    plan.tables = std::move(std::get<cost::Tables>(tables));
    if (auto error = read_models(options, plan)) return *error;
    if (auto error = read_load(options, plan)) return *error;
    for (const std::string& board : options.compare) {  // an option eaten as a board is said first of all
        if (auto error = unknown_board(board, table)) return *error;
    }
    auto own = own_machine(options, surroundings, table, plan);
    if (auto* error = std::get_if<UsageError>(&own)) return *error;
    if (auto* refusal = std::get_if<Refusal>(&own)) return *refusal;
    cost::MeasuredMachine& machine = std::get<cost::MeasuredMachine>(own);
    if (!options.fabric.empty()) {
        const auto fabric = cost::fabric_from(options.fabric);
        if (!fabric) return UsageError{"--fabric is none of nvlink3, nvlink4, nvlink5, pcie4, xgmi"};
        machine.fabric = *fabric;
    }
    auto rest = others(options, machine, table, plan);
    if (auto* error = std::get_if<UsageError>(&rest)) return *error;
    if (auto* refusal = std::get_if<Refusal>(&rest)) return *refusal;
    plan.machines.push_back({std::move(machine), {}});
    for (auto& other : std::get<std::vector<cost::MeasuredMachine>>(rest))
        plan.machines.push_back({std::move(other), {}});
    if (auto error = set_prices(options, table, plan)) return *error;
    return plan;
}

}  // namespace gpucheck
