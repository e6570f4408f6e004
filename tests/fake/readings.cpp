// Values that change: a queue from call to call, a counter from one reading of the GPU to the next.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "scenario.h"

namespace fake {
namespace {

/// Which reading of this GPU this process is: every reading is a process of its own, so a file counts them,
/// one byte each, in the folder "readings" beside the scenario.
unsigned reading_of(const std::string& name) {
    static std::map<std::string, unsigned> known;
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    const std::string folder = scenario().folder + "/readings";
    ::mkdir(folder.c_str(), 0777);
    const int file = ::open((folder + "/" + name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    unsigned reading = 0;
    if (file >= 0) {
        ::flock(file, LOCK_EX);
        struct stat status {};
        if (::fstat(file, &status) == 0) reading = static_cast<unsigned>(status.st_size);
        if (::write(file, ".", 1) != 1) reading = 0;
        ::close(file);
    }
    known[name] = reading;
    return reading;
}

/// Whether this process computes, too: it has the fake libcuda of the same folder open.
bool computes() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(&computes), &info) == 0 || info.dli_fname == nullptr) return false;
    const std::string library = info.dli_fname;
    const std::string compute = library.substr(0, library.rfind('/') + 1) + "libcuda.so.1";
    return ::dlopen(compute.c_str(), RTLD_LAZY | RTLD_NOLOAD) != nullptr;
}

const Json& nth(const Json& list, unsigned index) {
    return list.at(index < list.size() ? index : list.size() - 1);
}

}  // namespace

Json resolve_value(const Gpu* gpu, const std::string& call, const Json& value) {
    if (!value.is_object()) return value;
    const std::string name = gpu != nullptr ? gpu->address : "system";
    if (value.contains("queue")) {
        static std::map<std::string, unsigned> next;
        return nth(value["queue"], next[name + " " + call]++);
    }
    if (value.contains("under_load")) return value[computes() ? "under_load" : "idle"];
    if (value.contains("readings")) return nth(value["readings"], reading_of(name));
    if (value.contains("step")) {
        return value.value("first", std::uint64_t{0}) + value["step"].get<std::uint64_t>() * reading_of(name);
    }
    return value;
}

}  // namespace fake
