// DigitalOcean: the metadata names the droplet but never its size, so the size, its GPUs and its price come
// from the API, and only for somebody who gave a token.
#include <charconv>
#include <cmath>

#include "providers/instance.h"
#include "providers/price.h"

namespace gpucheck::providers {
namespace {

Fact<unsigned> whole_in(const Fact<Json>& object, std::string_view member, unsigned most) {
    const Fact<std::string> text = text_in(object, member);
    if (!text.known()) return text.missing();
    unsigned value = 0;
    const char* end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || value > most)
        return Missing{text.source(), "malformed: no number of GPUs"};
    return Fact<unsigned>(value, text.source());
}

void ask_api(Questions& questions, const Permissions& may, Identity& identity) {
    Instance& instance = identity.instance;
    if (may.token.empty()) {
        instance.type =
            Missing{"api.digitalocean.com",
                    may.no_token.empty()
                        ? "the metadata has no size; --provider-token FILE lets the API tell it"
                        : "the metadata has no size, and the API's token is not to be had: " + may.no_token};
        return;
    }
    if (!instance.id.known()) {
        instance.type = instance.id.missing();
        return;
    }
    http::Request request = get(questions.api_url("https://api.digitalocean.com/v2/droplets/" + *instance.id),
                                {{"Authorization", "Bearer " + may.token}, {"Accept", "application/json"}});
    request.proxy = http::Proxy::environment;
    const Fact<Json> droplet = object_in(questions.json(std::move(request)), "droplet");
    instance.type = text_in(droplet, "size_slug");
    const Fact<Json> size = object_in(droplet, "size");
    Fact<Json> gpus = object_in(droplet, "gpu_info");
    if (!gpus.known()) gpus = object_in(size, "gpu_info");
    identity.promised.gpu_count = whole_in(gpus, "count", kMostGpusOfAType);
    instance.price = digitalocean_price(size, instance.type, identity.promised.gpu_count, may.today);
}

bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= 20 &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

void ask_digitalocean(Questions& questions, const Permissions& may, Identity& identity) {
    const Fact<Json> metadata =
        questions.json(get(questions.metadata_url("http://169.254.169.254/metadata/v1.json")));
    Instance& instance = identity.instance;
    // An answer of somebody else's service that happens to have a member of this name is no droplet.
    const Fact<std::string> id = text_in(metadata, "droplet_id");
    instance.id = id.known() && !is_number(*id) ? Missing{id.source(), "malformed: no droplet's number"} : id;
    instance.region = text_in(metadata, "region");
    ask_api(questions, may, identity);
}

}  // namespace gpucheck::providers
