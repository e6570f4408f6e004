// Finds gpucheck-fleet beside this program or in ../lib/gpucheck, never by PATH: root runs gpucheck, and must
// not run what somebody left in a folder that others write.
#include "agent/fleet_command.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <vector>

#include "agent/log.h"
#include "agent/report/exit_status.h"
#include "providers/disk/files.h"

namespace gpucheck {
namespace {

constexpr const char* kProgram = "gpucheck-fleet";

// The folder of this program; empty: /proc does not say.
std::string own_folder() {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
    if (length <= 0 || static_cast<std::size_t>(length) >= path.size()) return {};
    const std::string text(path.data(), static_cast<std::size_t>(length));
    const std::size_t slash = text.rfind('/');
    return slash == std::string::npos ? std::string() : text.substr(0, slash);
}

// Why the file must not be run; empty: it may.
std::string why_not(const struct stat& status) {
    if (!S_ISREG(status.st_mode)) return "is no file";
    if (status.st_uid != 0 && status.st_uid != ::geteuid())
        return "belongs to another user than root and you";
    const bool group_writes = (status.st_mode & S_IWGRP) != 0 && status.st_gid != ::getegid();
    if (group_writes || (status.st_mode & S_IWOTH) != 0) return "may be changed by other users";
    return {};
}

int start(int program, const std::string& path, const std::vector<std::string>& arguments) {
    std::string name = kProgram;
    std::vector<std::string> words = arguments;
    std::vector<char*> argv{name.data()};
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::fexecve(program, argv.data(), environ);
    log_error(path + " cannot be started: " + disk::reason(errno));
    return kSoftware;
}

}  // namespace

int fleet_command(const cli::FleetOptions& options) {
    const std::string folder = own_folder();
    if (folder.empty()) {
        log_error("/proc/self/exe does not say where gpucheck is: run gpucheck-fleet itself");
        return kSoftware;
    }
    const std::array<std::string, 2> places{folder + '/' + kProgram, folder + "/../lib/gpucheck/" + kProgram};
    for (const std::string& path : places) {
        const disk::Descriptor program(::open(path.c_str(), O_PATH | O_CLOEXEC));
        if (!program) {
            if (errno == ENOENT || errno == ENOTDIR) continue;
            log_error(path + ": " + disk::reason(errno));
            return kSoftware;
        }
        struct stat status {};
        const std::string why = ::fstat(program.get(), &status) == 0 ? why_not(status) : disk::reason(errno);
        if (why.empty()) return start(program.get(), path, options.arguments);
        log_error(path + " is not run: it " + why);
        return kUsage;
    }
    log_error("gpucheck-fleet is not installed: it is neither " + places[0] + " nor " + places[1] +
              "; the package gpucheck-fleet has it");
    return kUsage;
}

}  // namespace gpucheck
