// gzip from strangers: a thousandfold bomb ends at the bound, and what follows the stream is no report.
#include <zlib.h>

#include <array>

#include "fleet/collect/receive.h"

namespace gpucheck::fleet::collect {

std::optional<std::string> inflate_gzip(std::string_view bytes, std::size_t most, bool& too_large) {
    too_large = false;
    constexpr int kGzip = 15 + 16;  // zlib.h: the largest window, gzip's head and tail
    z_stream stream{};
    if (bytes.size() > UINT32_MAX / 2 || inflateInit2(&stream, kGzip) != Z_OK) return std::nullopt;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string out;
    std::array<Bytef, 32768> block;
    int code = Z_OK;
    while (code == Z_OK) {
        stream.next_out = block.data();
        stream.avail_out = block.size();
        code = inflate(&stream, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END) break;  // Z_BUF_ERROR too: cut off
        const std::size_t got = block.size() - stream.avail_out;
        too_large = got > most - out.size();
        if (too_large) break;
        out.append(reinterpret_cast<const char*>(block.data()), got);
    }
    const bool whole = code == Z_STREAM_END && stream.avail_in == 0 && !too_large;
    inflateEnd(&stream);
    return whole ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace gpucheck::fleet::collect
