// The five outcomes and the small vocabularies of a finding, with their one spelling each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpucheck {

/// Ordered for aggregation: the worst of several is the largest.
enum class Verdict : std::uint8_t { not_applicable, pass, warn, unknown, fail };
/// Who can mend it.
enum class Scope : std::uint8_t { guest, host, unknown };
/// What running a check does to the machine.
enum class Impact : std::uint8_t { passive, interactive, disruptive };
/// What the operator does next (design: the action vocabulary).
enum class Action : std::uint8_t {
    none,
    monitor,
    restart_app,
    fix_guest_config,
    install_driver,
    reset_gpu,
    reboot,
    power_cycle,
    recreate_instance,
    drain_and_replace,
    contact_provider,
};
enum class Profile : std::uint8_t { quick, boot, acceptance, soak };

std::string_view name_of(Verdict verdict);
std::string_view name_of(Scope scope);
std::string_view name_of(Impact impact);
std::string_view name_of(Action action);
std::string_view name_of(Profile profile);

std::optional<Verdict> verdict_from(std::string_view name);
std::optional<Scope> scope_from(std::string_view name);
std::optional<Impact> impact_from(std::string_view name);
std::optional<Action> action_from(std::string_view name);
std::optional<Profile> profile_from(std::string_view name);

}  // namespace gpucheck
