// The options of `gpucheck cost`; see cost_options.h.
#include "agent/cli/cost_options.h"

#include <CLI/CLI.hpp>

#include "agent/cli/machine_options.h"

namespace gpucheck::cli {

void add_cost_options(CLI::App& app, CostOptions& options) {
    add_machine_options(app, options.machine);
    const auto text = [&app](const char* name, std::string& value, const char* shown, const char* help) {
        app.add_option(name, value, help)->option_text(shown);
    };
    const auto texts = [&app](const char* name, std::vector<std::string>& values, const char* shown,
                              const char* help) {
        app.add_option(name, values, help)->option_text(shown)->allow_extra_args(false);
    };
    texts("--model", options.models, "NAME|FILE.json",
          "A model that gpucheck knows (--list-models), or its Hugging Face config.json; may be repeated");
    text("--isl", options.isl, "TOKENS", "Input tokens of a request (default 1000)");
    text("--osl", options.osl, "TOKENS", "Output tokens of a request (default 1000)");
    text("--concurrency", options.concurrency, "N",
         "Requests in flight; default: one user, the most users at 30 tokens/s each, and as many as fit");
    text("--weights", options.weights, "FORMAT",
         "fp16, fp8, fp4 or mxfp4; default: fp8, and fp4, where native");
    text("--kv", options.kv, "FORMAT", "KV cache: fp16 or fp8 (default where native)");
    app.add_flag("--weight-only", options.weight_only,
                 "Weights may be stored in a format that the GPU does not compute in");
    app.add_flag("--attention-dp", options.attention_dp,
                 "DeepSeek's shape: each GPU serves its own requests, experts are spread");
    text("--gpus", options.gpus, "N", "GPUs of the instance");
    text("--tp", options.group, "N",
         "GPUs that share one copy of the model: 1, 2, 4, 8; default: the fewest");
    text("--from", options.from, "REPORT",
         "Take what was measured from this JSON report (- for standard input)");
    texts("--measured", options.measured, "KEY=VALUE",
          "A measurement of your own: bandwidth_gb_s, fp16_tflops, fp8_tflops, fp4_tflops, capacity_gb, "
          "power_w");
    text("--assume", options.assume, "datasheet|published",
         "Estimate from a datasheet, or from published rates of healthy boards, instead of measurements");
    text("--board", options.board, "KEY", "The board (see `gpucheck specs`); default: this machine's");
    text("--fabric", options.fabric, "NAME",
         "nvlink3, nvlink4, nvlink5, pcie4 or xgmi; default: the board's");
    texts("--price", options.price, "USD|BOARD=USD", "USD for one GPU and one hour; may be repeated");
    text("--instance-price", options.instance_price, "USD", "USD for the whole instance and one hour");
    text("--market", options.market, "NAME",
         "Take prices from the dated table: rental, owned_hyperscaler, owned_neocloud");
    texts("--owned", options.owned, "KEY=VALUE",
          "Owned, not rented: capex_usd_per_gpu, years, availability, kw_per_gpu, usd_per_kwh, load, pue, "
          "software_usd_gpu_hour, other_usd_gpu_hour");
    text("--utilization", options.utilization, "FRACTION",
         "Part of each hour that produces tokens; shown beside full load (default 0.5)");
    app.add_option("--compare", options.compare, "Compare with these boards, each at its own price")
        ->option_text("BOARD...");
    text("--scenario", options.scenario, "NAME",
         "Scale the published result of this scenario, at its own lengths: offline, server, interactive");
    app.add_flag("--plot", options.plot, "Draw throughput against interactivity");
    app.add_flag("--list-models", options.list_models, "Show the models that gpucheck knows");
    text("--check-table", options.check_table, "FILE.csv",
         "Find rows whose price, tokens/s and USD per token disagree by more than 2 %");
    app.add_option("--format", options.format, "text (default), json or csv")
        ->option_text("text|json|csv")
        ->check(CLI::IsMember({"text", "json", "csv"}).description(""));
}

}  // namespace gpucheck::cli
