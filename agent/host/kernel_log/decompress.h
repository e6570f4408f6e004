// Opens compressed logs as a stream: rotated logs are gzip, xz or zstd, and a bomb of them must cost time in
// proportion to what it holds and no memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace gpucheck::host {

class LogScanner;

/// Feeds bytes of one compressed stream to a scanner.
class Decompressor {
  public:
    virtual ~Decompressor() = default;
    /// False when the stream is damaged; `error` tells how.
    virtual bool feed(std::string_view bytes, LogScanner& scanner, std::string& error) = 0;
    /// Called at the end of the file; false when the stream was cut off.
    virtual bool complete() const = 0;
};

enum class Compression { none, gzip, xz, zstd };
/// By magic number; needs the first 6 bytes.
Compression compression_of(std::string_view head);
/// nullptr, and why in `error`, when this build cannot read that format.
std::unique_ptr<Decompressor> make_decompressor(Compression kind, std::string& error);

}  // namespace gpucheck::host
