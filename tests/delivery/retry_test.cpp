// What each answer means, and how long is waited.
#include "providers/delivery/retry.h"

#include <gtest/gtest.h>

namespace gpucheck::delivery {
namespace {

constexpr std::int64_t kRetryNow = 784111777;  // Sun, 06 Nov 1994 08:49:37 GMT, RFC 9110's example

Decision answer(int status, std::vector<http::Header> headers = {}, unsigned attempts = 0, double dice = 0) {
    return decide(http::Response{status, std::move(headers), {}}, attempts, kRetryNow, dice);
}

TEST(Retry, EveryStatusHasOneFate) {
    for (int status = 100; status < 600; ++status) {
        const Fate fate = answer(status).fate;
        const bool again = status < 200 || (status >= 300 && status < 400) || status == 408 ||
                           status == 425 || status == 429 || status >= 500;
        EXPECT_EQ(fate, status >= 200 && status < 300 ? Fate::accepted
                        : again                       ? Fate::later
                                                      : Fate::rejected)
            << status;
    }
}

TEST(Retry, WhereNobodyAnswersOthersNeedNotTry) {
    for (const auto failure : {http::Failure::timeout, http::Failure::refused, http::Failure::unreachable,
                               http::Failure::reset, http::Failure::dns, http::Failure::tls,
                               http::Failure::too_large, http::Failure::malformed, http::Failure::local}) {
        const Decision decision = decide(http::Failed{failure, "why"}, 0, kRetryNow, 0.5);
        EXPECT_EQ(decision.fate, Fate::later);
        EXPECT_TRUE(decision.receiver_is_down);
        EXPECT_EQ(decision.last, http::name_of(failure));
        EXPECT_EQ(decision.last.find('.'), std::string::npos) << "it becomes a part of a file name";
    }
    EXPECT_TRUE(answer(503).receiver_is_down);
    EXPECT_TRUE(answer(429).receiver_is_down);
    EXPECT_FALSE(answer(500).receiver_is_down) << "one report may be what it stumbles over";
}

TEST(Retry, WaitsLongerEachTimeAndNeverLongerThanAnHour) {
    EXPECT_EQ(backoff_s(0, 0), 7);
    EXPECT_EQ(backoff_s(0, 1), 14);
    EXPECT_EQ(backoff_s(1, 0), 15);
    EXPECT_EQ(backoff_s(7, 1), 1920);
    for (const unsigned attempts : {8U, 9U, 40U, 4000000000U}) {
        EXPECT_EQ(backoff_s(attempts, 0), 1800);
        EXPECT_EQ(backoff_s(attempts, 1), 3600);
    }
}

TEST(Retry, AfterSecondsOrADateOfThreeForms) {
    EXPECT_EQ(retry_after_s("120", kRetryNow), 120);
    EXPECT_EQ(retry_after_s("0", kRetryNow), 0);
    EXPECT_EQ(retry_after_s("999999999999999999999999", kRetryNow), kLongestRetryAfter_s);
    EXPECT_EQ(retry_after_s("Sun, 06 Nov 1994 08:50:37 GMT", kRetryNow), 60);
    EXPECT_EQ(retry_after_s("Sunday, 06-Nov-94 08:50:37 GMT", kRetryNow), 60);
    EXPECT_EQ(retry_after_s("Sun Nov  6 08:50:37 1994", kRetryNow), 60);
    EXPECT_EQ(retry_after_s("Sun, 06 Nov 1994 08:00:00 GMT", kRetryNow), 0);
    EXPECT_EQ(retry_after_s("Fri, 31 Dec 9999 23:59:59 GMT", kRetryNow), kLongestRetryAfter_s);
    for (const char* bad :
         {"", "-1", "1.5", "soon", "Sun, 06 Nov 1994 08:50:37 +0100", "Sun, 32 Nov 1994 08:50:37 GMT",
          "Sun, 06 Nov 1994 25:50:37 GMT", "06 Nov 1994 08:50:37 GMT", "Sun, 06 Foo 1994 08:50:37 GMT",
          "Sun, 06 Nov 1994 08:50:37 GMT and more words follow"})
        EXPECT_FALSE(retry_after_s(bad, kRetryNow)) << bad;
}

TEST(Retry, TheReceiversWishWinsWithinBounds) {
    EXPECT_EQ(answer(429, {{"retry-after", "100"}}).wait_s, 100);
    EXPECT_EQ(answer(503, {{"retry-after", "100"}}, 0, 1).wait_s, 110);
    EXPECT_EQ(answer(500, {{"retry-after", "0"}}).wait_s, 1);
    EXPECT_EQ(answer(503, {{"retry-after", "junk"}}).wait_s, backoff_s(0, 0));
    EXPECT_LE(answer(503, {{"retry-after", "99999999"}}, 0, 1).wait_s, kLongestRetryAfter_s * 11 / 10);
}

TEST(Retry, AClockThatWasSetBackDoesNotStopDelivery) {
    EXPECT_TRUE(is_due(kRetryNow, kRetryNow));
    EXPECT_FALSE(is_due(kRetryNow + 1, kRetryNow));
    EXPECT_FALSE(is_due(kRetryNow + kLongestRetryAfter_s, kRetryNow));
    EXPECT_TRUE(is_due(kRetryNow + 86400 * 365, kRetryNow));
}

}  // namespace
}  // namespace gpucheck::delivery
