// Reads paths: one thread reads files, two parse them, and what comes out does not depend on who was first.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <thread>

#include "agent/report/escape.h"
#include "fleet/model/read.h"
#include "fleet/read/files.h"
#include "fleet/read/labels.h"
#include "fleet/read/worker.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10U;

/// What the reading thread does.
class Reading {
  public:
    Reading(const ReadOptions& options, Queue& queue, Worker& notes)
        : options_(options), queue_(queue), notes_(notes) {}

    std::optional<std::string> path(const std::string& path) {
        if (path == "-") {
            stream(source("standard input"), STDIN_FILENO);
            return std::nullopt;
        }
        return walk(path, {[&](const std::string& file) { this->file(file); },
                           [&](const std::string& where, const std::string& why) {
                               notes_.note(source(where), 0, why);
                           },
                           [&](const std::string& where) {
                               if (passed_over_++ == 0) first_passed_ = where;
                           }});
    }
    /// Files of the folders whose names are none of a report; empty: there was none.
    std::string passed_over() const {
        if (passed_over_ == 0) return {};
        return std::to_string(passed_over_) +
               (passed_over_ == 1 ? " file of the folders was" : " files of the folders were") +
               " passed over, because no report's name ends like that, such as " +
               report::plain(first_passed_, report::kPageBytes);
    }

  private:
    static std::shared_ptr<Source> source(const std::string& where) {
        auto made = std::make_shared<Source>();
        made->where = report::plain(where, report::kPageBytes);  // whoever names a file may name it anything
        return made;
    }
    void file(const std::string& path) {
        auto opened = open_file(path);
        if (const auto* why = std::get_if<std::string>(&opened)) return notes_.note(source(path), 0, *why);
        const OpenFile& open = std::get<OpenFile>(opened);
        // Larger files and pipes hold many reports: their documents are spread over the threads.
        if (open.size == 0 || open.size > options_.max_report_bytes)
            return stream(source(path), open.descriptor.get());
        Work work{source(path), {}, 0};
        work.text.resize(open.size);
        const std::optional<std::size_t> got = fill(open.descriptor.get(), work.text.data(), open.size);
        if (!got) return notes_.note(work.source, 0, "cannot be read: " + disk::reason(errno));
        work.text.resize(*got);
        queue_.push(std::move(work));
    }
    // Until `size` bytes are there or no more come; nullopt: errno says why.
    static std::optional<std::size_t> fill(int fd, char* to, std::size_t size) {
        std::size_t have = 0;
        while (have < size) {
            const ssize_t got = ::read(fd, to + have, size - have);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return std::nullopt;
            if (got == 0) break;
            have += static_cast<std::size_t>(got);
        }
        return have;
    }
    void stream(const std::shared_ptr<Source>& from, int fd) {
        Stream stream(options_, [&](const Piece& piece) {
            if (piece.kind == Piece::Kind::broken)
                return notes_.note(from, piece.line, std::string(piece.text));
            queue_.push({from, std::string(piece.text), piece.line, piece.kind});
        });
        std::string block(kBlock, '\0');
        for (;;) {
            const ssize_t got = ::read(fd, block.data(), block.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return notes_.note(from, 0, "cannot be read: " + disk::reason(errno));
            if (got == 0) break;
            if (!stream.feed(std::string_view(block).substr(0, static_cast<std::size_t>(got)))) return;
        }
        stream.finish();
    }

    const ReadOptions& options_;
    Queue& queue_;
    Worker& notes_;
    std::size_t passed_over_ = 0;
    std::string first_passed_;
};

// Names of one part as those of another.
class Renaming {
  public:
    Renaming(const Vocabulary& from, Vocabulary& to) {
        for (Name name = 0; name < from.size(); ++name) to_.push_back(to.intern(from.text(name)));
    }
    void apply(NodeReport& report) const {
        for (Name* name : {&report.provider, &report.instance_type, &report.region, &report.zone,
                           &report.driver, &report.kernel, &report.os, &report.tool_version, &report.profile})
            rename(*name);
        for (auto& [name, value] : report.labels) {
            rename(name);
            rename(value);
        }
        for (Gpu& gpu : report.gpus) {
            for (Name* name : {&gpu.bdf, &gpu.board, &gpu.firmware, &gpu.mode}) rename(*name);
            for (Value& value : gpu.values) rename(value.metric);
        }
        for (Problem& problem : report.problems) {
            for (Name* name :
                 {&problem.code, &problem.check, &problem.scope, &problem.action, &problem.subject})
                rename(*name);
        }
        for (CheckState& check : report.checks) rename(check.check);
        for (CostRow& cost : report.costs) {
            rename(cost.model);
            rename(cost.precision);
        }
    }

  private:
    void rename(Name& name) const { name = to_[name]; }
    std::vector<Name> to_;
};

void join(Fleet& fleet, Fleet&& part) {
    const Renaming renaming(part.names, fleet.names);
    fleet.reports.reserve(fleet.reports.size() + part.reports.size());
    for (NodeReport& report : part.reports) {
        renaming.apply(report);
        fleet.reports.push_back(std::move(report));
    }
    for (Rejected& row : part.rejected) fleet.rejected.push_back(std::move(row));
}

void add_faults(Fleet& fleet, const std::vector<Fault>& faults) {
    for (const Fault& fault : faults) {
        const Source& source = *fault.source;
        if (source.broken <= kMostFaults) {
            fleet.rejected.push_back({place_of(source, fault.line), fault.why});
        } else {  // the same row for each: settle keeps one
            fleet.rejected.push_back({source.where,
                                      std::to_string(source.broken) +
                                          " documents of it were rejected, the first in line " +
                                          std::to_string(source.first_line) + ": " + source.first_why,
                                      source.broken});
        }
    }
}

}  // namespace

std::optional<std::string> read_paths(Fleet& fleet, const std::vector<std::string>& paths,
                                      const ReadOptions& options) {
    Keys keys;
    if (!options.keys_folder.empty()) {
        auto loaded = load_keys(options.keys_folder);
        if (auto* error = std::get_if<std::string>(&loaded)) return std::move(*error);
        keys = std::get<Keys>(std::move(loaded));
    }
    const Keys* const trusted = options.keys_folder.empty() ? nullptr : &keys;
    std::atomic<std::size_t> reports = fleet.reports.size();
    Queue queue;
    // The first one's notes are the reading thread's own; it parses nothing.
    std::vector<std::unique_ptr<Worker>> workers;
    const unsigned parsers = std::thread::hardware_concurrency() == 1 ? 1 : 2;
    for (unsigned i = 0; i <= parsers; ++i)
        workers.push_back(std::make_unique<Worker>(options, trusted, reports));
    std::vector<std::thread> threads;
    for (unsigned i = 1; i <= parsers; ++i)
        threads.emplace_back([&queue, worker = workers[i].get()] { worker->run(queue); });
    std::optional<std::string> error;
    Reading reading(options, queue, *workers.front());
    for (const std::string& path : paths) {
        error = reading.path(path);
        if (error) break;
    }
    queue.close();
    for (std::thread& thread : threads) thread.join();
    if (error) return error;
    if (std::string passed = reading.passed_over(); !passed.empty())
        fleet.remarks.push_back(std::move(passed));
    for (const auto& worker : workers) {
        if (worker->too_many || reports.load() > options.max_reports)
            return "more than " + std::to_string(options.max_reports) + " reports: sum them up in parts";
        join(fleet, std::move(worker->part));
        add_faults(fleet, worker->faults);
    }
    if (!options.labels_file.empty()) {
        if (auto why = add_labels(fleet, options.labels_file)) return why;
    }
    settle(fleet);
    return std::nullopt;
}

}  // namespace gpucheck::fleet
