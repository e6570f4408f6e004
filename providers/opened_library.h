// Opens a library at its first use: a binary that links libcurl or libcrypto pays for them at each start, and
// does not start on a machine that lacks them.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace gpucheck {

/// False: the library lacks it.
template <class Function>
bool take(void* handle, const char* name, Function& into) {
    into = reinterpret_cast<Function>(::dlsym(handle, name));
    return into != nullptr;
}

/// The first library there is, never closed again. nullptr: none, and `why` says why and what to install.
inline void* open_first(std::initializer_list<const char*> sonames, const char* install, std::string& why) {
    for (const char* soname : sonames) {
        if (void* handle = ::dlopen(soname, RTLD_NOW | RTLD_LOCAL)) return handle;
        const char* said = ::dlerror();
        constexpr std::size_t kLongest = 300;
        if (why.empty() && said != nullptr) why = std::string(said).substr(0, kLongest);
    }
    why += std::string("; ") + install;
    return nullptr;
}

}  // namespace gpucheck
