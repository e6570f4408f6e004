// gpucheck-fleet: many reports, one decision. Started by `gpucheck fleet`, so that no GPU node carries what
// only an operator's machine needs.
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <variant>

#include "agent/report/exit_status.h"
#include "fleet/cli/commands.h"
#include "fleet/cli/options.h"
#include "fleet/cli/output.h"

namespace gpucheck::fleet {
namespace {

struct Dispatch {
    int operator()(const Stop& stop) const { return stop.status; }
    int operator()(const SummaryOptions& options) const { return summary(options); }
    int operator()(const BaselineOptions& options) const { return baseline(options); }
    int operator()(const CompareOptions& options) const { return compare(options); }
    int operator()(const HtmlOptions& options) const { return html(options); }
    int operator()(const ServeCommand& options) const { return serve(options); }
};

}  // namespace
}  // namespace gpucheck::fleet

int main(int argc, char** argv) {
    // A reader that went away is told by write(2).
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return std::visit(gpucheck::fleet::Dispatch{}, gpucheck::fleet::parse(argc, argv));
    } catch (const std::bad_alloc&) {
        gpucheck::fleet::complain("out of memory");
    } catch (const std::exception& error) {
        gpucheck::fleet::complain(std::string("a defect of gpucheck-fleet: ") + error.what());
    }
    return gpucheck::kSoftware;
}
