// From options to a snapshot; see machine.h.
#include "agent/machine.h"

#include <filesystem>
#include <system_error>

#include "agent/collect.h"

namespace gpucheck {

std::variant<Target, std::string> open_target(const cli::MachineOptions& options) {
    auto boards = BoardTable::load(options.specs_folder);
    if (auto* error = std::get_if<std::string>(&boards)) return std::move(*error);
    if (std::error_code error;
        !options.driver_dir.empty() && !std::filesystem::is_directory(options.driver_dir, error)) {
        return options.driver_dir + ": no folder to load vendor libraries from";
    }
    auto promise = promised(options, std::get<BoardTable>(boards));
    if (auto* error = std::get_if<std::string>(&promise)) return std::move(*error);
    if (options.machine.empty()) {
        return Target{std::move(std::get<BoardTable>(boards)),
                      std::move(std::get<Promised>(promise)),
                      host::Sysroot::live(),
                      options.kernel_log,
                      {true, options.driver_dir},
                      std::nullopt};
    }
    auto root = host::Sysroot::recorded(options.machine);
    if (auto* error = std::get_if<std::string>(&root)) return std::move(*error);
    auto answers = vendor::read_vendor_json(options.machine);
    if (auto* error = std::get_if<std::string>(&answers)) return std::move(*error);
    return Target{std::move(std::get<BoardTable>(boards)),           std::move(std::get<Promised>(promise)),
                  std::move(std::get<host::Sysroot>(root)),          options.kernel_log,
                  {!options.driver_dir.empty(), options.driver_dir}, std::move(std::get<0>(answers))};
}

Snapshot read_machine(const Target& target, int node_deadline_ms) {
    Snapshot snapshot;
    snapshot.instance = target.promise.instance;
    snapshot.expected = target.promise.expected;
    collect_facts(target.root, snapshot, node_deadline_ms, target.kernel_log);
    match_boards(target.boards, snapshot);
    return snapshot;
}

}  // namespace gpucheck
