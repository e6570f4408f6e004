// Matches paths against the patterns of captured.txt; see captured.h.
#include "agent/host/captured.h"

namespace gpucheck::host {
namespace {

bool component_matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] != '*' && pattern[p] == text[t]))) {
            ++p, ++t;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::vector<std::string> split(std::string_view path) {
    std::vector<std::string> parts;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        if (slash != 0) parts.emplace_back(path.substr(0, slash));
        if (slash == std::string_view::npos) break;
        path.remove_prefix(slash + 1);
    }
    return parts;
}

std::string join(const std::vector<std::string>& parts, std::size_t count) {
    std::string path;
    for (std::size_t i = 0; i < count; ++i) path += "/" + parts[i];
    return path;
}

bool is_wild(std::string_view text) {
    return text.find_first_of("*?") != std::string_view::npos;
}

enum class Depth { exact, above };  // above: `path` may be a folder above what the pattern names

// Greedy with one step back: a later ** can match whatever an earlier one could, so the time stays linear in
// hostile patterns.
bool parts_match(const std::vector<std::string>& pattern, const std::vector<std::string>& path, Depth depth) {
    std::size_t p = 0, t = 0, star = std::string::npos, mark = 0;
    while (t < path.size()) {
        if (p < pattern.size() && pattern[p] == "**") {
            if (depth == Depth::above) return true;
            star = p++;
            mark = t;
        } else if (p < pattern.size() && component_matches(pattern[p], path[t])) {
            ++p, ++t;
        } else if (star != std::string::npos) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    if (depth == Depth::above) return true;
    while (p < pattern.size() && pattern[p] == "**") ++p;
    return p == pattern.size();
}

// Is `path`, or anything below it, in `paths`?
bool holds_below(const std::set<std::string, std::less<>>& paths, const std::string& path) {
    if (paths.contains(path)) return true;
    const auto next = paths.lower_bound(path + "/");
    return next != paths.end() && next->starts_with(path + "/");
}

}  // namespace

bool path_matches(std::string_view pattern, std::string_view path) {
    return parts_match(split(pattern), split(path), Depth::exact);
}

void CapturedPaths::add(std::string_view pattern) {
    std::vector<std::string> parts = split(pattern);
    const std::string last = parts.empty() ? std::string() : parts.back();
    const std::string above = join(parts, parts.empty() ? 0 : parts.size() - 1);
    if (is_wild(above)) {
        others_.push_back(std::move(parts));
    } else if (last == "*") {
        listed_.insert(above);
    } else if (last == "**") {
        trees_.insert(above);
    } else if (is_wild(last)) {
        others_.push_back(std::move(parts));
    } else {
        exact_.insert(join(parts, parts.size()));
    }
}

bool CapturedPaths::covers(std::string_view path, bool as_folder) const {
    const std::vector<std::string> parts = split(path);
    const std::string whole = join(parts, parts.size());
    if (exact_.contains(whole)) return true;
    if (!parts.empty() && listed_.contains(join(parts, parts.size() - 1))) return true;
    for (std::size_t count = 0; !trees_.empty() && count <= parts.size(); ++count) {
        if (trees_.contains(join(parts, count))) return true;
    }
    if (as_folder &&
        (holds_below(exact_, whole) || holds_below(listed_, whole) || holds_below(trees_, whole)))
        return true;
    for (const std::vector<std::string>& pattern : others_) {
        if (parts_match(pattern, parts, as_folder ? Depth::above : Depth::exact)) return true;
    }
    return false;
}

}  // namespace gpucheck::host
