// Watches a run, asks again for what it asked for, takes out who it is, and writes it down; see capture.h.
#include "agent/capture/capture.h"

#include <algorithm>
#include <array>

#include "agent/capture/documents.h"
#include "agent/capture/redact.h"
#include "agent/capture/writer.h"
#include "agent/host/environment.h"

namespace gpucheck::capture {
namespace {

constexpr std::array<std::string_view, 4> kBeside{"kernel.log", "vendor.json", "metadata.json",
                                                  "measurements.json"};

// Counters that reading resets (MI200 and before, amdgpu_ras.c): what the run's own reader would take away is
// read first and kept.
bool resets_when_read(std::string_view path) {
    return path.ends_with("_err_count") && path.find("/ras/") != std::string_view::npos;
}

std::vector<host::Access> watch(host::Sysroot& source,
                                const std::function<void(const host::Sysroot&)>& collect,
                                const Options& options, ReadBefore& before) {
    std::vector<host::Access> accesses;
    std::set<std::pair<host::AccessKind, std::string>> seen;
    source.on_access([&](const host::Access& access) {
        if (!access.path.starts_with('/') || access.path.find('\0') != std::string::npos) return;
        if (options.on_step) options.on_step(access.path);
        if (!seen.emplace(access.kind, access.path).second) return;
        accesses.push_back(access);
        if (access.kind != host::AccessKind::read || !resets_when_read(access.path)) return;
        const Fact<std::string> real = source.real_path(access.path);
        before.emplace(real.known() ? *real : access.path, source.read(access.path));
    });
    collect(source);
    source.on_access([&](const host::Access& access) {
        if (options.on_step) options.on_step(access.path);
    });
    return accesses;
}

host::RecordedProcess redacted_process(host::RecordedProcess process, Redactor& redactor) {
    std::map<std::string, std::string> kept;
    for (const auto& [name, value] : process.env) {
        if (host::is_relevant_variable(name))
            kept[name] = redactor.text(host::presentable_value(name, value), Vocabulary::people);
    }
    process.env = std::move(kept);
    return process;
}

// Content that must not be written leaves the file as one that exists and was not read.
Recording redacted(Recording original, Redactor& redactor) {
    Recording result;
    for (auto& [path, content] : original.files) {
        const std::string place = redactor.path(path);
        if (auto kept = redactor.file(path, content)) {
            result.files[place] = std::move(*kept);
            continue;
        }
        const auto known = original.nodes.find(path);
        host::RecordedNode node = known != original.nodes.end()
                                      ? known->second
                                      : host::RecordedNode{{"file", 0, 0, 0444, 0, 0}, "ok", "", {}};
        node.read = host::kNotCaptured;
        node.size = content.size();
        original.nodes[path] = std::move(node);
    }
    for (const auto& [path, target] : original.links)
        result.links[redactor.path(path)] = redactor.path(target);
    for (auto& [path, node] : original.nodes) result.nodes[redactor.path(path)] = std::move(node);
    for (const std::string& folder : original.folders) result.folders.insert(redactor.path(folder));
    for (const std::string& line : original.tried) result.tried.insert(redactor.path(line));
    result.process = redacted_process(std::move(original.process), redactor);
    return result;
}

std::string write_machine(FolderWriter& writer, const Recording& recording) {
    std::string error = writer.folder("sysroot");
    for (const std::string& folder : recording.folders) {
        if (error.empty() && folder != "/") error = writer.folder("sysroot" + folder);
    }
    for (const auto& [path, content] : recording.files) {
        if (error.empty()) error = writer.file("sysroot" + path, content);
    }
    for (const auto& [path, target] : recording.links) {
        if (error.empty()) error = writer.link("sysroot" + path, target);
    }
    if (error.empty()) error = writer.file("nodes.json", nodes_json(recording));
    if (error.empty()) error = writer.file("process.json", process_json(recording.process));
    if (error.empty()) error = writer.file("captured.txt", captured_txt(recording));
    if (error.empty()) error = writer.file("README.md", readme(recording));
    return error;
}

Summary summary_of(const Recording& recording) {
    Summary summary{recording.files.size(), recording.links.size(), recording.nodes.size(),
                    recording.tried.size(), 0};
    for (const auto& [path, content] : recording.files) summary.bytes += content.size();
    return summary;
}

}  // namespace

std::variant<Summary, std::string> capture(host::Sysroot& source, const std::string& folder,
                                           const std::function<void(const host::Sysroot&)>& collect,
                                           const Options& options) {
    FolderWriter writer;  // first: a run of a minute must not end with "is not empty"
    if (std::string error = writer.open(folder); !error.empty()) return error;
    ReadBefore before;
    const std::vector<host::Access> accesses = watch(source, collect, options, before);
    Learned learned = options.learned ? options.learned() : Learned{};
    std::variant<Recording, std::string> recorded = record(source, accesses, options.probe, before);
    Redactor redactor;
    redactor.learn(source);
    source.on_access({});
    if (options.on_read) options.on_read();
    if (const auto* error = std::get_if<std::string>(&recorded)) return *error;
    for (const std::string& serial : learned.serials) redactor.learn_serial_number(serial);
    const Recording recording = redacted(std::get<Recording>(std::move(recorded)), redactor);
    std::string error = write_machine(writer, recording);
    learned.beside.insert(learned.beside.begin(), options.beside.begin(), options.beside.end());
    for (const Beside& file : learned.beside) {
        if (!error.empty()) break;
        if (std::find(kBeside.begin(), kBeside.end(), file.name) == kBeside.end())
            return file.name + ": no file of a recorded machine";
        const bool json = file.name.ends_with(".json");
        error = writer.file(
            file.name, json ? redactor.json(file.content) : redactor.text(file.content, Vocabulary::people));
    }
    if (error.empty()) error = writer.commit();
    if (!error.empty()) return error;
    return summary_of(recording);
}

}  // namespace gpucheck::capture
