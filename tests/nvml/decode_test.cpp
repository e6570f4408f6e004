// Answers that no GPU can give are refused, and their near-misses are not.
#include "agent/vendor/nvml_decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace gpucheck::vendor::nvml {
namespace {

TEST(NvmlDecode, TextEndsWithinItsBuffer) {
    char full[8];
    std::memset(full, 'A', sizeof full);
    EXPECT_EQ(decode_text(full, sizeof full), std::nullopt);
    full[7] = '\0';
    EXPECT_EQ(decode_text(full, sizeof full), "AAAAAAA");
    EXPECT_EQ(decode_text("", 1), std::nullopt);
    EXPECT_EQ(decode_text("\xff\xfe", 3), std::nullopt);
    EXPECT_EQ(decode_text("a\nb", 4), std::nullopt);
    EXPECT_EQ(decode_text("Tesla T4  ", 11), "Tesla T4");
}

TEST(NvmlDecode, LimitsAreWhereTheyAre) {
    EXPECT_EQ(decode_unsigned(100, 100), 100U);
    EXPECT_EQ(decode_unsigned(101, 100), std::nullopt);
    EXPECT_EQ(decode_unsigned(~0U, ~0U), std::nullopt);
    EXPECT_EQ(decode_count(~std::uint64_t{0} - 1), ~std::uint64_t{0} - 1);
    EXPECT_EQ(decode_count(~std::uint64_t{0}), std::nullopt);
    EXPECT_EQ(decode_celsius(-100), -100);
    EXPECT_EQ(decode_celsius(-101), std::nullopt);
    EXPECT_EQ(decode_celsius(250), 250);
    EXPECT_EQ(decode_celsius(251), std::nullopt);
    EXPECT_EQ(decode_flag(2), std::nullopt);
    EXPECT_EQ(decode_recovery_action(4), "drain_and_reset");
    EXPECT_EQ(decode_recovery_action(6), std::nullopt);
}

TEST(NvmlDecode, FieldsAreReadByTheirType) {
    FieldValue field{};
    field.value.as_unsigned_long_long = ~0ULL;
    field.value_type = kUnsignedShort;
    EXPECT_EQ(unsigned_of(field), 0xffffU);
    field.value_type = kSigned;
    EXPECT_EQ(unsigned_of(field), std::nullopt);
    EXPECT_EQ(signed_of(field), -1);
    for (const unsigned type :
         std::initializer_list<unsigned>{kUnsigned, kUnsignedLong, kUnsignedLongLong, 7, ~0U}) {
        field.value_type = type;
        EXPECT_EQ(unsigned_of(field), std::nullopt) << type;
    }
    field.value_type = kDouble;
    field.value.as_double = 12.0;
    EXPECT_EQ(unsigned_of(field), 12U);
    for (const double odd : std::initializer_list<double>{12.5, -1.0, NAN, INFINITY, 1e300}) {
        field.value.as_double = odd;
        EXPECT_EQ(unsigned_of(field), std::nullopt) << odd;
    }
}

TEST(NvmlDecode, BitErrorRate) {
    EXPECT_DOUBLE_EQ(*decode_ber(0x50b), 5e-11);
    EXPECT_DOUBLE_EQ(*decode_ber(0x10c), 1e-12);
    EXPECT_DOUBLE_EQ(*decode_ber(0), 0.0);
    EXPECT_LT(*decode_ber(0xfff), 1e-200);
    EXPECT_EQ(decode_ber(0x200), std::nullopt);   // two errors per bit
    EXPECT_EQ(decode_ber(0x1000), std::nullopt);  // beyond the mantissa
}

TEST(NvmlDecode, UnrepairableMemoryInBothLayouts) {
    UnrepairableMemory memory;
    const auto reset = [&] {
        for (unsigned& word : memory.words) word = ~0U;
        memory.words[0] = struct_version(8, 1);
    };
    reset();
    EXPECT_EQ(decode_unrepairable(memory), std::nullopt);  // nothing was written
    memory.words[1] = 1;
    EXPECT_EQ(decode_unrepairable(memory), true);
    reset();
    memory.words[0] = 0;
    EXPECT_EQ(decode_unrepairable(memory), false);
    memory.words[1] = 0;
    EXPECT_EQ(decode_unrepairable(memory), std::nullopt);  // both at once is neither
}

TEST(NvmlDecode, Addresses) {
    PciInfo info{};
    info.bus = 0x19;
    EXPECT_EQ(decode_address(info), "0000:19:00.0");
    info.bus = 256;
    EXPECT_EQ(decode_address(info), std::nullopt);
    info.bus = 0;
    info.device = 32;
    EXPECT_EQ(decode_address(info), std::nullopt);
}

TEST(NvmlDecode, CodesKeepTheirNames) {
    EXPECT_EQ(name_of(kNotSupported), "NOT_SUPPORTED");
    EXPECT_EQ(name_of(kGpuIsLost), "GPU_IS_LOST");
    EXPECT_EQ(name_of(kResetRequired), "RESET_REQUIRED");
    EXPECT_EQ(name_of(kLibRmVersionMismatch), "LIB_RM_VERSION_MISMATCH");
    EXPECT_EQ(name_of(kArgumentVersionMismatch), "ARGUMENT_VERSION_MISMATCH");
    EXPECT_EQ(name_of(kGpuNotFound), "GPU_NOT_FOUND");
    EXPECT_EQ(name_of(kUnknown), "UNKNOWN");
    EXPECT_EQ(name_of(4000000000U), "ERROR_4000000000");
}

TEST(NvmlDecode, RandomBytesAreNeverMoreThanTheirRange) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 200000; ++round) {
        FieldValue field{};
        field.value.as_unsigned_long_long = random();
        field.value_type = static_cast<unsigned>(random() % 9);
        EXPECT_NE(unsigned_of(field).value_or(0), ~std::uint64_t{0});
        EXPECT_LE(decode_ber(random() >> (random() % 64)).value_or(0.0), 1.0);
        EXPECT_LE(std::abs(decode_celsius(signed_of(field).value_or(0)).value_or(0)), 250);
        PciInfo info{};
        const std::uint64_t bits = random();
        std::memcpy(&info.bus, &bits, sizeof bits);
        EXPECT_LE(decode_address(info).value_or("").size(), 12U);
        char text[16];
        for (char& c : text) c = static_cast<char>(random());
        EXPECT_LT(decode_text(text, sizeof text).value_or("").size(), sizeof text);
    }
}

}  // namespace
}  // namespace gpucheck::vendor::nvml
