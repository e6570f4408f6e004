// Taking lines apart: times in every clock, who wrote the line, and bytes that no terminal should obey.
#include <gtest/gtest.h>

#include "agent/host/kernel_log/line.h"
#include "agent/host/kernel_log/pattern.h"

namespace gpucheck::host {
namespace {

std::string time_of(std::string_view raw) {
    std::string scratch;
    return parse_line(raw, scratch).stamp.text();
}
std::string message_of(std::string_view raw) {
    std::string scratch;
    return std::string(parse_line(raw, scratch).message);
}
std::string program_of(std::string_view raw) {
    std::string scratch;
    return std::string(parse_line(raw, scratch).program);
}

TEST(Line, TimesOfAllContainers) {
    EXPECT_EQ(time_of("[  217.004331] x"), "217.004331");
    EXPECT_EQ(time_of("[ 2317.004] x"), "2317.004000");
    EXPECT_EQ(time_of("[   12.345678 <    0.100000>] x"), "12.345678");
    EXPECT_EQ(time_of("[   12.345678][  T123] x"), "12.345678");
    EXPECT_EQ(time_of("[Sun Feb 23 16:24:18 2025] x"), "2025-02-23T16:24:18");
    EXPECT_EQ(time_of("[Tue Jul  1 06:00:00 2025] x"), "2025-07-01T06:00:00");
    EXPECT_EQ(time_of("2025-01-21T04:41:44,283302+00:00 x"), "2025-01-21T04:41:44Z");
    EXPECT_EQ(time_of("2025-01-21T04:41:44+0530 host kernel: x"), "2025-01-21T04:41:44+05:30");
    EXPECT_EQ(time_of("kern  :warn  : 2025-01-21T04:41:44,283302-08:00 x"), "2025-01-21T04:41:44-08:00");
    EXPECT_EQ(time_of("kern  :err   : [  301.770412] x"), "301.770412");
    EXPECT_EQ(time_of("Jan 14 06:20:11 node7 kernel: x"), "Jan 14 06:20:11");
    EXPECT_EQ(time_of("Jan  4 06:20:11.123456 node7 kernel: x"), "Jan  4 06:20:11");
    EXPECT_EQ(time_of("Tue 2025-01-14 06:20:11 UTC node7 kernel: x"), "2025-01-14T06:20:11Z");
    EXPECT_EQ(time_of("1736835611.770412 node7 kernel: x"), "2025-01-14T06:20:11Z");
    EXPECT_EQ(time_of("<6>[    2.608284] x"), "2.608284");
    EXPECT_EQ(time_of("6,339,5140900,-;x"), "5.140900");
    EXPECT_EQ(time_of("6,339,5140900,-,caller=T1;x"), "5.140900");
    EXPECT_EQ(time_of("[Mar 11 2025 04:51:37] [ERROR] [tid 20481] x"), "2025-03-11T04:51:37");
    EXPECT_EQ(time_of("[Mar  1 2025 04:51:37] [INFO] [tid 20481] x"), "2025-03-01T04:51:37");
    EXPECT_EQ(time_of(R"({"MESSAGE":"x","__REALTIME_TIMESTAMP":"1736835611770412"})"),
              "2025-01-14T06:20:11Z");
    EXPECT_EQ(time_of("412:[  217.004331] x"), "217.004331") << "grep -n";
    EXPECT_EQ(time_of("[Jan14 06:20] x"), "");
    EXPECT_EQ(time_of("x"), "");
    EXPECT_EQ(time_of("[99999999999.5] x"), "");
    EXPECT_EQ(time_of("[Sun Feb 99 16:24:18 2025] x"), "");
    EXPECT_EQ(time_of("2025-13-01T00:00:00 x"), "");
}

TEST(Line, MessageWithoutItsContainers) {
    for (const char* raw : {"[  217.004331] NVRM: x",
                            "[   12.3][ C12] NVRM: x",
                            "<4>[  217.004331] NVRM: x\r",
                            "kern  :warn  : [  3.1] NVRM: x",
                            "Jan 14 06:20:11 node7 kernel: [  301.770412] NVRM: x",
                            "ip-10-0-0-1 kernel: [402118.270551] NVRM: x",
                            "2025-01-14T06:20:11.770412+00:00 node7 kernel: NVRM: x",
                            "2025-01-14T06:20:11.770412+00:00 node7 NVRM: x",
                            "<6>1 2025-01-14T06:20:11.77Z node7 kernel - - - NVRM: x",
                            "<4>1 2025-01-14T06:20:11.77Z n kernel - - [a b=\"c\"] NVRM: x",
                            "4,900,100,-;NVRM: x",
                            "\xef\xbb\xbf[    1.0] NVRM: x",
                            "\x1b[32m[    1.000000] \x1b[0m\x1b[33mNVRM: \x1b[0mx",
                            "[Jan14 06:20] NVRM: x",
                            "[  +0.000123] NVRM: x",
                            "               NVRM: x",
                            "17:[    1.0] NVRM: x",
                            "pod-a/syslog|2025|whatever node7 kernel: NVRM: x",
                            R"({ "MESSAGE" : "NVRM: x" })",
                            R"({"A":[1,{"b":"}"}],"MESSAGE":[78,86,82,77,58,32,120],"Z":null})",
                            R"({"MESSAGE":"NVRM: x)"}) {
        EXPECT_EQ(message_of(raw), "NVRM: x") << raw;
    }
    EXPECT_EQ(message_of("3,1,2,-;a\\x0ab\\x5cc"), "a\nb\\c");
    EXPECT_EQ(message_of(R"({"MESSAGE":"a\n\"b\" \u00e9\\"})"), "a\n\"b\" \xc3\xa9\\");
    EXPECT_EQ(message_of("0000:21:00.0: not a grep prefix"), "0000:21:00.0: not a grep prefix");
    EXPECT_EQ(message_of("[drm:amdgpu_job_timedout [amdgpu]] x"), "[drm:amdgpu_job_timedout [amdgpu]] x");
    EXPECT_EQ(message_of("[    1.0] [drm] x"), "[drm] x");
    EXPECT_EQ(message_of("[    1.0] kfd kfd: amdgpu: x"), "kfd kfd: amdgpu: x");
    EXPECT_EQ(message_of("2025-01-14T06:20:11,770412+00:00 kfd kfd: amdgpu: x"), "kfd kfd: amdgpu: x");
    EXPECT_EQ(message_of("2025-01-14T06:20:11,770412+00:00 pcieport 0000:40:01.1: AER: x"),
              "pcieport 0000:40:01.1: AER: x");
}

TEST(Line, WhoWroteIt) {
    EXPECT_EQ(program_of("[    1.0] NVRM: x"), "");
    EXPECT_EQ(program_of("Jan 14 06:20:11 node7 kernel: x"), "");
    EXPECT_EQ(program_of("Jan 14 06:20:11 node7 gpud[812]: x"), "gpud");
    EXPECT_EQ(program_of("2025-01-14T06:20:11+01:00 node7 nvidia-persistenced[8]: x"), "nvidia-persistenced");
    EXPECT_EQ(program_of("<30>[   13.0] systemd[1]: x"), "systemd");
    EXPECT_EQ(program_of("<12>[   13.0] x"), "user");
    EXPECT_EQ(program_of("user  :warn  : [   13.0] x"), "user");
    EXPECT_EQ(program_of("12,900,100,-;x"), "user");
    EXPECT_EQ(program_of("[   13.0] audit: type=1400 x"), "audit");
    EXPECT_EQ(program_of(R"({"_TRANSPORT":"stdout","SYSLOG_IDENTIFIER":"gpud","MESSAGE":"x"})"), "gpud");
    EXPECT_EQ(program_of(R"({"_TRANSPORT":"kernel","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"x"})"), "");
    EXPECT_EQ(program_of("<14>Jan 14 06:20:11 node7 kernel: x"), "")
        << "a relay's facility does not unmake the kernel's tag";
}

TEST(Line, SecondsBetweenClocks) {
    std::string scratch;
    const auto between = [&](std::string_view a, std::string_view b) {
        const Stamp first = parse_line(a, scratch).stamp, second = parse_line(b, scratch).stamp;
        return seconds_between(first, second);
    };
    EXPECT_DOUBLE_EQ(between("[    1.5] x", "[    4.0] x").value_or(-1), 2.5);
    EXPECT_DOUBLE_EQ(between("2025-01-21T04:00:00+00:00 x", "2025-01-21T05:00:00+01:00 x").value_or(-1), 0);
    EXPECT_DOUBLE_EQ(between("Dec 31 23:59:59 n kernel: x", "Jan  1 00:00:01 n kernel: x").value_or(-1), 2);
    EXPECT_FALSE(between("[    1.5] x", "2025-01-21T04:00:00+00:00 x").has_value());
    EXPECT_FALSE(between("x", "x").has_value());
}

TEST(Line, TerminalsGetNothingToObey) {
    EXPECT_EQ(printable("plain \xc3\xa9 \xe2\x82\xac"), "plain \xc3\xa9 \xe2\x82\xac");
    EXPECT_EQ(printable("a\x1b]0;title\x07"
                        "b\r\n\t\x7f"),
              "a\\x1b]0;title\\x07b\\x0d\\x0a\\x09\\x7f");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\xc2\\x9b31m")
        << "C1 CSI";
    EXPECT_EQ(printable("\xe2\x80\xae"
                        "evil"),
              "\\xe2\\x80\\xae"
              "evil")
        << "right-to-left override";
    EXPECT_EQ(printable("\xff\xc0\xaf\xed\xa0\x80"), "\\xff\\xc0\\xaf\\xed\\xa0\\x80");
    EXPECT_EQ(printable(std::string("\xe2\x82", 2)), "\\xe2\\x82");
}

bool match(const char* pattern, std::string_view line, Captures* out = nullptr) {
    const auto compiled = Pattern::compile(pattern, false);
    EXPECT_TRUE(compiled.has_value()) << pattern;
    Captures captures;
    LineFilter filter;
    filter.set(line);
    const bool matched = compiled->matches(line, captures);
    EXPECT_TRUE(!matched || compiled->may_match(filter)) << "the filter hides " << pattern;
    if (out != nullptr) *out = captures;
    return matched;
}

TEST(Pattern, CapturesAndTests) {
    Captures got;
    EXPECT_TRUE(match("probe of {bdf} failed with error {n=-12}",
                      "amdgpu: probe of 0000:2A:00.0 failed with error -12", &got));
    EXPECT_EQ(got.bdf->str(), "0000:2a:00.0");
    EXPECT_FALSE(match("probe of {bdf} failed with error {n=-12}",
                       "amdgpu: probe of 0000:2a:00.0 failed with error -125"));
    EXPECT_TRUE(match("GPU at {bdf}", "GPU at PCI:0000:9b:00 (x", &got));
    EXPECT_EQ(got.bdf->str(), "0000:9b:00.0");
    EXPECT_TRUE(match("{n>0} new errors", "die: 0, 12 new errors"));
    EXPECT_FALSE(match("{n>0} new errors", "0 new errors"));
    EXPECT_FALSE(match("{n>0} correctable", "3 uncorrectable"));
    EXPECT_FALSE(match("{n>0} correctable", "no correctable"));
    EXPECT_FALSE(match("{n>0} x", "99999999999999999999999 x")) << "out of range";
    EXPECT_TRUE(match("STATUS={hex}", "aca entry[00].STATUS=0xfaa00000000d080b", &got));
    EXPECT_EQ(*got.hex, 0xfaa00000000d080bULL);
    EXPECT_FALSE(match("status: {hex>0}", "status: 0x00000000,"));
    EXPECT_TRUE(match("a {*}b {n} c", "a a b b 7 c"));
    EXPECT_FALSE(match("a {*}b {n} c", "a a b b c"));
    EXPECT_TRUE(match("in {unit} block", "detected in xgmi_wafl block", &got));
    EXPECT_EQ(got.unit, "xgmi_wafl");
}

TEST(Pattern, RefusesWhatIsNotInTheLanguage) {
    for (const char* text : {"", "{n}", "{n}{*}x", "{*}", "{*}x", "x{*}", "x{*}{n}", "{what}", "{n", "x {n>a}", "{n>}"}) {
        EXPECT_FALSE(Pattern::compile(text, false).has_value()) << text;
    }
}

}  // namespace
}  // namespace gpucheck::host
