// Names in a folder; see folder.h.
#include "providers/delivery/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "providers/disk/files.h"

namespace gpucheck::delivery {
namespace {

std::vector<std::string> entries_of(int folder, bool temporary) {
    std::vector<std::string> names;
    const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* opened = copy < 0 ? nullptr : ::fdopendir(copy);
    if (opened == nullptr) {
        if (copy >= 0) ::close(copy);
        return names;
    }
    while (const dirent* item = ::readdir(opened)) {
        const std::string_view name = item->d_name;
        const bool hidden = name.front() == '.';
        const bool ours = name.compare(0, disk::kTemporary.size(), disk::kTemporary) == 0;
        if (temporary ? ours : !hidden) names.emplace_back(name);
    }
    ::closedir(opened);
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

std::vector<std::string> names_in(int folder) {
    return entries_of(folder, false);
}

std::vector<std::string> temporaries_in(int folder) {
    return entries_of(folder, true);
}

}  // namespace gpucheck::delivery
