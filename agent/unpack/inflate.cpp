// gzip, xz and zstd as streams; see inflate.h. Each library is optional when gpucheck is built.
#include "agent/unpack/inflate.h"

#include <cstdint>
#include <vector>

#if GPUCHECK_HAVE_ZLIB
#include <zlib.h>
#endif
#if GPUCHECK_HAVE_LZMA
#include <lzma.h>
#endif
#if GPUCHECK_HAVE_ZSTD
#include <zstd.h>
#endif

namespace gpucheck::unpack {
namespace {

using Why = std::optional<std::string>;
[[maybe_unused]] constexpr std::size_t kBlock = std::size_t{64} << 10U;

#if GPUCHECK_HAVE_ZLIB
class Gzip final : public Inflate {
  public:
    Gzip() : out_(kBlock) { ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
    ~Gzip() override { inflateEnd(&stream_); }
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;
    Why feed(std::string_view bytes, const Sink& sink) override {
        if (!ready_) return "gzip data, and zlib has no memory for it";
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(bytes.size());
        while (stream_.avail_in > 0 || full_) {
            if (ended_) {  // members of a gzip file may be appended to each other; zero padding may follow
                if (stream_.avail_in > 0 && *stream_.next_in == 0) {
                    ++stream_.next_in;
                    --stream_.avail_in;
                    continue;
                }
                if (inflateReset(&stream_) != Z_OK) return "gzip data, and zlib has no memory for it";
                ended_ = false;
            }
            stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
            stream_.avail_out = static_cast<uInt>(out_.size());
            const int result = ::inflate(&stream_, Z_NO_FLUSH);
            full_ = stream_.avail_out == 0 && result == Z_OK;
            if (!sink({out_.data(), out_.size() - stream_.avail_out})) return std::nullopt;
            ended_ = result == Z_STREAM_END;
            if (result == Z_BUF_ERROR) return std::nullopt;  // wants more
            if (result != Z_OK && result != Z_STREAM_END) return "damaged gzip data";
        }
        return std::nullopt;
    }
    Why finish(const Sink&) override { return ended_ ? Why() : "gzip data that is cut off"; }

  private:
    z_stream stream_{};
    bool ready_ = false, ended_ = false, full_ = false;
    std::vector<char> out_;
};
#endif

#if GPUCHECK_HAVE_LZMA
class Xz final : public Inflate {
  public:
    Xz() : out_(kBlock) {
        // xz -9 needs 65 MiB.
        constexpr std::uint64_t kMemory = std::uint64_t{160} << 20U;
        ready_ = lzma_stream_decoder(&stream_, kMemory, LZMA_CONCATENATED) == LZMA_OK;
    }
    ~Xz() override { lzma_end(&stream_); }
    Xz(const Xz&) = delete;
    Xz& operator=(const Xz&) = delete;
    Why feed(std::string_view bytes, const Sink& sink) override {
        if (!ready_) return "xz data, and liblzma has no memory for it";
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
        stream_.avail_in = bytes.size();
        return run(LZMA_RUN, sink);
    }
    Why finish(const Sink& sink) override {
        stream_.avail_in = 0;
        if (Why why = run(LZMA_FINISH, sink)) return why;
        return ended_ ? Why() : "xz data that is cut off";
    }

  private:
    Why run(lzma_action action, const Sink& sink) {
        for (;;) {
            stream_.next_out = reinterpret_cast<std::uint8_t*>(out_.data());
            stream_.avail_out = out_.size();
            const lzma_ret result = lzma_code(&stream_, action);
            const bool full = stream_.avail_out == 0;
            if (!sink({out_.data(), out_.size() - stream_.avail_out})) return std::nullopt;
            ended_ = ended_ || result == LZMA_STREAM_END;
            if (result == LZMA_STREAM_END || result == LZMA_BUF_ERROR) return std::nullopt;
            if (result == LZMA_MEMLIMIT_ERROR) return "xz data that wants more memory than 160 MiB";
            if (result != LZMA_OK) return "damaged xz data";
            if (stream_.avail_in == 0 && !full && action == LZMA_RUN) return std::nullopt;
        }
    }
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool ready_ = false, ended_ = false;
    std::vector<char> out_;
};
#endif

#if GPUCHECK_HAVE_ZSTD
class Zstd final : public Inflate {
  public:
    Zstd() : stream_(ZSTD_createDStream()), out_(kBlock) {
        constexpr int kWindowLog = 27;  // zstd --long
        if (stream_ != nullptr) ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kWindowLog);
    }
    ~Zstd() override { ZSTD_freeDStream(stream_); }
    Zstd(const Zstd&) = delete;
    Zstd& operator=(const Zstd&) = delete;
    Why feed(std::string_view bytes, const Sink& sink) override {
        if (stream_ == nullptr) return "zstd data, and libzstd has no memory for it";
        ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
        for (;;) {
            ZSTD_outBuffer out{out_.data(), out_.size(), 0};
            const std::size_t left = ZSTD_decompressStream(stream_, &out, &in);
            if (ZSTD_isError(left) != 0)
                return std::string("damaged zstd data (") + ZSTD_getErrorName(left) + ")";
            ended_ = left == 0;
            if (!sink({out_.data(), out.pos})) return std::nullopt;
            if (in.pos == in.size && out.pos < out.size) return std::nullopt;
        }
    }
    Why finish(const Sink&) override { return ended_ ? Why() : "zstd data that is cut off"; }

  private:
    ZSTD_DStream* stream_;
    bool ended_ = false;
    std::vector<char> out_;
};
#endif

}  // namespace

Packing packing_of(std::string_view head) {
    using namespace std::string_view_literals;
    if (head.starts_with("\x1f\x8b"sv)) return Packing::gzip;
    if (head.starts_with("\xfd\x37zXZ\0"sv)) return Packing::xz;
    if (head.starts_with("\x28\xb5\x2f\xfd"sv)) return Packing::zstd;
    return Packing::none;
}

std::unique_ptr<Inflate> make_inflate(Packing packing) {
#if GPUCHECK_HAVE_ZLIB
    if (packing == Packing::gzip) return std::make_unique<Gzip>();
#endif
#if GPUCHECK_HAVE_LZMA
    if (packing == Packing::xz) return std::make_unique<Xz>();
#endif
#if GPUCHECK_HAVE_ZSTD
    if (packing == Packing::zstd) return std::make_unique<Zstd>();
#endif
    return nullptr;
}

}  // namespace gpucheck::unpack
