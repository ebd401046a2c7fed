/* Any bytes as the body of a request to a service, and as the path of one: there are inputs, or the
 * reply says with a status of 4xx why there are none. */
#include <stdlib.h>
#include <string.h>

#include "serve/inputs.h"
#include "serve/keys.h"
#include "serve/routes.h"
#include "serve/service.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct serve_options options = {.library = "/a/library", .hma = true};
static struct service service = {.options = &options};

static void check(bool good)
{
    if (!good)
        abort();
}

static size_t length_of(const char *word)
{
    return word ? strlen(word) : 0;
}

/* All of it lies in memory that may be read. */
static size_t bytes_of(const struct request_input *input)
{
    const struct doppel_metadata *said = &input->metadata;
    size_t bytes = length_of(input->id) + length_of(input->name) + length_of(input->code) +
                   length_of(input->path) + length_of(input->source) + length_of(input->date) +
                   length_of(said->external_id) + length_of(said->meta);
    for (size_t i = 0; i < said->list_count; i++)
        bytes += length_of(said->lists[i]);
    for (size_t i = 0; i < said->label_count; i++)
        bytes += length_of(said->labels[i]);
    for (size_t i = 0; i < input->text_size; i++)
        bytes += input->text[i] != 0;
    return bytes + input->fingerprint.count +
           (input->record ? input->record->fingerprint.count : 0);
}

static void check_input(const struct request_input *input)
{
    volatile size_t bytes = bytes_of(input);
    (void)bytes;
    check(!input->error.status || input->error.message[0]);
    check(input->form != INPUT_CODE || input->error.status || input->fingerprint.count);
}

static void read_body(enum body_form form, const uint8_t *data, size_t size)
{
    struct exchange exchange = {.service = &service, .method = "POST", .form = form};
    struct inputs inputs = {0};
    check(!large_buffer_append(&exchange.body, data, size, "/tmp", NULL));
    if (inputs_read(&exchange, &inputs)) {
        check(inputs.all.count);
        for (size_t i = 0; i < inputs.all.count; i++)
            check_input(&inputs.all.items[i]);
    } else {
        check(exchange.status >= 400 && exchange.status < 500);
        check(exchange.json.size && !exchange.json.failed);
    }
    inputs_free(&inputs);
    large_buffer_free(&exchange.body);
    doppel_json_free(&exchange.json);
}

static void find_route(const uint8_t *data, size_t size)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", "HEAD", "BREW"};
    char *path = calloc(1, size + 1);
    check(path != NULL);
    memcpy(path, data, size);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct exchange exchange = {.service = &service, .method = methods[i], .url = path};
        check(route_of(&exchange) ? !exchange.status && exchange.rest >= path
                                  : exchange.status == 404 || exchange.status == 405);
        doppel_json_free(&exchange.json);
    }
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    options.decide = doppel_decide_options_default();
    read_body(BODY_JSON, data, size);
    read_body(BODY_LINES, data, size);
    read_body(BODY_FILE, data, size);
    if (size && data[0] == '/')
        find_route(data, size);
    return 0;
}
