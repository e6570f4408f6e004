// Nothing may be left behind by a run of children: neither processes nor descriptors.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/child/child.h"

namespace gpucheck::child {

inline std::size_t open_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}
inline std::size_t threads() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/task")) ++count;
    return count;
}

/// Fails the test that leaves something behind.
class Children : public ::testing::Test {
  protected:
    void SetUp() override { before_ = open_descriptors(); }
    void TearDown() override {
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
        EXPECT_EQ(errno, ECHILD);
        EXPECT_EQ(open_descriptors(), before_);
        EXPECT_EQ(threads(), 1U);
    }

  private:
    std::size_t before_ = 0;
};

/// Far more than any child of these tests needs, on a machine that does other things.
inline constexpr std::chrono::milliseconds kPatient{30'000};

inline Outcome run_one(std::function<void(Reporter&)> task, const Limits& limits = {kPatient}) {
    return run_all({{"task", std::move(task)}}, limits).at(0);
}

}  // namespace gpucheck::child
