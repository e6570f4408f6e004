// config.json of each layout gives the totals that the table of models gives; junk gives a sentence.
#include <gtest/gtest.h>

#include "checks/cost/data/hf_config.h"
#include "tests/cost/reference_csv.h"

namespace gpucheck::cost {
namespace {

struct Layout {
    const char* model;
    std::string config;
};

const std::vector<Layout>& layouts() {
    static const std::vector<Layout> kLayouts{
        {"llama-3.1-70b",
         R"({"model_type":"llama","hidden_size":8192,"intermediate_size":28672,"num_attention_heads":64,"num_hidden_layers":80,
             "num_key_value_heads":8,"vocab_size":128256,"tie_word_embeddings":false,"torch_dtype":"bfloat16",
             "rope_scaling":{"factor":8.0,"rope_type":"llama3"}})"},
        {"llama-2-7b",
         R"({"model_type":"llama","hidden_size":4096,"intermediate_size":11008,"num_attention_heads":32,"num_hidden_layers":32,
             "vocab_size":32000,"torch_dtype":"float16"})"},
        {"qwen3-32b",
         R"({"model_type":"qwen3","head_dim":128,"hidden_size":5120,"intermediate_size":25600,"num_attention_heads":64,
             "num_hidden_layers":64,"num_key_value_heads":8,"vocab_size":151936,"sliding_window":null,
             "use_sliding_window":false,"tie_word_embeddings":false})"},
        {"qwen3-235b-a22b",
         R"({"model_type":"qwen3_moe","head_dim":128,"hidden_size":4096,"intermediate_size":12288,"moe_intermediate_size":1536,
             "num_attention_heads":64,"num_hidden_layers":94,"num_key_value_heads":4,"num_experts":128,"num_experts_per_tok":8,
             "decoder_sparse_step":1,"mlp_only_layers":[],"vocab_size":151936})"},
        {"mixtral-8x7b",
         R"({"model_type":"mixtral","hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,
             "num_hidden_layers":32,"num_key_value_heads":8,"num_local_experts":8,"num_experts_per_tok":2,
             "sliding_window":null,"vocab_size":32000})"},
        {"deepseek-v3",
         R"({"model_type":"deepseek_v3","hidden_size":7168,"intermediate_size":18432,"moe_intermediate_size":2048,
             "num_attention_heads":128,"num_key_value_heads":128,"num_hidden_layers":61,"n_routed_experts":256,
             "num_experts_per_tok":8,"n_shared_experts":1,"first_k_dense_replace":3,"moe_layer_freq":1,"q_lora_rank":1536,
             "kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"vocab_size":129280,
             "quantization_config":{"quant_method":"fp8"}})"},
        {"gpt-oss-120b",
         R"({"model_type":"gpt_oss","head_dim":64,"hidden_size":2880,"intermediate_size":2880,"num_attention_heads":64,
             "num_hidden_layers":36,"num_key_value_heads":8,"num_local_experts":128,"num_experts_per_tok":4,
             "experts_per_token":4,"sliding_window":128,"vocab_size":201088,
             "layer_types":["sliding_attention","full_attention"],"quantization_config":{"quant_method":"mxfp4"}})"},
    };
    return kLayouts;
}

TEST(HfConfig, EveryLayoutHasTheTotalsOfTheTable) {
    for (const Layout& layout : layouts()) {
        const auto read = read_hf_config(layout.config, "config.json");
        const auto* error = std::get_if<std::string>(&read);
        ASSERT_EQ(error, nullptr) << layout.model << ": " << *error;
        const LlmModel& ours = std::get<LlmModel>(read);
        const LlmModel& table = *tables().model(layout.model);
        EXPECT_EQ(size_of(ours).dense, size_of(table).dense) << layout.model;
        EXPECT_EQ(size_of(ours).expert, size_of(table).expert) << layout.model;
        EXPECT_EQ(size_of(ours).expert_active, size_of(table).expert_active) << layout.model;
        EXPECT_EQ(size_of(ours).head, size_of(table).head) << layout.model;
        EXPECT_EQ(kv_values_per_token(ours), kv_values_per_token(table)) << layout.model;
        EXPECT_EQ(context_of(ours, 5000), context_of(table, 5000)) << layout.model;
    }
}

TEST(HfConfig, TheTableHasTheTotalsOfTheReference) {
    EXPECT_EQ(size_of(*tables().model("llama-3.1-8b")).dense, 6979321856);
    EXPECT_EQ(size_of(*tables().model("gpt-oss-20b")).expert, 19110297600);
    const std::vector<CsvRow> rows = read_csv("llm_models.csv");
    if (rows.empty()) GTEST_SKIP() << "no llm_models.csv in " << GPUCHECK_SHARED_DIR;
    EXPECT_EQ(rows.size(), tables().models.size());
    for (const CsvRow& row : rows) {
        const LlmModel* model = tables().model(row.at("model"));
        ASSERT_NE(model, nullptr) << row.at("model");
        const ModelSize size = size_of(*model);
        EXPECT_EQ(size.dense, std::stod(row.at("p_dense"))) << model->key;
        EXPECT_EQ(size.expert, std::stod(row.at("p_expert"))) << model->key;
        EXPECT_EQ(size.expert_active, std::stod(row.at("p_expert_active"))) << model->key;
        EXPECT_EQ(size.head, std::stod(row.at("p_head"))) << model->key;
        // The published totals include norms and biases: 0.09 % of what gpt-oss reads for a token.
        const double total = std::stod(row.at("params_total_b")),
                     active = std::stod(row.at("params_active_b"));
        EXPECT_NEAR(size.total() / 1e9, total, total * 1e-3) << model->key;
        EXPECT_NEAR(size.active() / 1e9, active, active * 1e-3) << model->key;
        EXPECT_EQ(2 * kv_values_per_token(*model), std::stod(row.at("kv_bytes_per_token_fp16")))
            << model->key;
    }
}

TEST(HfConfig, TiedEmbeddingsCountOnce) {
    std::string config = layouts()[0].config;
    config.replace(config.find("false"), 5, "true");
    const LlmModel tied = std::get<LlmModel>(read_hf_config(config, "x"));
    EXPECT_EQ(size_of(tied).total(), size_of(tied).dense + size_of(tied).head);
}

std::string error_of(const std::string& text) {
    const auto read = read_hf_config(text, "f");
    const auto* error = std::get_if<std::string>(&read);
    return error != nullptr ? *error : "accepted";
}

TEST(HfConfig, JunkIsNamed) {
    EXPECT_NE(error_of("").find("f: "), std::string::npos);
    EXPECT_NE(error_of("[]").find("not an object"), std::string::npos);
    EXPECT_NE(error_of("{}").find("model_type is missing"), std::string::npos);
    EXPECT_NE(error_of(R"({"model_type":"mamba"})"), "accepted");
    EXPECT_NE(error_of(std::string(5000, '[')), "accepted");
    // A head size is never derived where the layout does not define it so.
    std::string qwen = layouts()[2].config;
    qwen.replace(qwen.find("\"head_dim\":128,"), 15, "");
    EXPECT_NE(error_of(qwen).find("head_dim"), std::string::npos) << error_of(qwen);
    for (const Layout& layout : layouts()) {
        const Json whole = std::get<Json>(parse_json(layout.config));
        for (const auto& [key, value] : whole.items()) {
            if (!value.is_number()) continue;
            for (const Json& bad : {Json(-1), Json("x"), Json(1e300), Json(0.5), Json::array()}) {
                Json spoilt = whole;
                spoilt[key] = bad;
                const std::string error = error_of(spoilt.dump());
                const bool unread =
                    key == "intermediate_size" && layout.model == std::string("qwen3-235b-a22b");
                const bool second =
                    key == "experts_per_token" ||
                    (key == "num_key_value_heads" && layout.model == std::string("deepseek-v3"));
                if (!unread && !second) {
                    EXPECT_NE(error, "accepted") << layout.model << " " << key << " " << bad;
                }
            }
        }
    }
}

}  // namespace
}  // namespace gpucheck::cost
