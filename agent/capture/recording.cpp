// Asks again for what a run asked for, and writes down each answer where a recorded machine has a place for
// it; see recording.h.
#include "agent/capture/recording.h"

#include <algorithm>
#include <optional>

#include "agent/host/resources.h"

namespace gpucheck::capture {
namespace {

using host::AccessKind;
using host::kNotCaptured;
using host::RecordedNode;

constexpr std::size_t kMaxFile = 4 * host::kLargeFile;             // more than any reader takes
constexpr std::size_t kMaxTotal = std::size_t{256} * 1024 * 1024;  // of a capture
constexpr std::size_t kMaxEntries = 200000;

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string below(const std::string& folder, std::string_view name) {
    return (folder == "/" ? "" : folder) + "/" + std::string(name);
}

class Recorder {
  public:
    Recorder(const host::Sysroot& source, const Probe& probe, const ReadBefore& before)
        : source_(source), probe_(probe), before_(before) {}

    std::variant<Recording, std::string> run(const std::vector<host::Access>& accesses) {
        for (const host::Access& access : accesses) note(access);
        for (std::size_t i = 0; i < to_list_.size(); ++i) list(to_list_[i]);
        for (const auto& [path, kinds] : wanted_) {
            keep(path, kinds);
            if (total_ > kMaxTotal) return "more than 256 MiB were read";
        }
        open_devices();
        for (const std::string& folder : recording_.folders) keep_folder(folder);
        if (recording_.files.size() + recording_.nodes.size() + recording_.links.size() > kMaxEntries) {
            return "more than " + std::to_string(kMaxEntries) + " files were asked for";
        }
        keep_process();
        return std::move(recording_);
    }

  private:
    using Kinds = std::set<AccessKind>;

    const Fact<NodeStat>& stat_of(const std::string& path) {
        const auto known = stats_.find(path);
        return known != stats_.end() ? known->second : stats_.emplace(path, source_.stat(path)).first->second;
    }

    // The target of the link at `place`, written down as it is read; nullopt when there is no link.
    std::optional<std::string> link_at(const std::string& place) {
        if (const auto known = links_.find(place); known != links_.end()) return known->second;
        const Fact<std::string> target = source_.link_target(place);
        std::optional<std::string> text;
        if (target.known()) {
            // A recorded machine with a link that leaves it must stay one: only a live machine's links are
            // rewritten.
            text = source_.is_live() ? relative_target(place, *target) : *target;
            recording_.links[place] = *text;
            note_folders(place);
        }
        links_.emplace(place, text);
        return text;
    }

    // The real path of `path`, links followed and written down; nullopt when they lead nowhere (a loop, out
    // of the root).
    std::optional<std::string> resolve(const std::string& path) {
        constexpr int kMaxLinks = 40;
        std::vector<std::string> pending;
        const auto push = [&](std::string_view text) {
            std::vector<std::string> parts;
            for (std::size_t start = 0; start < text.size();) {
                const std::size_t end = std::min(text.size(), text.find('/', start));
                if (end > start) parts.emplace_back(text.substr(start, end - start));
                start = end + 1;
            }
            pending.insert(pending.end(), parts.rbegin(), parts.rend());
        };
        push(path);
        std::string current;
        int links = 0;
        while (!pending.empty()) {
            const std::string name = std::move(pending.back());
            pending.pop_back();
            if (name == ".") continue;
            if (name == "..") {
                if (current.empty() && !source_.is_live()) return std::nullopt;
                current.erase(std::min(current.size(), current.rfind('/')));
                continue;
            }
            const std::string place = current + "/" + name;
            const std::optional<std::string> target = link_at(place);
            if (!target) {
                current = place;
                continue;
            }
            if (++links > kMaxLinks || target->starts_with('/')) return std::nullopt;
            push(*target);
        }
        return current.empty() ? "/" : current;
    }

    // Folders above something that exists.
    void note_folders(const std::string& path) {
        for (std::string folder = parent_of(path);; folder = parent_of(folder)) {
            if (recording_.folders.contains(folder)) return;
            const Fact<NodeStat>& stat = stat_of(folder);
            if (stat.known() && stat->type == "dir") recording_.folders.insert(folder);
            if (folder == "/") return;
        }
    }

    void note(const host::Access& access) {
        const std::optional<std::string> real = resolve(access.path);
        if (!real) return;
        if (access.kind == AccessKind::list) to_list_.push_back(*real);
        wanted_[*real].insert(access.kind);
        asked_as_[*real].insert(access.path);
    }

    void list(const std::string& folder) {
        if (!listed_.insert(folder).second) return;
        const Fact<std::vector<std::string>> names = source_.list(folder);
        if (!names.known()) {
            listed_.erase(folder);
            if (names.why() != kNotCaptured && !names.absent()) listing_errors_[folder] = names.why();
            return;
        }
        recording_.tried.insert(below(folder, "*"));
        note_folders(below(folder, "x"));
        for (const std::string& name : *names) {
            const std::string child = below(folder, name);
            if (link_at(child)) continue;
            if (!stat_of(child).known() &&
                !stat_of(child).absent()) {  // listed, but not searchable: never show half of it
                listed_.erase(folder);
                recording_.tried.erase(below(folder, "*"));
                return;
            }
            wanted_[child];
        }
    }

    void keep(const std::string& path, const Kinds& kinds) {
        const Fact<NodeStat>& stat = stat_of(path);
        if (!stat.known()) return keep_absence(path, kinds, stat.why());
        note_folders(path);
        if (stat->type == "dir") {
            recording_.folders.insert(path);
            if (kinds.contains(AccessKind::stat)) with_mode_.insert(path);
        } else if (stat->type == "file") {
            keep_file(path, kinds, *stat);
        } else {
            recording_.nodes[path] = {*stat, std::string(kNotCaptured), "", std::nullopt};
            if (kinds.contains(AccessKind::open)) devices_.push_back(path);
        }
    }

    void keep_file(const std::string& path, const Kinds& kinds, const NodeStat& stat) {
        RecordedNode node{stat, std::string(kNotCaptured), "", std::nullopt};
        if (kinds.contains(AccessKind::open)) {
            const Fact<std::string> open = source_.try_open(path);
            node.open = open.known() ? *open : open.why();
        }
        if (!kinds.contains(AccessKind::read)) {
            node.read = kNotCaptured;
            if (const Fact<std::uint64_t> size = source_.file_size(path); size.known()) node.size = *size;
            recording_.nodes[path] = std::move(node);
            return;
        }
        const auto known = before_.find(path);
        const Fact<std::string> content =
            known != before_.end() ? known->second : source_.read(path, kMaxFile);
        if (content.known()) {
            total_ += content->size();
            recording_.files[path] = *content;
            node.open = "ok";
            const bool readable_by_all = (stat.mode & 0444U) == 0444U;
            if (kinds.size() > 1 || !readable_by_all) recording_.nodes[path] = std::move(node);
            return;
        }
        const Fact<std::string> open = source_.try_open(path);
        node.open = open.known() ? *open : open.why();
        if (node.open == "ok")
            node.read = host::errno_number(content.why()) != 0 ? content.why() : std::string(kNotCaptured);
        if (content.why().starts_with("larger than")) node.read = "EFBIG";
        recording_.nodes[path] = std::move(node);
    }

    // What was found absent is written down at its first absent component: below that, everything is absent.
    void keep_absence(const std::string& path, const Kinds& kinds, const std::string& why) {
        if (kinds.empty() || why == kNotCaptured) return;
        std::string first = path;
        while (first != "/" && !stat_of(parent_of(first)).known()) first = parent_of(first);
        note_folders(first);
        if (why != "ENOENT") {
            const std::string folder = parent_of(first);
            if (host::errno_number(why) != 0 && recording_.folders.contains(folder))
                search_errors_[folder] = why;
            return;
        }
        const bool leaf =
            first == path && !kinds.contains(AccessKind::list) && !kinds.contains(AccessKind::stat);
        if (!leaf) recording_.tried.insert(first + "/**");
        if (leaf && !listed_.contains(parent_of(first))) recording_.tried.insert(first);
        for (const std::string& asked :
             asked_as_[path]) {  // through a link that dangles, the link's own path is asked for
            const std::optional<std::string> folder = resolve(parent_of(asked));
            const bool there = folder && stat_of(*folder).known();
            const std::string place = there ? below(*folder, asked.substr(asked.rfind('/') + 1)) : asked;
            if (place != path) recording_.tried.insert(place);
        }
    }

    void open_devices() {
        std::vector<Fact<std::string>> answers;
        if (probe_) {
            answers = probe_(devices_);
        } else {
            for (const std::string& path : devices_) answers.push_back(source_.try_open(path));
        }
        for (std::size_t i = 0; i < devices_.size() && i < answers.size(); ++i) {
            const std::string outcome = answers[i].known() ? *answers[i] : answers[i].why();
            const bool nameable = outcome == "ok" || host::errno_number(outcome) != 0;
            recording_.nodes[devices_[i]].open = nameable ? outcome : std::string(kNotCaptured);
        }
    }

    bool has_files_below(const std::string& folder) const {
        const std::string prefix = below(folder, "");
        const auto file = recording_.files.lower_bound(prefix);
        const auto link = recording_.links.lower_bound(prefix);
        return (file != recording_.files.end() && file->first.starts_with(prefix)) ||
               (link != recording_.links.end() && link->first.starts_with(prefix));
    }

    void keep_folder(const std::string& folder) {
        RecordedNode node{*stat_of(folder), "ok", "", std::nullopt};
        if (const auto error = search_errors_.find(folder); error != search_errors_.end())
            node.open = error->second;
        if (const auto error = listing_errors_.find(folder); error != listing_errors_.end()) {
            node.read = error->second;
        } else if (!listed_.contains(folder)) {
            node.read = kNotCaptured;
        }
        const bool plain = node.open == "ok" && node.read.empty() && !with_mode_.contains(folder);
        if (!plain || !has_files_below(folder)) recording_.nodes[folder] = std::move(node);
    }

    void keep_process() {
        recording_.process = source_.process();
        for (const std::string_view path : host::kWatchedFilesystems) {
            const Fact<host::RecordedProcess::Space> space = source_.filesystem(path);
            if (space.known()) recording_.process.filesystems[std::string(path)] = *space;
        }
    }

    const host::Sysroot& source_;
    const Probe& probe_;
    const ReadBefore& before_;
    Recording recording_;
    std::map<std::string, Fact<NodeStat>> stats_;
    std::map<std::string, std::optional<std::string>> links_;
    std::map<std::string, Kinds> wanted_;  ///< by real path; no kinds: listed only
    std::map<std::string, std::set<std::string>> asked_as_;
    std::map<std::string, std::string> listing_errors_, search_errors_;
    std::set<std::string> listed_, with_mode_;
    std::vector<std::string> to_list_, devices_;
    std::size_t total_ = 0;
};

}  // namespace

std::variant<Recording, std::string> record(const host::Sysroot& source,
                                            const std::vector<host::Access>& accesses, const Probe& probe,
                                            const ReadBefore& before) {
    return Recorder(source, probe, before).run(accesses);
}

}  // namespace gpucheck::capture
