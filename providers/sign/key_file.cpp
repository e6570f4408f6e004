// The key file; see key_file.h.
#include "providers/sign/key_file.h"

#include <string.h>
#include <sys/random.h>

#include <array>
#include <cerrno>

#include "providers/disk/files.h"

namespace gpucheck::sign {
namespace {

constexpr std::size_t kMostBytes = 16384;
constexpr const char* kName = "key.pem";

std::variant<PrivateKey, Error> new_key() {
    std::array<std::uint8_t, 32> seed{};
    std::size_t have = 0;
    while (have < seed.size()) {
        // A key from a pool that is not ready could be guessed: here, unlike for report ids, we say no
        // instead.
        const ssize_t got = ::getrandom(seed.data() + have, seed.size() - have, GRND_NONBLOCK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return Error{"no random numbers for a key yet: " + disk::reason(errno)};
        have += static_cast<std::size_t>(got);
    }
    const PrivateKey key(seed);
    ::explicit_bzero(seed.data(), seed.size());
    return key;
}

std::variant<LoadedKey, Error> loaded(const std::string& path,
                                      std::variant<disk::Content, disk::Error> content) {
    if (const auto* error = std::get_if<disk::Error>(&content)) return Error{error->what};
    auto& [text, mode] = *std::get_if<disk::Content>(&content);
    auto key = private_key(text);
    ::explicit_bzero(text.data(), text.size());
    if (const auto* error = std::get_if<Error>(&key)) return Error{path + ": " + error->what};
    LoadedKey made{*std::get_if<PrivateKey>(&key), path, {}};
    if (disk::readable_by_others(mode))
        made.warning = path + ": others than its owner may read this private key: chmod 600 " + path;
    return made;
}

}  // namespace

std::variant<LoadedKey, Error> load_key(const std::string& path) {
    return loaded(path, disk::read_file(path, kMostBytes));
}

std::variant<LoadedKey, Error> own_key(const std::string& folder) {
    const std::string path = folder + "/" + kName;
    auto content = disk::read_file(path, kMostBytes);
    const auto* missing = std::get_if<disk::Error>(&content);
    if (missing == nullptr || missing->number != ENOENT) return loaded(path, std::move(content));
    auto opened = disk::make_folder(folder);
    if (const auto* error = std::get_if<disk::Error>(&opened)) return Error{error->what};
    auto key = new_key();
    if (auto* error = std::get_if<Error>(&key)) return std::move(*error);
    std::string pem = pem_of(*std::get_if<PrivateKey>(&key));
    const auto failed = disk::write_new(std::get_if<disk::Descriptor>(&opened)->get(), kName, pem, false);
    ::explicit_bzero(pem.data(), pem.size());
    if (failed && failed->number != EEXIST) return Error{folder + "/" + failed->what};
    return load_key(path);
}

}  // namespace gpucheck::sign
