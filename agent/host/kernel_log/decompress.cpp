// gzip, xz and zstd as streams; see decompress.h. Each library is optional when gpucheck is built.
#include "agent/host/kernel_log/decompress.h"

#include <array>
#include <vector>

#include "agent/host/kernel_log/scan.h"

#if GPUCHECK_HAVE_ZLIB
#include <zlib.h>
#endif
#if GPUCHECK_HAVE_LZMA
#include <lzma.h>
#endif
#if GPUCHECK_HAVE_ZSTD
#include <zstd.h>
#endif

namespace gpucheck::host {
namespace {

constexpr std::size_t kBlock = std::size_t{64} * 1024;
// The largest dictionary a stream may ask for: xz -9 and zstd --long need no more.
[[maybe_unused]] constexpr unsigned kWindowLog = 27;

#if GPUCHECK_HAVE_ZLIB
class Gzip final : public Decompressor {
  public:
    Gzip() : ready_(inflateInit2(&stream_, 15 + 32) == Z_OK), out_(kBlock) {}
    ~Gzip() override { inflateEnd(&stream_); }
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;
    bool feed(std::string_view bytes, LogScanner& scanner, std::string& error) override {
        if (!ready_) {
            error = "zlib could not start";
            return false;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(bytes.size());
        while (stream_.avail_in > 0) {
            if (ended_) {  // members of a gzip file may be appended to each other; zero padding may follow
                if (*stream_.next_in == 0) {
                    ++stream_.next_in;
                    --stream_.avail_in;
                    continue;
                }
                if (inflateReset(&stream_) != Z_OK) return false;
                ended_ = false;
            }
            if (!step(scanner, error)) return false;
        }
        return true;
    }
    bool complete() const override { return ended_; }

  private:
    bool step(LogScanner& scanner, std::string& error) {
        do {
            stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
            stream_.avail_out = static_cast<uInt>(out_.size());
            const int result = inflate(&stream_, Z_NO_FLUSH);
            scanner.feed({out_.data(), out_.size() - stream_.avail_out});
            if (result == Z_STREAM_END) {
                ended_ = true;
                return true;
            }
            if (result == Z_BUF_ERROR) return true;  // wants more input
            if (result != Z_OK) {
                error = "damaged gzip data";
                return false;
            }
        } while (stream_.avail_out == 0);
        return true;
    }
    z_stream stream_{};
    bool ready_ = false, ended_ = false;
    std::vector<char> out_;
};
#endif

#if GPUCHECK_HAVE_LZMA
class Xz final : public Decompressor {
  public:
    Xz()
        : ready_(lzma_stream_decoder(&stream_, std::uint64_t{160} << 20U, LZMA_CONCATENATED) == LZMA_OK),
          out_(kBlock) {}
    ~Xz() override { lzma_end(&stream_); }
    Xz(const Xz&) = delete;
    Xz& operator=(const Xz&) = delete;
    bool feed(std::string_view bytes, LogScanner& scanner, std::string& error) override {
        if (!ready_) {
            error = "liblzma could not start";
            return false;
        }
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
        stream_.avail_in = bytes.size();
        return run(LZMA_RUN, scanner, error);
    }
    bool complete() const override {
        std::string ignored;
        LogScanner nowhere;
        return const_cast<Xz*>(this)->run(LZMA_FINISH, nowhere, ignored) && ended_;
    }

  private:
    bool run(lzma_action action, LogScanner& scanner, std::string& error) {
        for (;;) {
            stream_.next_out = reinterpret_cast<std::uint8_t*>(out_.data());
            stream_.avail_out = out_.size();
            const lzma_ret result = lzma_code(&stream_, action);
            scanner.feed({out_.data(), out_.size() - stream_.avail_out});
            if (result == LZMA_STREAM_END) ended_ = true;
            if (result == LZMA_STREAM_END || result == LZMA_BUF_ERROR) return true;
            if (result != LZMA_OK) {
                error = result == LZMA_MEMLIMIT_ERROR ? "xz data wants more memory than 160 MiB"
                                                      : "damaged xz data";
                return false;
            }
            if (stream_.avail_in == 0 && stream_.avail_out > 0 && action == LZMA_RUN) return true;
        }
    }
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool ready_ = false, ended_ = false;
    std::vector<char> out_;
};
#endif

#if GPUCHECK_HAVE_ZSTD
class Zstd final : public Decompressor {
  public:
    Zstd() : stream_(ZSTD_createDStream()), out_(kBlock) {
        if (stream_ != nullptr) ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kWindowLog);
    }
    ~Zstd() override { ZSTD_freeDStream(stream_); }
    Zstd(const Zstd&) = delete;
    Zstd& operator=(const Zstd&) = delete;
    bool feed(std::string_view bytes, LogScanner& scanner, std::string& error) override {
        if (stream_ == nullptr) {
            error = "libzstd could not start";
            return false;
        }
        ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
        for (;;) {
            ZSTD_outBuffer out{out_.data(), out_.size(), 0};
            const std::size_t left = ZSTD_decompressStream(stream_, &out, &in);
            if (ZSTD_isError(left) != 0) {
                error = std::string("damaged zstd data: ") + ZSTD_getErrorName(left);
                return false;
            }
            scanner.feed({out_.data(), out.pos});
            ended_ = left == 0;
            if (in.pos == in.size && out.pos < out.size) return true;
        }
    }
    bool complete() const override { return ended_; }

  private:
    ZSTD_DStream* stream_;
    bool ended_ = false;
    std::vector<char> out_;
};
#endif

}  // namespace

Compression compression_of(std::string_view head) {
    if (head.starts_with("\x1f\x8b")) return Compression::gzip;
    if (head.starts_with(std::string_view("\xfd"
                                          "7zXZ\0",
                                          6))) {
        return Compression::xz;
    }
    if (head.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
    return Compression::none;
}

std::unique_ptr<Decompressor> make_decompressor(Compression kind, std::string& error) {
    switch (kind) {
        case Compression::none:
            error = "not compressed";
            return nullptr;
        case Compression::gzip:
#if GPUCHECK_HAVE_ZLIB
            return std::make_unique<Gzip>();
#else
            error = "gzip data, and this build has no zlib: decompress it first (zcat FILE | gpucheck log -)";
            return nullptr;
#endif
        case Compression::xz:
#if GPUCHECK_HAVE_LZMA
            return std::make_unique<Xz>();
#else
            error =
                "xz data, and this build has no liblzma: decompress it first (xzcat FILE | gpucheck log -)";
            return nullptr;
#endif
        case Compression::zstd:
#if GPUCHECK_HAVE_ZSTD
            return std::make_unique<Zstd>();
#else
            error =
                "zstd data, and this build has no libzstd: decompress it first (zstdcat FILE | gpucheck log "
                "-)";
            return nullptr;
#endif
    }
    return nullptr;
}

}  // namespace gpucheck::host
