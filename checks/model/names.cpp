// Names of the device vocabularies (vendor, form factor, node kind), both ways.
#include <array>
#include <cstddef>

#include "checks/model/board.h"
#include "checks/model/device.h"
#include "checks/model/vocabulary.h"

namespace gpucheck {
namespace {

using namespace std::string_view_literals;

constexpr std::array kVendors{"nvidia"sv, "amd"sv};
constexpr std::array kForms{"pcie"sv, "sxm"sv, "oam"sv, "superchip"sv};
constexpr std::array kNodeKinds{
    "kfd"sv,        "render"sv,           "card"sv,           "nvidia_gpu"sv, "nvidia_ctl"sv,
    "nvidia_uvm"sv, "nvidia_uvm_tools"sv, "nvidia_modeset"sv, "nvidia_cap"sv, "nvidia_nvswitch"sv};

}  // namespace

std::string_view name_of(Vendor vendor) {
    return name_in(kVendors, vendor);
}
std::string_view name_of(FormFactor form) {
    return name_in(kForms, form);
}
std::string_view name_of(NodeKind kind) {
    return name_in(kNodeKinds, kind);
}
std::optional<Vendor> vendor_from(std::string_view name) {
    return value_in<Vendor>(kVendors, name);
}
std::optional<FormFactor> form_factor_from(std::string_view name) {
    return value_in<FormFactor>(kForms, name);
}
std::optional<NodeKind> node_kind_from(std::string_view name) {
    return value_in<NodeKind>(kNodeKinds, name);
}

}  // namespace gpucheck
