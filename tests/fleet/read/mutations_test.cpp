// Spoiled bytes: whatever comes in, what is accepted survives condensing, and where a stream is cut into
// blocks changes nothing.
#include <random>

#include "fleet/read/splitter.h"
#include "tests/fleet/read/samples.h"

namespace gpucheck::fleet {
namespace {

using Draw = std::mt19937;

std::size_t below(Draw& draw, std::size_t most) {
    return static_cast<std::size_t>(draw()) % most;
}

std::string spoiled(Draw& draw, std::string text) {
    static const std::vector<std::string> kPieces = {"{",
                                                     "}",
                                                     "[",
                                                     "]",
                                                     "\"",
                                                     "\\",
                                                     ",",
                                                     ":",
                                                     "\n",
                                                     "\n{",
                                                     "null",
                                                     "true",
                                                     "-1",
                                                     "1e400",
                                                     "\"fail\"",
                                                     "\"pass\"",
                                                     std::string(1, '\0'),
                                                     "\xff",
                                                     "\"gpucheck_summary\"",
                                                     "\"reports\":[",
                                                     "\xef\xbb\xbf"};
    for (std::size_t i = 0; i < 1 + below(draw, 4); ++i) {
        const std::size_t at = below(draw, text.size()), length = std::min(below(draw, 12), text.size() - at);
        text.replace(at, length, kPieces[below(draw, kPieces.size())]);
        if (text.empty()) return "x";
    }
    return text;
}

std::string pieces(const std::string& text, Draw* draw) {
    std::string told;
    Splitter splitter(4096, [&](const Piece& piece) {
        told += std::to_string(static_cast<int>(piece.kind)) + " " + std::to_string(piece.line) + " " +
                std::string(piece.text) + "\n";
    });
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t size =
            draw != nullptr ? std::min(1 + below(*draw, 40), text.size() - at) : text.size();
        splitter.feed(std::string_view(text).substr(at, size));
        at += size;
    }
    splitter.finish();
    return told;
}

TEST(Mutations, WhatIsAcceptedSurvivesCondensing) {
    Draw draw(20261130);
    Fleet whole;
    ASSERT_EQ(add_document(whole, sample_report(1).dump(), {}).value_or(""), "");
    const std::vector<std::string> seeds = {sample_report(1).dump(), condensed(whole, whole.reports[0])};
    std::size_t accepted = 0;
    for (int i = 0; i < 4000; ++i) {
        const std::string text = spoiled(draw, seeds[below(draw, seeds.size())]);
        Fleet fleet;
        const auto error = add_document(fleet, text, {});
        EXPECT_EQ(error.has_value(), fleet.reports.empty()) << text;
        if (error) continue;
        ++accepted;
        const std::string line = condensed(fleet, fleet.reports[0]);
        Fleet again;
        ASSERT_EQ(add_document(again, line, {}).value_or(""), "") << text;
        EXPECT_EQ(condensed(again, again.reports[0]), line);
    }
    EXPECT_GT(accepted, 100U);
    EXPECT_LT(accepted, 3900U);
}

TEST(Mutations, BlocksOfAStreamChangeNothing) {
    Draw draw(7);
    Fleet whole;
    std::string summary =
        "{\"gpucheck_summary\":\"1.0\",\"why\":[\"a\",{\"b\":[1]}],\"counts\":{\"reports\":3,\"nodes\":1,"
        "\"accept\":1,"
        "\"quarantine\":0,\"reject\":0,\"no_evidence\":0,\"rejected_inputs\":1},\"nodes\":[{\"node\":"
        "\"decision\","
        "\"decision\":\"accept\"}],\"rejected\":[{\"where\":\"a\",\"why\":"
        "\"b\"}],\n \"reports\":[";
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(add_document(whole, sample_report(i).dump(), {}).value_or(""), "");
        summary += (i > 0 ? ",\n  " : "\n  ") + condensed(whole, whole.reports.back());
    }
    summary += "\n]}\n";
    const std::vector<std::string> seeds = {sample_report(1).dump() + "\n" + sample_report(2).dump() + "\n",
                                            sample_report(1).dump(1) + "\n" + sample_report(2).dump(2),
                                            summary,
                                            summary + sample_report(3).dump() + "\nrubbish\n" + summary};
    for (int i = 0; i < 1500; ++i) {
        const std::string& seed = seeds[below(draw, seeds.size())];
        const std::string text = i < 20 ? seed : spoiled(draw, seed);
        const std::string expected = pieces(text, nullptr);
        EXPECT_EQ(pieces(text, &draw), expected) << text;
        EXPECT_FALSE(expected.empty());
    }
    EXPECT_EQ(pieces(summary, nullptr).find("2 "), std::string::npos);
}

}  // namespace
}  // namespace gpucheck::fleet
