// A fleet with its analysis, made from a number, large or small: what the page is tried with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fleet/model/analysis.h"
#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

struct Sample {
    Fleet fleet;
    Analysis analysis;
};

/// `nodes` nodes of eight GPUs: two thirds of one kind, one third of another, one in fifty bad, one of the
/// names hostile. The same arguments give the same sample.
Sample make_sample(std::size_t nodes, std::uint32_t seed);

/// What a machine could call itself to run a script in the page.
inline constexpr const char* kHostileName =
    "</script><img src=x onerror=document.title='owned'>\xe2\x80\xa8{{data}}<!--<script>";

}  // namespace gpucheck::fleet
