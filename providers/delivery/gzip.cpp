// gzip over zlib, which is optional when gpucheck is built; see gzip.h.
#include "providers/delivery/gzip.h"

#if GPUCHECK_HAVE_ZLIB
#include <zlib.h>
#endif

#include <array>
#include <cstdint>

namespace gpucheck::delivery {

#if GPUCHECK_HAVE_ZLIB

namespace {

constexpr int kGzip = 15 + 16;  // zlib.h: the largest window, gzip's head and tail
// Speed over size: a run waits for it.
constexpr int kLevel = 3, kMemory = 8;

Bytef* input(std::string_view bytes) {
    return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

// Runs `step` until it says that the stream has ended; false when it cannot go on.
template <class Step>
bool run(z_stream& stream, std::string& out, std::size_t most, bool* too_large, Step step) {
    std::array<Bytef, 32768> block{};
    for (;;) {
        stream.next_out = block.data();
        stream.avail_out = block.size();
        const int code = step(&stream);
        if (code != Z_OK && code != Z_STREAM_END) return false;
        const std::size_t got = block.size() - stream.avail_out;
        if (got > most - out.size()) {
            if (too_large != nullptr) *too_large = true;
            return false;
        }
        out.append(reinterpret_cast<const char*>(block.data()), got);
        if (code == Z_STREAM_END) return stream.avail_in == 0;
        if (got == 0 && stream.avail_in == 0) return false;  // cut off
    }
}

}  // namespace

std::optional<std::string> compress(std::string_view bytes) {
    z_stream stream{};
    if (bytes.size() > UINT32_MAX / 2) return std::nullopt;
    if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
        return std::nullopt;
    stream.next_in = input(bytes);
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string out;
    const bool done = run(stream, out, SIZE_MAX, nullptr, [](z_stream* z) { return deflate(z, Z_FINISH); });
    deflateEnd(&stream);
    return done ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::string> decompress(std::string_view bytes, std::size_t most, bool* too_large) {
    if (too_large != nullptr) *too_large = false;
    z_stream stream{};
    if (bytes.size() > UINT32_MAX / 2 || inflateInit2(&stream, kGzip) != Z_OK) return std::nullopt;
    stream.next_in = input(bytes);
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string out;
    const bool done = run(stream, out, most, too_large, [](z_stream* z) {
        const int code = inflate(z, Z_NO_FLUSH);
        return code == Z_BUF_ERROR ? Z_OK : code;
    });
    inflateEnd(&stream);
    return done ? std::optional(std::move(out)) : std::nullopt;
}

#else

std::optional<std::string> compress(std::string_view) {
    return std::nullopt;
}

std::optional<std::string> decompress(std::string_view, std::size_t, bool*) {
    return std::nullopt;
}

#endif

}  // namespace gpucheck::delivery
