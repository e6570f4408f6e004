// Names of the vocabularies of verdict.h, both ways, from one table each.
#include "checks/model/verdict.h"

#include <array>

#include "checks/model/vocabulary.h"

namespace gpucheck {
namespace {

using namespace std::string_view_literals;

constexpr std::array kVerdicts{"not_applicable"sv, "pass"sv, "warn"sv, "unknown"sv, "fail"sv};
constexpr std::array kScopes{"guest"sv, "host"sv, "unknown"sv};
constexpr std::array kImpacts{"passive"sv, "interactive"sv, "disruptive"sv};
constexpr std::array kActions{"none"sv,
                              "monitor"sv,
                              "restart_app"sv,
                              "fix_guest_config"sv,
                              "install_driver"sv,
                              "reset_gpu"sv,
                              "reboot"sv,
                              "power_cycle"sv,
                              "recreate_instance"sv,
                              "drain_and_replace"sv,
                              "contact_provider"sv};
constexpr std::array kProfiles{"quick"sv, "boot"sv, "acceptance"sv, "soak"sv};

}  // namespace

std::string_view name_of(Verdict verdict) {
    return name_in(kVerdicts, verdict);
}
std::string_view name_of(Scope scope) {
    return name_in(kScopes, scope);
}
std::string_view name_of(Impact impact) {
    return name_in(kImpacts, impact);
}
std::string_view name_of(Action action) {
    return name_in(kActions, action);
}
std::string_view name_of(Profile profile) {
    return name_in(kProfiles, profile);
}

std::optional<Verdict> verdict_from(std::string_view name) {
    return value_in<Verdict>(kVerdicts, name);
}
std::optional<Scope> scope_from(std::string_view name) {
    return value_in<Scope>(kScopes, name);
}
std::optional<Impact> impact_from(std::string_view name) {
    return value_in<Impact>(kImpacts, name);
}
std::optional<Action> action_from(std::string_view name) {
    return value_in<Action>(kActions, name);
}
std::optional<Profile> profile_from(std::string_view name) {
    return value_in<Profile>(kProfiles, name);
}

}  // namespace gpucheck
