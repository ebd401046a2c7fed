/* Records of text as lines, in bulk: read, parsed and decided about as `ingest --jsonl` does. */
#include "serve/answers/answers.h"
#include "serve/deciding.h"

#include <string.h>
#include <unistd.h>

#include "core/try.h"

/* Codes and the like are inputs as everywhere; records of texts begin with one that has a text. */
static bool begins_with_record(const struct exchange *exchange)
{
    enum { HEAD = 4096 };
    char head[HEAD + 1];
    int fd = exchange->form == BODY_LINES ? large_buffer_open(&exchange->body) : -1;
    ssize_t size = fd < 0 ? -1 : read(fd, head, HEAD);
    if (fd >= 0)
        close(fd);
    if (size <= 0)
        return false;
    head[size] = '\0';
    head[strcspn(head, "\n")] = '\0';
    const bool digests = strstr(head, "\"exact\"") && !strstr(head, "\"text\"");
    return !digests && !strstr(head, "\"code\"") && !strstr(head, "\"path\"") &&
           !strstr(head, "\"record\"");
}

bool are_records(struct exchange *exchange)
{
    struct line_parts *parts = &exchange->line_parts;
    if (!exchange->lines.size) /* else it is as of the part before */
        parts->records = begins_with_record(exchange);
    return parts->records;
}

static enum doppel_status put_decisions(struct exchange *exchange, struct doppel_decider *decider,
                                        struct doppel_error *error)
{
    struct doppel_decided decided;
    enum doppel_status status;
    begin_results(exchange);
    while (!(status = doppel_decider_pull(decider, &decided, error))) {
        decided.path = NULL;
        doppel_decision_to_json(&exchange->json, &decided);
        end_result(exchange);
        if (exchange->status != HTTP_OK) /* what was decided is kept all the same */
            return DOPPEL_OK;
    }
    end_results(exchange);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status decide_records(struct exchange *exchange, int records, bool dry_run,
                                         struct doppel_error *error)
{
    static const char *const from[] = {"-"};
    static const char *const nowhere[] = {"/dev/null"}; /* below which there is nothing */
    const struct service *service = exchange->service;
    const struct doppel_library_options opening = {.read_only = dry_run,
                                                   .durable = service->options->durable};
    struct doppel_decide_options options = decide_options_of(service, dry_run);
    struct doppel_library *library = NULL;
    struct doppel_decider *decider = NULL;
    options.records.paths = from;
    options.records.count = 1;
    options.records.descriptor = records;
    options.records.first_line = exchange->line_parts.before + 1;
    options.fields.folders = nowhere;
    options.fields.folder_count = 1;
    enum doppel_status status;
    TRY(doppel_library_open(service->options->library, &opening, &library, error));
    doppel_library_set_client(library, exchange->client.name);
    TRY(doppel_decider_new(service->run, library, &options, &decider, error));
    TRY(put_decisions(exchange, decider, error));
done:
    doppel_decider_free(decider);
    if (library)
        doppel_library_close(library);
    return status;
}

void answer_records(struct exchange *exchange, bool dry_run)
{
    struct doppel_error error;
    int records = large_buffer_open(&exchange->body);
    enum doppel_status status =
        records < 0 ? doppel_fail(&error, DOPPEL_E_IO, "the request cannot be read again")
                    : decide_records(exchange, records, dry_run, &error);
    if (records >= 0)
        close(records);
    if (status)
        exchange_fail(exchange, &error);
}
