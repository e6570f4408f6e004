// Merges --expect, the config, the provider's word and what the instance type promises; see expectations.h.
#include "agent/expectations.h"

#include "checks/specs/expect.h"
#include "checks/specs/instances.h"
#include "providers/detect.h"

namespace gpucheck {
namespace {

// A type that no row knows promises nothing: every expectation says why it is missing.
Expectations nothing_known(const std::string& source, const std::string& why) {
    Expectations expected;
    const Missing missing{source, why};
    expected.gpu_count = missing;
    expected.board = missing;
    return expected;
}

Instance from_options(const cli::MachineOptions& options) {
    Instance instance;
    if (!options.provider.empty())
        instance.provider = Fact<std::string>(providers::provider_named(options.provider), "--provider");
    if (!options.instance_type.empty())
        instance.type = Fact<std::string>(options.instance_type, "--instance-type");
    return instance;
}

std::variant<Expectations, std::string> of_the_type(const Instance& instance,
                                                    const cli::MachineOptions& options,
                                                    const BoardTable& boards) {
    if (!instance.type.known()) {
        if (!instance.provider.known()) return Expectations{};
        return nothing_known(instance.type.source(),
                             "the instance's type is not known: " + instance.type.why());
    }
    if (!instance.provider.known())
        return nothing_known(
            instance.type.source(),
            "types are named by their provider, and none is known: --provider NAME tells it");
    auto table = InstanceTable::load(options.specs_folder, &boards);
    if (auto* error = std::get_if<std::string>(&table)) return std::move(*error);
    const auto row = std::get<InstanceTable>(table).find(*instance.provider, *instance.type);
    if (row) return expectations_of(*row);
    return nothing_known("instances.json", "no row for " + *instance.provider + " " + *instance.type);
}

}  // namespace

std::variant<Promised, std::string> promised(const cli::MachineOptions& options, const BoardTable& boards,
                                             const Identified* who) {
    auto flags = parse_expect(options.expect, boards);
    if (auto* error = std::get_if<std::string>(&flags)) return std::move(*error);
    auto config = parse_expect(options.config_expect, boards, "config");
    if (auto* error = std::get_if<std::string>(&config)) return std::move(*error);
    Promised result;
    result.instance = who != nullptr ? who->instance : from_options(options);
    auto from_type = of_the_type(result.instance, options, boards);
    if (auto* error = std::get_if<std::string>(&from_type)) return std::move(*error);
    Expectations expected = std::move(std::get<Expectations>(from_type));
    // A service that names a type which nobody knows must not erase the one that the firmware names.
    if (who != nullptr && options.instance_type.empty() && !expected.gpu_count.known() &&
        who->type_offline.known()) {
        Instance offline = result.instance;
        offline.type = who->type_offline;
        auto known = of_the_type(offline, options, boards);
        if (const auto* promise = std::get_if<Expectations>(&known); promise && promise->gpu_count.known()) {
            expected = *promise;
            result.instance.type = who->type_offline;
        }
    }
    result.type_by_option = !options.instance_type.empty() || !options.provider.empty();
    if (who != nullptr && options.instance_type.empty()) {
        expected = merge(who->promised, std::move(expected), result.conflicts);
    } else if (who != nullptr) {  // the type that was asked for goes before what the service counts
        expected = merge(std::move(expected), who->promised, result.conflicts);
    }
    expected = merge(std::move(std::get<Expectations>(config)), std::move(expected), result.conflicts);
    result.expected = merge(std::move(std::get<Expectations>(flags)), std::move(expected), result.conflicts);
    if (result.instance.type.known() && !result.expected.gpu_count.known())
        result.unknown_type = result.instance.type;
    return result;
}

}  // namespace gpucheck
