// The composition root: from the command line to one command.
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <variant>

#include "agent/cli/options.h"
#include "agent/log.h"
#include "agent/log_command.h"
#include "agent/report/explain.h"
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

struct Dispatch {
    const cli::ParsedOptions& parsed;

    int operator()(const cli::Stop& stop) const { return stop.status; }
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
