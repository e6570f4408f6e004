// Parses what the reading thread found, into a part of the fleet of its own: parts join without order.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/unpack/inflate.h"
#include "fleet/model/read.h"
#include "fleet/read/document.h"
#include "fleet/read/queue.h"

namespace gpucheck::fleet {

/// Bytes of a file as they come, decompressed where they are compressed, cut into documents.
class Stream {
  public:
    Stream(const ReadOptions& options, Splitter::Take take)
        : take_(take), splitter_(options.max_report_bytes, std::move(take)) {}
    /// False: no more is wanted.
    bool feed(std::string_view bytes);
    void finish();

  private:
    bool into_splitter(std::string_view bytes);
    void broken(std::string_view why);
    void empty();

    Splitter::Take take_;
    Splitter splitter_;
    std::string head_;  // until its kind is known
    bool known_ = false, ended_ = false;
    std::unique_ptr<unpack::Inflate> inflate_;
    std::size_t in_ = 0, out_ = 0;
};

/// What was wrong, and in what.
struct Fault {
    std::shared_ptr<Source> source;
    std::size_t line = 0;
    std::string why;
};

class Worker {
  public:
    Worker(const ReadOptions& options, const Keys* keys, std::atomic<std::size_t>& reports)
        : options_(options), reader_(keys), reports_(reports) {}
    void run(Queue& queue);
    void note(const std::shared_ptr<Source>& source, std::size_t line, std::string why);

    Fleet part;
    std::vector<Fault> faults;
    bool too_many = false;

  private:
    void whole_file(const Work& work);
    void piece(const std::shared_ptr<Source>& source, const Piece& piece, std::size_t line);

    const ReadOptions& options_;
    DocumentReader reader_;
    std::atomic<std::size_t>& reports_;
};

/// "folder/reports.jsonl:12", or the path alone for line 0.
std::string place_of(const Source& source, std::size_t line);
/// Of one file no more than this many faults are listed one by one.
inline constexpr std::size_t kMostFaults = 1000;

}  // namespace gpucheck::fleet
