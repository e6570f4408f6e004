// Snapshots come back from JSON as they went in; what does not fit is an error that says where.
#include "checks/json/model_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/json/struct_tools.h"

namespace gpucheck {
namespace {

static_assert(test::lists_every_member<Snapshot>());

// The counter that the assertion above rests on.
struct Three {
    Fact<std::string> a;
    Bdf b;
    std::vector<int> c;
};
static_assert(test::member_count<Three>() == 3);
static_assert(test::member_count<Bdf>() == 4);
struct Forgetful {
    int listed = 0, forgotten = 0;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Forgetful, listed));
    }
};
static_assert(Forgetful::fields(CountFields{}) != test::member_count<Forgetful>());

Json through_text(const Json& json) {
    auto parsed = parse_json(dump_json(json));
    const JsonError* error = std::get_if<JsonError>(&parsed);
    EXPECT_EQ(error, nullptr) << (error != nullptr ? error->what : "");
    return error != nullptr ? Json() : std::get<Json>(parsed);
}

template <class T>
std::string error_of(const Json& json) {
    T value{};
    std::string error;
    EXPECT_FALSE(from_json(json, value, error));
    return error;
}

TEST(ModelJson, EveryFieldComesBack) {
    for (const bool known : {true, false}) {
        Snapshot snapshot;
        test::Filler filler(known);
        filler.fill(snapshot);
        EXPECT_GT(filler.count(), 200U);
        Snapshot back;
        std::string error;
        ASSERT_TRUE(from_json(through_text(to_json(snapshot)), back, error)) << error;
        EXPECT_TRUE(back == snapshot);
        EXPECT_EQ(dump_json(to_json(back)), dump_json(to_json(snapshot)));
    }
}

TEST(ModelJson, AnUntouchedSnapshotComesBack) {
    const Snapshot snapshot;
    Snapshot back;
    back.gpus.resize(3);
    std::string error;
    ASSERT_TRUE(from_json(through_text(to_json(snapshot)), back, error)) << error;
    EXPECT_TRUE(back == snapshot);
}

template <class T>
void names_are_unique() {
    if constexpr (model_json::is_a<T, Fact> || model_json::is_a<T, std::vector>) {
        names_are_unique<typename T::value_type>();
    } else if constexpr (model_json::HasFields<T>) {
        std::set<std::string_view> names;
        T::fields([&]<class... Members>(const Field<T, Members>&... field) {
            (names.insert(field.name), ...);
            EXPECT_EQ(names.size(), sizeof...(field)) << *names.begin();
            (names_are_unique<Members>(), ...);
        });
    }
}

// A member listed twice would hide one that is not listed from the count above.
TEST(ModelJson, NoMemberIsListedTwice) {
    names_are_unique<Snapshot>();
}

TEST(ModelJson, FactsKeepTheirSourceOrReason) {
    EXPECT_EQ(to_json(Fact<unsigned>(8, "--expect")).dump(), R"({"value":8,"source":"--expect"})");
    EXPECT_EQ(to_json(Fact<unsigned>(Missing{"/sys/x", "EACCES"})).dump(),
              R"({"missing":"EACCES","source":"/sys/x"})");
    EXPECT_EQ(error_of<Fact<unsigned>>(Json::object()), "expected either value or missing");
    EXPECT_EQ(error_of<Fact<unsigned>>(Json::parse(R"({"value":1,"missing":"x"})")),
              "expected either value or missing");
    EXPECT_EQ(error_of<Fact<unsigned>>(Json::parse(R"({"value":null,"source":"x"})")),
              "value: expected an integer");
    EXPECT_EQ(error_of<Fact<unsigned>>(Json::parse(R"({"missing":7})")), "missing: expected a string");
    EXPECT_EQ(error_of<Fact<unsigned>>(Json(nullptr)), "expected an object");
}

TEST(ModelJson, IntegersAreExactOrRefused) {
    std::uint64_t big = 0;
    std::string error;
    ASSERT_TRUE(from_json(through_text(to_json(std::numeric_limits<std::uint64_t>::max())), big, error));
    EXPECT_EQ(big, std::numeric_limits<std::uint64_t>::max());
    std::int64_t small = 0;
    ASSERT_TRUE(from_json(through_text(to_json(std::numeric_limits<std::int64_t>::min())), small, error));
    EXPECT_EQ(small, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(error_of<unsigned>(Json(-1)), "number out of range");
    EXPECT_EQ(error_of<std::uint8_t>(Json(256U)), "number out of range");
    EXPECT_EQ(error_of<int>(Json(std::uint64_t{1} << 63)), "number out of range");
    for (const char* text : {"1.0", "1e3", "\"1\"", "true", "18446744073709551616", "null"}) {
        EXPECT_EQ(error_of<std::uint64_t>(Json::parse(text)), "expected an integer") << text;
    }
}

TEST(ModelJson, DoublesComeBackToTheBit) {
    std::string error;
    for (const double number :
         {0.1, -0.0, 1e308, 5e-324, 1.0 / 3.0, 120.0, 1e22, std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()}) {
        double back = 7;
        ASSERT_TRUE(from_json(through_text(to_json(number)), back, error)) << number << error;
        EXPECT_EQ(back, number);
        EXPECT_EQ(std::signbit(back), std::signbit(number));
    }
    double back = 7;
    ASSERT_TRUE(from_json(through_text(to_json(std::nan(""))), back, error));
    EXPECT_TRUE(std::isnan(back));
    EXPECT_EQ(error_of<double>(Json("inf")), "expected a number");
    EXPECT_EQ(error_of<double>(Json(nullptr)), "expected a number");
}

TEST(ModelJson, BytesThatAreNoTextComeBack) {
    std::string error;
    for (const std::string& text :
         {std::string("\xff\xfe\0junk", 7), std::string("a\0b", 3), std::string("\xed\xa0\x80"),
          std::string("\xf0\x9f\x98\x80"), std::string(100000, '\x80')}) {
        std::string back;
        ASSERT_TRUE(from_json(through_text(to_json(text)), back, error)) << error;
        EXPECT_EQ(back, text);
    }
    EXPECT_EQ(error_of<std::string>(Json::parse(R"({"hex":"0"})")), "malformed hex bytes");
    EXPECT_EQ(error_of<std::string>(Json::parse(R"({"hex":"zz"})")), "malformed hex bytes");
    EXPECT_EQ(error_of<std::string>(Json::parse(R"({"hexa":"00"})")), "expected a string");
}

TEST(ModelJson, PairsAndOptionals) {
    using Pair = std::pair<std::uint64_t, double>;
    Pair pair;
    std::string error;
    ASSERT_TRUE(from_json(through_text(to_json(Pair{~std::uint64_t{0}, 0.5})), pair, error));
    EXPECT_EQ(pair, (Pair{~std::uint64_t{0}, 0.5}));
    EXPECT_EQ(error_of<Pair>(Json::parse("[1]")), "expected two elements");
    EXPECT_EQ(error_of<Pair>(Json::parse("[1,true]")), "[1]: expected a number");
    std::optional<unsigned> some = 5;
    ASSERT_TRUE(from_json(Json(nullptr), some, error));
    EXPECT_FALSE(some.has_value());
    ASSERT_TRUE(from_json(Json(7U), some, error));
    EXPECT_EQ(some, 7U);
}

Json filled() {
    Snapshot snapshot;
    test::Filler(true).fill(snapshot);
    return to_json(snapshot);
}

TEST(ModelJson, ErrorsSayWhere) {
    Json json = filled();
    json["gpus"][1]["pci"]["link"] = 5;
    EXPECT_EQ(error_of<Snapshot>(json), "gpus[1].pci.link: expected an object");
    json = filled();
    json["gpus"][0]["pci"]["link"]["current_speed"]["value"] = "gen99";
    EXPECT_EQ(error_of<Snapshot>(json), "gpus[0].pci.link.current_speed.value: unknown name");
    json = filled();
    json["gpus"][0]["bdf"] = "0000:83:00.9";
    EXPECT_EQ(error_of<Snapshot>(json), "gpus[0].bdf: expected a PCI address");
    EXPECT_EQ(error_of<Snapshot>(Json::array()), "expected an object");
}

TEST(ModelJson, AFailureLeavesTheTargetAlone) {
    Snapshot snapshot;
    test::Filler(true).fill(snapshot);
    const Snapshot before = snapshot;
    Json json = to_json(Snapshot{});
    json["expected"] = 1;
    std::string error;
    EXPECT_FALSE(from_json(json, snapshot, error));
    EXPECT_TRUE(snapshot == before);
}

TEST(ModelJson, OtherVersionsAreReadHonestly) {
    Json json = filled();
    json["invented_later"] = {1, 2, 3};
    json["host"].erase("kernel_release");
    json.erase("measurements");
    Snapshot back;
    std::string error;
    ASSERT_TRUE(from_json(json, back, error)) << error;
    EXPECT_EQ(back.host.kernel_release.why(), kNotInSnapshot);
    EXPECT_FALSE(back.host.kernel_release.absent()) << "not written down is not the same as not there";
    EXPECT_FALSE(back.measurements.vendor_telemetry.known());
    // A list that is not there must not read as a list that is empty.
    json = filled();
    json.erase("gpus");
    EXPECT_EQ(error_of<Snapshot>(json), "gpus: is missing");
    json = filled();
    json["gpus"][0].erase("vendor");
    EXPECT_EQ(error_of<Snapshot>(json), "gpus[0].vendor: is missing");
}

// Every value of a filled snapshot is replaced by values of every other type: an error with a path, or a
// value; no crash.
void replace_each(Json& root, Json& place, std::size_t& refused) {
    for (const Json& wrong :
         {Json(nullptr), Json(-1), Json(1e300), Json("x"), Json(true), Json::array(), Json::object()}) {
        const Json kept = place;
        place = wrong;
        Snapshot back;
        std::string error;
        const bool good = from_json(root, back, error);
        EXPECT_NE(good, !error.empty());
        if (!good) ++refused;
        place = kept;
    }
    if (!place.is_structured()) return;
    for (Json& child : place) {
        if (&child == &place.front()) replace_each(root, child, refused);
    }
}

TEST(ModelJson, WrongTypesNeverCrash) {
    Json root = filled();
    std::size_t refused = 0;
    for (Json& top : root) {
        for (Json& member : top) replace_each(root, member, refused);
    }
    EXPECT_GT(refused, 500U);
}

TEST(ModelJson, ALongListOfNothingAllocatesNothing) {
    Json json = to_json(Snapshot{});
    json["gpus"] = Json(std::vector<int>(1000000, 0));  // a million Devices would be gigabytes
    EXPECT_EQ(error_of<Snapshot>(json), "gpus[0]: expected an object");
}

TEST(ModelJson, EnumsOutOfRangeDoNotThrow) {
    EXPECT_EQ(to_json(static_cast<Vendor>(200)).dump(), "\"invalid\"");
    EXPECT_EQ(error_of<Vendor>(Json("invalid")), "unknown name");
    EXPECT_EQ(error_of<Verdict>(Json(3)), "expected a name");
}

}  // namespace
}  // namespace gpucheck
