// Merges --expect with what the instance type promises; see expectations.h.
#include "agent/expectations.h"

#include "checks/specs/expect.h"
#include "checks/specs/instances.h"

namespace gpucheck {
namespace {

// A type that no row knows promises nothing: every expectation says why it is missing.
Expectations nothing_known(const std::string& why) {
    Expectations expected;
    const Missing missing{"instances.json", why};
    expected.gpu_count = missing;
    expected.board = missing;
    return expected;
}

}  // namespace

std::variant<Promised, std::string> promised(const cli::MachineOptions& options, const BoardTable& boards) {
    auto flags = parse_expect(options.expect, boards);
    if (auto* error = std::get_if<std::string>(&flags)) return std::move(*error);
    Promised result;
    if (!options.provider.empty())
        result.instance.provider = Fact<std::string>(options.provider, "--provider");
    if (!options.instance_type.empty())
        result.instance.type = Fact<std::string>(options.instance_type, "--instance-type");
    Expectations from_type;
    if (!options.instance_type.empty()) {
        if (options.provider.empty())
            return "--instance-type needs --provider: types are named by their provider";
        auto table = InstanceTable::load(options.specs_folder, &boards);
        if (auto* error = std::get_if<std::string>(&table)) return std::move(*error);
        const auto row = std::get<InstanceTable>(table).find(options.provider, options.instance_type);
        from_type = row ? expectations_of(*row)
                        : nothing_known("no row for " + options.provider + " " + options.instance_type);
    }
    result.expected = merge(std::move(std::get<Expectations>(flags)), std::move(from_type), result.conflicts);
    return result;
}

}  // namespace gpucheck
