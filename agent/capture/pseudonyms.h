// Invented names for real ones: a captured machine must not tell whose it is, and yet two files that named
// the same GPU must still name the same GPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace gpucheck::capture {

enum class Identity : std::uint8_t { uuid, serial, machine_id, host, user, mac, guid, ipv4, ipv6, email };

/// Hands out replacements: the same one for the same original, in the order of first sight. Not thread-safe.
class Pseudonyms {
  public:
    /// The replacement, in the shape that readers expect of its kind. What identifies nobody (loopback,
    /// netmasks, the metadata service, firmware GUIDs, placeholder serials) and what a provider is recognised
    /// by is kept.
    std::string of(Identity identity, std::string_view original);
    /// 64-bit hardware ids (unique_id, hive_id), which files spell in hexadecimal or decimal. Zero stays
    /// zero.
    std::uint64_t of_hardware_id(std::uint64_t original);

  private:
    std::string invent(Identity identity, const std::string& original);

    std::map<std::pair<Identity, std::string>, std::string> known_;
    std::map<Identity, unsigned> counts_;
    std::map<std::uint64_t, std::uint64_t> hardware_ids_;
};

/// Lower case, ASCII only.
std::string lower(std::string_view text);
/// Host and user names that every second machine has: they tell nothing, and replacing them would break
/// words.
bool is_everyday_name(std::string_view name);

}  // namespace gpucheck::capture
