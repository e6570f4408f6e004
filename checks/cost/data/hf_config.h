// Reads the config.json that is published with a model, so that a price does not rest on what a model's name
// suggests about its size.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "checks/cost/llm.h"

namespace gpucheck::cost {

/// Layouts: Llama (also Mistral, Qwen2), Qwen3 and Qwen3-MoE, Mixtral, DeepSeek-V2/V3 and gpt-oss, told apart
/// by `model_type`. A layout that is not listed, or a member that is missing, is an error in one sentence;
/// nothing is derived that the file does not say, except a head size of hidden / heads in the layouts that
/// define it so. `name` becomes the model's key.
std::variant<LlmModel, std::string> read_hf_config(std::string_view text, const std::string& name);

}  // namespace gpucheck::cost
