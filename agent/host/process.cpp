// Who runs this program, in which environment, and when: on a live machine, what a recorded one has in
// process.json.
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "agent/host/recorded.h"

extern char** environ;

namespace gpucheck::host {

RecordedProcess this_process() {
    RecordedProcess process;
    process.uid = Fact<unsigned>(::geteuid(), "geteuid(2)");
    std::vector<unsigned> gids{::getegid()};
    const int count = ::getgroups(0, nullptr);
    if (count > 0) {
        std::vector<gid_t> more(static_cast<std::size_t>(count));
        const int got = ::getgroups(count, more.data());
        for (int i = 0; i < got; ++i) gids.push_back(more[static_cast<std::size_t>(i)]);
    }
    std::sort(gids.begin(), gids.end());
    gids.erase(std::unique(gids.begin(), gids.end()), gids.end());
    process.gids = Fact<std::vector<unsigned>>(std::move(gids), "getgroups(2)");
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals != std::string_view::npos)
            process.env.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    char buffer[32];
    if (::gmtime_r(&now, &utc) != nullptr &&
        std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0) {
        process.now = Fact<std::string>(buffer, "clock_gettime(2)");
    }
    struct timex clock {};
    const int state = ::adjtimex(&clock);
    process.clock_synchronized =
        state >= 0 ? Fact<bool>(state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0, "adjtimex(2)")
                   : Fact<bool>(Missing{"adjtimex(2)", errno_name(errno)});
    return process;
}

}  // namespace gpucheck::host
