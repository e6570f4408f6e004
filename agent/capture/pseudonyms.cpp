// Invents replacements; see pseudonyms.h. Addresses come from the blocks set aside for documentation.
#include "agent/capture/pseudonyms.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace gpucheck::capture {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
    std::array<char, 96> buffer{};
    const int length = std::snprintf(buffer.data(), buffer.size(), pattern, values...);
    return {buffer.data(),
            static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(buffer.size()) - 1))};
}

template <std::size_t Count>
bool is_one_of(std::string_view text, const std::array<std::string_view, Count>& list) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

// Namespaces of EFI variables and tables (UEFI specification 3.3 and 32.6; shim; systemd-boot): part of file
// names.
constexpr std::array<std::string_view, 5> kFirmwareGuids{
    "8be4df61-93ca-11d2-aa0d-00e098032b8c", "d719b2cb-3d3a-4596-a3bc-dad00e67656f",
    "605dab50-e046-4300-abb6-3dd810dd8b23", "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f",
    "00000000-0000-0000-0000-000000000000"};

// What a maker leaves in a serial that nobody set.
constexpr std::array<std::string_view, 14> kPlaceholders{"none",
                                                         "n/a",
                                                         "unknown",
                                                         "default string",
                                                         "not specified",
                                                         "to be filled by o.e.m.",
                                                         "system serial number",
                                                         "0123456789",
                                                         "not applicable",
                                                         "not available",
                                                         "empty",
                                                         "123456789",
                                                         "base board serial number",
                                                         "chassis serial number"};

// Loopback, the unspecified address, and the metadata services that providers document for everybody.
constexpr std::array<std::string_view, 9> kPublicIpv4{"127.0.0.1",     "127.0.1.1",       "0.0.0.0",
                                                      "127.0.0.53",    "169.254.169.254", "169.254.170.2",
                                                      "168.63.129.16", "100.100.100.200", "169.254.42.42"};
constexpr std::array<std::string_view, 6> kPublicIpv6{"::",      "::1",     "fd00:ec2::254",
                                                      "ff02::1", "ff02::2", "fe00::0"};

constexpr std::array<std::string_view, 58> kEverydayNames{
    "localhost", "localdomain", "ubuntu",  "debian",  "fedora",   "centos",  "rocky",     "alma",
    "almalinux", "rhel",        "linux",   "server",  "host",     "node",    "gpu",       "gpus",
    "nvidia",    "amd",         "amdgpu",  "root",    "worker",   "master",  "test",      "none",
    "unknown",   "default",     "kernel",  "system",  "instance", "machine", "container", "docker",
    "podman",    "user",        "users",   "admin",   "opc",      "core",    "azure",     "azureuser",
    "ec2-user",  "cloud-user",  "vagrant", "nobody",  "metadata", "driver",  "module",    "version",
    "device",    "memory",      "cloud",   "compute", "render",   "video",   "systemd",   "droplet",
    "runner",    "workspace"};

bool is_netmask(std::string_view address) {
    return address.starts_with("255.");
}

// A provider is recognised by the beginning of these (AWS: product_uuid, also byte-swapped, cloud-init's
// ds-identify).
std::string kept_beginning_of_uuid(std::string_view uuid) {
    if (uuid.starts_with("ec2")) return "ec200000";
    if (uuid[4] == '2' && uuid.substr(6, 2) == "ec") return "0000" + std::string(uuid.substr(4, 4));
    return "00000000";
}

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}
bool is_decimal(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Keeps what a provider is recognised by, and whether it is a number (DigitalOcean's is the droplet's id).
std::string invent_serial(std::string_view original, unsigned number) {
    for (const std::string_view prefix : {std::string_view("GoogleCloud-"), std::string_view("ds=nocloud")}) {
        if (original.starts_with(prefix))
            return std::string(prefix) + (prefix.back() == '-' ? format("%032x", number) : "");
    }
    if (is_decimal(original) && original.size() >= 4) {
        std::string digits = format("%u", number);
        const std::size_t zeros =
            original.size() > digits.size() + 1 ? original.size() - digits.size() - 1 : 0;
        return "9" + std::string(zeros, '0') + digits;
    }
    return format("SERIAL%06u", number);
}

std::string invent_ipv4(unsigned number) {
    constexpr std::array<const char*, 3> kDocumentation{"192.0.2.", "198.51.100.", "203.0.113."};  // RFC 5737
    const unsigned block = (number - 1) / 254;
    if (block < kDocumentation.size()) return kDocumentation[block] + std::to_string((number - 1) % 254 + 1);
    return format("240.%u.%u.%u", (number >> 16) & 255U, (number >> 8) & 255U,
                  number & 255U);  // reserved: RFC 1112
}

}  // namespace

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

bool is_everyday_name(std::string_view name) {
    return is_one_of(lower(name), kEverydayNames) || name.starts_with("ip6-") ||
           name.starts_with("localhost");
}

std::string Pseudonyms::of(Identity identity, std::string_view original) {
    const std::string key =
        identity == Identity::serial || identity == Identity::user ? std::string(original) : lower(original);
    if (const auto found = known_.find({identity, key}); found != known_.end()) return found->second;
    std::string replacement = invent(identity, key);
    known_.emplace(std::pair{identity, key}, replacement);
    return replacement;
}

std::string Pseudonyms::invent(Identity identity, const std::string& original) {
    const auto next = [&] { return ++counts_[identity]; };
    switch (identity) {
        case Identity::uuid:
            if (is_one_of(original, kFirmwareGuids)) return original;
            return kept_beginning_of_uuid(original) + format("-0000-4000-8000-%012x", next());
        case Identity::serial: {
            const bool blank = original.find_first_not_of("0xX.-_ ") == std::string::npos;
            if (blank || original.size() < 4 || is_one_of(lower(original), kPlaceholders)) return original;
            if (original.size() == 16 && is_hex(original) &&
                !is_decimal(original)) {  // amdgpu prints unique_id there
                return format("%016llx", static_cast<unsigned long long>(
                                             of_hardware_id(std::strtoull(original.c_str(), nullptr, 16))));
            }
            return invent_serial(original, next());
        }
        case Identity::machine_id:
            return format("%032x", next());
        case Identity::host:
            return format("host-%u", next());
        case Identity::user:
            return format("user%u", next());
        case Identity::mac:
            if (original.find_first_not_of("0:-") == std::string::npos ||
                original.find_first_not_of("f:-") == std::string::npos) {
                return original;
            } else {
                const unsigned number = next();  // locally administered
                return format("02:00:00:%02x:%02x:%02x", (number >> 16) & 255U, (number >> 8) & 255U,
                              number & 255U);
            }
        case Identity::guid: {
            if (original.find_first_not_of("0:") == std::string::npos) return original;
            const unsigned number = next();
            return format("0200:0000:%04x:%04x", (number >> 16) & 0xffffU, number & 0xffffU);
        }
        case Identity::ipv4:
            return is_netmask(original) || is_one_of(original, kPublicIpv4) ? original : invent_ipv4(next());
        case Identity::ipv6:  // RFC 3849
            return is_one_of(original, kPublicIpv6) ? original : format("2001:db8::%x", next());
        case Identity::email:
            return original.ends_with("@example.invalid") ? original
                                                          : format("person%u@example.invalid", next());
    }
    return {};
}

std::uint64_t Pseudonyms::of_hardware_id(std::uint64_t original) {
    constexpr std::uint64_t kInvented = 0x5eed000000000000ULL;
    if (original == 0) return 0;
    return hardware_ids_.try_emplace(original, kInvented + hardware_ids_.size() + 1).first->second;
}

}  // namespace gpucheck::capture
