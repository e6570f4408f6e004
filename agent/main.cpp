// The composition root: from the command line to one command.
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <variant>

#include "agent/cli/options.h"
#include "agent/cost_command.h"
#include "agent/fleet_command.h"
#include "agent/log.h"
#include "agent/log_command.h"
#include "agent/machine.h"
#include "agent/report/explain.h"
#include "agent/report/report_id.h"
#include "agent/report_command.h"
#include "agent/run.h"
#include "checks/model/check.h"
#include "checks/specs/boards.h"

namespace gpucheck {
namespace {

int explain(const cli::ExplainOptions& options) {
    const report::Explanation text =
        report::render_explain(options.code, all_checks(), {.json = options.json});
    if (!text.found) {
        log_error(text.text);
        return kUsage;
    }
    return print(text.text);
}

int specs(const cli::SpecsOptions& options) {
    const auto loaded = BoardTable::load(options.specs_folder);
    if (const auto* error = std::get_if<std::string>(&loaded)) {
        log_error(*error);
        return kUsage;
    }
    const BoardTable& boards = std::get<BoardTable>(loaded);
    return print(options.json ? dump_json(render_specs_json(boards, options.filter)) + "\n"
                              : render_specs_text(boards, options.filter));
}

// Which GPUs the machine has, by its files alone.
std::variant<MachineBoards, std::string> look(const cli::MachineOptions& options) {
    auto opened = open_target(options);
    if (auto* error = std::get_if<std::string>(&opened)) return std::move(*error);
    const Snapshot snapshot = read_machine(std::get<Target>(opened), 1000);
    MachineBoards found;
    found.gpus = static_cast<unsigned>(snapshot.gpus.size());
    if (snapshot.gpus.empty()) found.why = "no GPU found";
    for (const Device& gpu : snapshot.gpus) {
        found.partitioned = found.partitioned || gpu.amd.kfd_nodes.size() > 1;
        if (!gpu.board.known()) {
            found.why = "the board of " + gpu.bdf.str() + " is not known";
        } else if (&gpu != &snapshot.gpus.front() && gpu.board->key != found.board) {
            found.why = "this machine has different boards";
        } else {
            found.board = gpu.board->key;
        }
    }
    if (!found.why.empty()) found.board.clear();
    return found;
}

int cost_of_tokens(const cli::CostOptions& options) {
    const CostSurroundings surroundings{report::rfc3339_now().substr(0, 10),
                                        [&options] { return look(options.machine); }};
    const int status = run_cost(options, surroundings, std::cout, std::cerr);
    std::cout.flush();
    return std::cout ? status : kSoftware;
}

struct Dispatch {
    const cli::ParsedOptions& parsed;

    int operator()(const cli::Stop& stop) const {
        if (stop.boot) announce_refusal(*stop.boot, stop.why);
        return stop.status;
    }
    int operator()(const cli::RunOptions& options) const { return run(options); }
    int operator()(const cli::ListOptions& options) const { return list(options); }
    int operator()(const cli::ExplainOptions& options) const { return explain(options); }
    int operator()(const cli::CaptureOptions& options) const { return capture_machine(options); }
    int operator()(const cli::SpecsOptions& options) const { return specs(options); }
    int operator()(const cli::LogOptions& options) const {
        const int status = run_log({options.path, options.format, options.gpu, options.since_boot, colours()},
                                   std::cout, std::cerr);
        std::cout.flush();
        return std::cout ? status : kSoftware;
    }
    int operator()(const cli::CostOptions& options) const { return cost_of_tokens(options); }
    int operator()(const cli::ReportOptions& options) const { return report_command(options); }
    int operator()(const cli::FleetOptions& options) const { return fleet_command(options); }
    int operator()(const cli::CompletionOptions&) const { return print(parsed.completion); }
};

}  // namespace
}  // namespace gpucheck

int main(int argc, char** argv) {
    // A reader that went away is told by write(2), not by a signal that would end a run half-way.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        const gpucheck::cli::ParsedOptions parsed = gpucheck::cli::parse(argc, argv);
        gpucheck::set_log_level(parsed.log_level);
        return std::visit(gpucheck::Dispatch{parsed}, parsed.command);
    } catch (const std::bad_alloc&) {
        gpucheck::log_error("out of memory");
    } catch (const std::exception& error) {
        gpucheck::log_error(std::string("a defect of gpucheck: ") + error.what());
    }
    return gpucheck::kSoftware;
}
