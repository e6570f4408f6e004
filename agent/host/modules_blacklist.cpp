// Reads modprobe.d and the kernel command line for forbidden modules; see modules_blacklist.h. Rules:
// modprobe.d(5); module_blacklist: Linux Documentation/admin-guide/kernel-parameters.txt;
// rd.driver.blacklist: dracut.cmdline(7).
#include "agent/host/modules_blacklist.h"

#include <algorithm>
#include <array>
#include <vector>

namespace gpucheck::host {
namespace {

constexpr std::size_t kMaxFiles = 512;
constexpr std::size_t kMaxBlocked = 4096;

// Earlier folders hide later ones, file name by file name.
constexpr std::array kFolders{"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d",
                              "/usr/lib/modprobe.d", "/lib/modprobe.d"};
constexpr std::array<std::string_view, 3> kArguments{"modprobe.blacklist", "module_blacklist",
                                                     "rd.driver.blacklist"};

std::vector<std::string_view> words_of(std::string_view text, const char* separators) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t end = text.find_first_of(separators);
        if (end != 0) words.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return words;
}

std::string underscored(std::string_view name) {
    std::string result(name);
    std::replace(result.begin(), result.end(), '-', '_');
    return result;
}

std::string_view without_quotes(std::string_view text) {
    while (!text.empty() && text.front() == '"') text.remove_prefix(1);
    while (!text.empty() && text.back() == '"') text.remove_suffix(1);
    return text;
}

// "/bin/false" and "/usr/bin/true", with at most a comment after it: any other command may load the module
// after all.
bool does_nothing(const std::vector<std::string_view>& command) {
    if (command.empty() || (command.size() > 1 && command[1].front() != '#')) return false;
    const std::string_view program = command.front().substr(command.front().rfind('/') + 1);
    return program == "false" || program == "true";
}

}  // namespace

Blacklist::Blacklist(const Sysroot& root, const Fact<std::string>& cmdline) : nothing_("", "modprobe.d") {
    read_arguments(cmdline);
    std::map<std::string, std::string> files;  // name -> path
    for (const char* folder : kFolders) read_folder(root, folder, files);
    for (const auto& [name, path] : files) read_file(root, path);
}

Fact<std::string> Blacklist::blocker_of(std::string_view module) const {
    const auto found = blockers_.find(module);
    return found != blockers_.end() ? found->second : nothing_;
}

void Blacklist::block(std::string_view module, const std::string& by, const std::string& source) {
    if (module.empty() || module.size() > 64 || blockers_.size() >= kMaxBlocked) return;
    blockers_.try_emplace(underscored(module), Fact<std::string>(by, source));
}

void Blacklist::read_arguments(const Fact<std::string>& cmdline) {
    if (!cmdline.known()) {
        nothing_ = cmdline.missing();
        return;
    }
    for (std::string_view word : words_of(cmdline.value(), " \t\n")) {
        word = without_quotes(word);
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string key = underscored(word.substr(0, equals));
        if (std::find(kArguments.begin(), kArguments.end(), key) == kArguments.end()) continue;
        for (const std::string_view module : words_of(without_quotes(word.substr(equals + 1)), ",")) {
            block(module, std::string(word.substr(0, 200)), cmdline.source());
        }
    }
}

void Blacklist::read_folder(const Sysroot& root, const std::string& folder,
                            std::map<std::string, std::string>& files) {
    const Fact<std::vector<std::string>> names = root.list(folder);
    if (!names.known()) {
        if (!names.absent() && nothing_.known()) nothing_ = names.missing();
        return;
    }
    for (const std::string& name : names.value()) {
        if (!name.ends_with(".conf")) continue;
        if (files.size() >= kMaxFiles) {
            if (nothing_.known()) nothing_ = Missing{folder, "more than 512 files"};
            return;
        }
        files.try_emplace(name, folder + "/" + name);
    }
}

void Blacklist::read_file(const Sysroot& root, const std::string& path) {
    const Fact<std::string> content = root.read(path);
    if (!content.known()) {
        // A link to /dev/null hides the file of that name in later folders, on purpose.
        const bool masked = content.why() == "not a regular file" || root.link_target(path).is("/dev/null");
        if (!masked && !content.absent() && nothing_.known()) nothing_ = content.missing();
        return;
    }
    std::string joined;  // a backslash before the newline continues the line
    for (const std::string_view line : lines_of(content.value())) {
        if (line.ends_with('\\')) {
            joined.append(line.substr(0, line.size() - 1));
            continue;
        }
        joined.append(line);
        read_line(joined, path);
        joined.clear();
    }
    read_line(joined, path);
}

void Blacklist::read_line(std::string_view line, const std::string& path) {
    const std::vector<std::string_view> words = words_of(line, " \t\r");
    if (words.size() < 2 || words[0].front() == '#' || !is_text(line)) return;
    const std::vector<std::string_view> rest(words.begin() + 2, words.end());
    const bool blocked = words[0] == "blacklist" || (words[0] == "install" && does_nothing(rest)) ||
                         (words[0] == "alias" && !rest.empty() && rest[0] == "off");
    if (blocked) block(words[1], path, path);
}

}  // namespace gpucheck::host
