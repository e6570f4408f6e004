// Trusted keys and signed reports; see keys.h.
#include "fleet/read/keys.h"

#include <filesystem>
#include <system_error>

#include "fleet/read/envelope.h"
#include "providers/disk/files.h"
#include "providers/sign/dsse.h"

namespace gpucheck::fleet {

std::variant<Keys, std::string> load_keys(const std::string& folder) {
    constexpr std::size_t kKeyBytes = std::size_t{16} << 10U, kMostKeys = 100'000;
    std::error_code error;
    Keys keys;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const std::string path = entry->path().string(), kind = entry->path().extension().string();
        if (kind != ".pem" && kind != ".pub") continue;
        if (keys.size() == kMostKeys) return folder + ": too many keys";
        const auto content = disk::read_file(path, kKeyBytes);
        if (const auto* unread = std::get_if<disk::Error>(&content)) return unread->what;
        const auto key = sign::public_key(std::get<disk::Content>(content).text);
        if (const auto* bad = std::get_if<sign::Error>(&key)) return path + ": " + bad->what;
        // Without libcrypto no signature can be checked: better said now than as 400 unverified reports.
        const auto id = sign::key_id(std::get<sign::PublicKey>(key));
        if (const auto* none = std::get_if<sign::Error>(&id)) return none->what;
        keys.emplace(std::get<std::string>(id), std::get<sign::PublicKey>(key));
    }
    if (error) return folder + ": " + error.message();
    if (keys.empty()) return folder + ": holds no public key (*.pem, *.pub)";
    return keys;
}

Opened open_signed(std::string_view envelope, const Keys& keys, Flaw& flaw) {
    Opened result;
    auto opened = fleet::open_envelope(envelope);
    if (const auto* error = std::get_if<sign::Error>(&opened)) {
        flaw.say(error->what);
        return result;
    }
    auto& parts = std::get<sign::Envelope>(opened);
    if (parts.type != sign::kReportType) {
        flaw.say("is an envelope of something else than a report: its payloadType is " +
                 parts.type.substr(0, kNameBytes));
        return result;
    }
    // By the key that the envelope names: a fleet has a key a machine, and each check takes some 0.1 ms.
    for (const sign::Envelope::Signature& each : parts.signatures) {
        const auto key = keys.find(each.key_id);
        if (key == keys.end()) continue;
        const auto checked = sign::verify(parts, key->second);
        if (const auto* error = std::get_if<sign::Error>(&checked)) {
            flaw.say(error->what);
            return result;
        }
        if (std::get<sign::Verified>(checked).trust != sign::Trust::verified) {
            flaw.say("was changed after it was signed: key " + each.key_id + " signed something else");
            return result;
        }
        result.verified = true;
    }
    result.payload = std::move(parts.payload);
    return result;
}

}  // namespace gpucheck::fleet
