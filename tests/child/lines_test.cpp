// However the bytes of a child are cut into reads, the same lines come out, and nothing else is a line.
#include "agent/child/lines.h"

#include <gtest/gtest.h>

#include <random>

namespace gpucheck::child {
namespace {

using State = Lines::State;
using Strings = std::vector<std::string>;

const std::string kMark =
    "\x04"
    "1234";

struct Result {
    State state;
    Strings lines;
    bool operator==(const Result&) const = default;
};

Result taken(const std::string& bytes, std::size_t step, std::size_t max_bytes = 1000,
             std::size_t max_line = 20) {
    Lines lines(kMark, max_bytes, max_line);
    for (std::size_t at = 0; at < bytes.size(); at += step)
        lines.take(std::string_view(bytes).substr(at, step));
    const State state = lines.state();
    return {state, lines.release()};
}

TEST(ChildLines, AreTheSameHoweverTheyAreCut) {
    for (std::size_t step = 1; step < 12; ++step) {
        EXPECT_EQ(taken("one\ntwo\tü\n\nhalf", step), (Result{State::open, {"one", "two\tü", ""}}));
        EXPECT_EQ(taken("one\n" + kMark + "\nafter\n", step), (Result{State::ended, {"one"}}));
        EXPECT_EQ(taken(kMark + "!\n", step), (Result{State::starved, {}}));
        EXPECT_EQ(taken("one\n" + kMark, step), (Result{State::open, {"one"}}));
        EXPECT_EQ(taken("one\n" + kMark + "5\n", step), (Result{State::garbage, {"one"}}));
        EXPECT_EQ(taken("one" + kMark + "\n", step), (Result{State::garbage, {}}));
        EXPECT_EQ(taken("one\n\x04"
                        "9999\n",
                        step),
                  (Result{State::garbage, {"one"}}));
        EXPECT_EQ(taken("\xc3\n", step), (Result{State::garbage, {}}));
        EXPECT_EQ(taken(std::string(20, 'x') + "\n", step), (Result{State::open, {std::string(20, 'x')}}));
        EXPECT_EQ(taken(std::string(21, 'x'), step).state, State::flooded);
        EXPECT_EQ(taken(std::string(21, 'x') + "\n", step).state, State::flooded);
    }
}

TEST(ChildLines, AnEndIsAnEndEvenAtTheLastByteAllowed) {
    EXPECT_EQ(taken("12345678\n" + kMark + "\n", 100, 9).state, State::ended);
    EXPECT_EQ(taken("12345678\n1\n", 100, 9).state, State::flooded);
}

TEST(ChildLines, RandomBytesAreBounded) {
    std::mt19937 random(7);
    for (int run = 0; run < 2000; ++run) {
        std::string bytes(random() % 300, '\0');
        for (char& c : bytes) c = static_cast<char>(random() % 4 == 0 ? '\n' : random() % 256);
        const Result whole = taken(bytes, bytes.size() + 1, 100, 10);
        EXPECT_NE(whole.state, State::ended);
        std::size_t total = 0;
        for (const std::string& line : whole.lines) {
            total += line.size() + 1;
            EXPECT_LE(line.size(), 10U);
            EXPECT_EQ(line.find('\0'), std::string::npos);
        }
        EXPECT_LE(total, 111U);
    }
}

}  // namespace
}  // namespace gpucheck::child
