// Opens vendor libraries; see library.h.
#include "agent/vendor/library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace gpucheck::vendor {
namespace {

// Beside the loader's own folders: where container runtimes put the host's driver without telling ldconfig.
// GKE's and k3s' device plugins mount it at /usr/local/nvidia/lib64; NixOS keeps drivers below
// /run/opengl-driver.
constexpr const char* kMountedFolders[] = {"/usr/local/nvidia/lib64", "/run/opengl-driver/lib",
                                           "/opt/rocm/lib"};

constexpr std::size_t kMaxWords = 400;

struct Attempt {
    void* handle = nullptr;
    std::string error;  ///< "ENOENT" when it is not there
};

std::string last_error() {
    const char* said = ::dlerror();
    std::string text = said != nullptr ? said : "dlopen(3) failed and does not say why";
    if (text.size() > kMaxWords) text.resize(kMaxWords);
    return text;
}

Attempt open_at(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return {nullptr, errno == ENOENT || errno == ENOTDIR ? "ENOENT" : std::strerror(errno)};
    }
    Attempt attempt;
    attempt.handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (attempt.handle == nullptr) attempt.error = last_error();
    return attempt;
}

Attempt open_by_name(const std::string& soname) {
    Attempt attempt;
    attempt.handle = ::dlopen(soname.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (attempt.handle != nullptr) return attempt;
    attempt.error = last_error();
    // The same words about another name: the library is there and what it needs is not.
    const std::string absent = soname + ": cannot open shared object file: No such file or directory";
    if (attempt.error != absent) return attempt;
    for (const char* folder : kMountedFolders) {
        Attempt mounted = open_at(folder + ("/" + soname));
        if (mounted.error != "ENOENT") return mounted;
    }
    attempt.error = "ENOENT";
    return attempt;
}

std::string path_of(void* handle, const std::string& otherwise) {
    link_map* map = nullptr;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr)
        return otherwise;
    const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(map->l_name, nullptr), &std::free);
    return resolved ? std::string(resolved.get()) : std::string(map->l_name);
}

}  // namespace

Library::Library(void* handle, std::string path, std::string soname)
    : handle_(handle), path_(std::move(path)), soname_(std::move(soname)) {}

std::variant<Library, Missing> Library::open(const LibrarySource& source,
                                             std::initializer_list<const char*> sonames) {
    const auto place_of = [&](const char* soname) {
        return source.driver_dir.empty() ? std::string(soname) : source.driver_dir + "/" + soname;
    };
    if (sonames.size() == 0) return Missing{"dlopen(3)", "no name to open"};
    const std::string first = place_of(*sonames.begin());
    if (!source.allowed && source.driver_dir.empty()) return Missing{first, "not looked at"};
    for (const char* soname : sonames) {
        const std::string place = place_of(soname);
        const Attempt attempt = source.driver_dir.empty() ? open_by_name(place) : open_at(place);
        if (attempt.handle != nullptr) return Library(attempt.handle, path_of(attempt.handle, place), soname);
        if (attempt.error != "ENOENT") return Missing{place, attempt.error};
    }
    return Missing{first, "ENOENT"};
}

void* Library::symbol(const char* name) const {
    return ::dlsym(handle_, name);
}

void* Library::symbol(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
        if (void* found = symbol(name)) return found;
    }
    return nullptr;
}

}  // namespace gpucheck::vendor
