// Writes the containers by hand, independently of the code that reads them.
#include "tests/log/wrap.h"

#include <cstdio>

namespace gpucheck::host {
namespace {

std::string with_clock(const char* format, long microseconds, long offset_s) {
    const long total = microseconds / 1000000 + offset_s;
    char buffer[96];
    std::snprintf(buffer, sizeof buffer, format, total / 3600 % 24, total / 60 % 60, total % 60,
                  microseconds % 1000000);
    return buffer;
}

std::string seconds(long microseconds) {
    char buffer[48];
    std::snprintf(buffer, sizeof buffer, "%5ld.%06ld", microseconds / 1000000, microseconds % 1000000);
    return buffer;
}

std::string json_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out.push_back('\\');
        if (c == '\t')
            out += "\\t";
        else
            out.push_back(c);
    }
    return out;
}

std::string one(std::string_view container, const std::string& message, long us, std::size_t number) {
    if (container == "dmesg") return "[" + seconds(us) + "] " + message;
    if (container == "dmesg-T")
        return "[Tue Jan 14 " + with_clock("%02ld:%02ld:%02ld", us, 22800) + " 2025] " + message;
    if (container == "dmesg-iso")
        return with_clock("2025-01-14T%02ld:%02ld:%02ld,%06ld+00:00 ", us, 22800) + message;
    if (container == "dmesg-decode") {
        return "kern  :warn  : " + with_clock("2025-01-14T%02ld:%02ld:%02ld,%06ld+00:00 ", us, 22800) +
               message;
    }
    if (container == "journal-short")
        return with_clock("Jan 14 %02ld:%02ld:%02ld", us, 22800) + " node7 kernel: " + message;
    if (container == "journal-short-iso") {
        return with_clock("2025-01-14T%02ld:%02ld:%02ld+0100", us, 22800) + " node7 kernel: " + message;
    }
    if (container == "journal-short-monotonic") return "[" + seconds(us) + "] node7 kernel: " + message;
    if (container == "journal-json") {
        return R"({"_TRANSPORT":"kernel","PRIORITY":"4","__REALTIME_TIMESTAMP":"17368356)" +
               std::to_string(10000000 + us % 1000000000) + R"(","_SOURCE_MONOTONIC_TIMESTAMP":")" +
               std::to_string(us) + R"(","MESSAGE":")" + json_text(message) + R"(","_HOSTNAME":"node7"})";
    }
    if (container == "syslog") {
        return with_clock("Jan 14 %02ld:%02ld:%02ld", us, 22800) + " node7 kernel: [" + seconds(us) + "] " +
               message;
    }
    if (container == "rfc5424") {
        return "<4>1 " + with_clock("2025-01-14T%02ld:%02ld:%02ld.%06ldZ", us, 22800) +
               " node7 kernel - - - " + message;
    }
    if (container == "kmsg") {
        return "4," + std::to_string(900 + number) + "," + std::to_string(us) + ",-;" + message +
               "\n SUBSYSTEM=pci\n DEVICE=+pci:0000:00:01.0";
    }
    if (container == "pstore") return "<4>[" + seconds(us) + "] " + message;
    if (container == "caller-crlf") return "[" + seconds(us) + "][  T812] " + message + "\r";
    if (container == "colours") return "\x1b[32m[" + seconds(us) + "] \x1b[0m" + message + "\x1b[0m";
    return message;  // dmesg -t
}

}  // namespace

const std::vector<std::string>& containers() {
    static const std::vector<std::string> names{"dmesg",
                                                "dmesg-T",
                                                "dmesg-iso",
                                                "dmesg-decode",
                                                "journal-short",
                                                "journal-short-iso",
                                                "journal-short-monotonic",
                                                "journal-json",
                                                "syslog",
                                                "rfc5424",
                                                "kmsg",
                                                "pstore",
                                                "caller-crlf",
                                                "colours",
                                                "dmesg-t"};
    return names;
}

std::string wrap(std::string_view container, const std::vector<std::string>& messages, long step_us) {
    std::string log;
    long us = 100000000;
    for (std::size_t i = 0; i < messages.size(); ++i, us += step_us) {
        log += one(container, messages[i], us, i);
        log.push_back('\n');
    }
    return log;
}

}  // namespace gpucheck::host
