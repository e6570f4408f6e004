// Streams the bytes of a log through prefilter, line parser, recogniser and folder, in constant memory
// whatever the bytes are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/kernel_log/fold.h"
#include "agent/host/kernel_log/line.h"
#include "agent/host/kernel_log/recognise.h"
#include "checks/model/log_event.h"

namespace gpucheck::host {

/// Of a longer line the beginning is kept and the rest skipped. The kernel itself prints at most about 1 KiB
/// a line.
inline constexpr std::size_t kLongestLine = std::size_t{64} * 1024;
/// Rules look at this much of a message.
inline constexpr std::size_t kLongestMessage = 4096;

struct ScanOptions {
    bool since_boot = false;  ///< forget what stands before the newest boot marker
    bool every_line = false;  ///< parse every line instead of those with an anchor (tests compare both)
};

class LogScanner {
  public:
    explicit LogScanner(ScanOptions options = {});

    /// The next bytes, cut anywhere.
    void feed(std::string_view bytes);
    /// Records that were lost before the log began (/dev/kmsg).
    void lose(std::uint64_t records) { lost_ += records; }
    /// Ends the log. `incomplete`: why it was not read to its end.
    LogSummary finish(std::string incomplete = {});

  private:
    void whole_lines(std::string_view region);
    void candidates(std::string_view region);
    void handle(std::string_view raw, std::size_t anchor);
    void account(std::string_view region);
    void count_to(std::string_view region, std::size_t end);
    bool starts_boot(const LogLine& line);
    void new_boot();

    ScanOptions options_;
    std::string carry_;      ///< an unfinished line
    bool skipping_ = false;  ///< inside the rest of an over-long line
    std::string scratch_;
    Recogniser recogniser_;
    Folder folder_;
    std::uint64_t line_ = 0;  ///< lines before `counted_` of the current region
    std::size_t counted_ = 0;
    std::uint64_t lines_before_boot_ = 0;
    std::uint64_t lost_ = 0;
    std::uint32_t boot_ = 0;
    std::uint64_t boot_id_ = 0;
    std::int64_t newest_mono_us_ = Stamp::kNone;
    bool text_seen_ = false;
    std::size_t untimed_ = 0;  ///< lines tried in vain for the first time
    Stamp first_, last_;
};

}  // namespace gpucheck::host
