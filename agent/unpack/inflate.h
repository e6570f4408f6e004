// Opens gzip, xz and zstd as a stream within bounds: rotated logs and a fleet's archive are compressed, and
// so is a bomb.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gpucheck::unpack {

enum class Packing { none, gzip, xz, zstd };
/// By magic number; needs the first 6 bytes.
Packing packing_of(std::string_view head);

/// One compressed stream. Errors name the data ("damaged gzip data"); after one nothing more may be fed.
class Inflate {
  public:
    /// Returns false to stop.
    using Sink = std::function<bool(std::string_view)>;
    virtual ~Inflate() = default;
    virtual std::optional<std::string> feed(std::string_view bytes, const Sink& sink) = 0;
    /// At the end of the file.
    virtual std::optional<std::string> finish(const Sink& sink) = 0;
};

/// nullptr: this build cannot read that format.
std::unique_ptr<Inflate> make_inflate(Packing packing);

}  // namespace gpucheck::unpack
