// The experiments, each of one GPU: they yield measurements with their coverage and never judge.
#pragma once

#include <functional>
#include <vector>

#include "checks/model/measurement.h"
#include "kernels/experiments/bench.h"

namespace gpucheck::experiments {

/// Takes each result as soon as it is there, so that a hang in the next one costs nothing that is known.
using Sink = std::function<void(const ExperimentResult&)>;

/// Time of an empty launch, and whether every thread of a launch really ran.
void run_launch(Bench& bench, const Sink& sink);
/// Every data type of the architecture's matrix units, on every unit, against exact integer arithmetic.
void run_matrix(Bench& bench, const Sink& sink);
/// The same by instructions that one architecture alone has. They are not proven on hardware yet: run them
/// last.
void run_matrix_native(Bench& bench, const Sink& sink);
/// A product of large matrices from memory to memory, every element known in closed form.
void run_gemm(Bench& bench, const Sink& sink);
/// Every pattern over nearly all memory.
void run_memory_pattern(Bench& bench, const Sink& sink);
/// Bandwidth of reading, writing, copying and adding, each verified.
void run_memory_stream(Bench& bench, const Sink& sink);
/// Pinned copies to and from the host, and both at once.
void run_host_link(Bench& bench, const Sink& sink);
/// Copies from `from` to `to`, verified where they arrive.
void run_peer(Bench& from, Bench& to, const std::string& to_address, const Sink& sink);

}  // namespace gpucheck::experiments
