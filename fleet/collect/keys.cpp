// A folder of keys; see keys.h.
#include "fleet/collect/keys.h"

#include <filesystem>

#include "providers/disk/files.h"

namespace gpucheck::fleet::collect {
namespace {

constexpr std::size_t kMostKeys = 200'000;

// What stands behind "machine:" on a line before the block (RFC 7468, 2: explanatory text).
std::string machine_of(const std::string& pem) {
    constexpr std::string_view kLabel = "machine:";
    const std::string before = pem.substr(0, pem.find("-----BEGIN"));
    const std::size_t at = before.find(kLabel);
    if (at == std::string::npos || (at > 0 && before[at - 1] != '\n')) return {};
    std::string line = before.substr(at + kLabel.size());
    line = line.substr(0, line.find_first_of("\r\n"));
    const std::size_t from = line.find_first_not_of(" \t");
    const std::size_t to = line.find_last_not_of(" \t");
    return from == std::string::npos ? std::string() : line.substr(from, to - from + 1);
}

}  // namespace

std::variant<TrustedKeys, std::string> read_keys(const std::string& folder) {
    TrustedKeys keys;
    if (folder.empty()) return keys;
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() != ".pem") continue;
        const std::string path = entry->path().string();
        auto file = disk::read_file(path, 65536);
        if (auto* why = std::get_if<disk::Error>(&file)) return std::move(why->what);
        const std::string& text = std::get_if<disk::Content>(&file)->text;
        auto key = sign::public_key(text);
        if (const auto* why = std::get_if<sign::Error>(&key)) return path + ": " + why->what;
        auto id = sign::key_id(*std::get_if<sign::PublicKey>(&key));
        if (const auto* why = std::get_if<sign::Error>(&id)) return path + ": " + why->what;
        if (keys.size() == kMostKeys) return folder + ": more than 200000 keys";
        keys.insert_or_assign(*std::get_if<std::string>(&id),
                              TrustedKey{*std::get_if<sign::PublicKey>(&key), machine_of(text)});
    }
    if (error) return folder + ": " + error.message();
    return keys;
}

}  // namespace gpucheck::fleet::collect
