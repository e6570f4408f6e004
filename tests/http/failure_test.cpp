// Failures that a loopback server cannot play: those of the kernel's routes and of proxies.
#include "providers/http/failure.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace gpucheck::http {
namespace {

TEST(HttpFailure, TellsWhyNoConnectionCame) {
    const auto connecting = [](long system_error) {
        return failure_of({CURLE_COULDNT_CONNECT, system_error, 0, {}});
    };
    EXPECT_EQ(connecting(ECONNREFUSED), Failure::refused);
    EXPECT_EQ(connecting(EHOSTUNREACH), Failure::unreachable);
    EXPECT_EQ(connecting(ENETUNREACH), Failure::unreachable);
    EXPECT_EQ(connecting(EACCES), Failure::unreachable) << "a local firewall";
    EXPECT_EQ(connecting(ETIMEDOUT), Failure::timeout);
    EXPECT_EQ(connecting(ECONNRESET), Failure::reset);
}

TEST(HttpFailure, AProxysRefusalIsNotTheReceivers) {
    EXPECT_EQ(failure_of({CURLE_RECV_ERROR, 0, 403, {}}), Failure::unreachable);
    EXPECT_EQ(failure_of({CURLE_COULDNT_CONNECT, ECONNREFUSED, 407, {}}), Failure::unreachable);
    EXPECT_EQ(failure_of({CURLE_RECV_ERROR, ECONNRESET, 200, {}}), Failure::reset);
    EXPECT_EQ(failure_of({CURLE_PROXY, 0, 0, {}}), Failure::unreachable);
    EXPECT_EQ(failure_of({CURLE_COULDNT_RESOLVE_PROXY, 0, 0, {}}), Failure::dns);
}

TEST(HttpFailure, WhatNobodyForesawIsOurs) {
    EXPECT_EQ(failure_of({CURLE_FAILED_INIT, 0, 0, {}}), Failure::local);
    EXPECT_EQ(failure_of({CURLE_SSL_CACERT_BADFILE, 0, 0, {}}), Failure::local);
}

}  // namespace
}  // namespace gpucheck::http
