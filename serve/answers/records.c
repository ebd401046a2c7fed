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

/* A request of records, and what decides about them. */
struct record_deciding {
    struct exchange *exchange;
    const struct wanted_meaning *wanted;
    bool dry_run;
    int records; /* a descriptor */
    struct doppel_library *library;
    struct doppel_decider *decider;
    struct open_meaning meaning;
};

static enum doppel_status put_decisions(struct record_deciding *deciding,
                                        struct doppel_error *error)
{
    struct exchange *exchange = deciding->exchange;
    struct doppel_decided decided;
    enum doppel_status status;
    begin_results(exchange);
    while (!(status = doppel_decider_pull(deciding->decider, &decided, error))) {
        if (deciding->wanted->wanted)
            find_meaning_of(exchange->service, &deciding->meaning, deciding->decider, NULL,
                            &decided);
        decided.path = NULL;
        doppel_decision_to_json(&exchange->json, &decided);
        end_result(exchange);
        if (exchange->status != HTTP_OK) /* what was decided is kept all the same */
            return DOPPEL_OK;
    }
    end_results(exchange);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status open_record_decider(struct record_deciding *deciding,
                                              struct doppel_error *error)
{
    static const char *const from[] = {"-"};
    static const char *const nowhere[] = {"/dev/null"}; /* below which there is nothing */
    const struct exchange *exchange = deciding->exchange;
    struct doppel_decide_options options = decide_options_of(exchange->service, deciding->dry_run);
    options.records.paths = from;
    options.records.count = 1;
    options.records.descriptor = deciding->records;
    options.records.first_line = exchange->line_parts.before + 1;
    options.fields.folders = nowhere;
    options.fields.folder_count = 1;
    return doppel_decider_new(exchange->service->run, deciding->library, &options,
                              &deciding->decider, error);
}

static enum doppel_status decide_records(struct record_deciding *deciding,
                                         struct doppel_error *error)
{
    struct exchange *exchange = deciding->exchange;
    const struct service *service = exchange->service;
    const struct doppel_library_options opening = {.read_only = deciding->dry_run,
                                                   .durable = service->options->durable};
    enum doppel_status status;
    TRY(doppel_library_open(service->options->library, &opening, &deciding->library, error));
    doppel_library_set_client(deciding->library, exchange->client.name);
    if (deciding->wanted->wanted && meaning_want(service, deciding->library, deciding->wanted,
                                                 !deciding->dry_run, &deciding->meaning, error)) {
        exchange_fail_meaning(exchange, error);
        goto done;
    }
    TRY(open_record_decider(deciding, error));
    TRY(put_decisions(deciding, error));
done:
    doppel_decider_free(deciding->decider);
    meaning_close(&deciding->meaning);
    if (deciding->library)
        doppel_library_close(deciding->library);
    return status;
}

void answer_records(struct exchange *exchange, const struct wanted_meaning *wanted, bool dry_run)
{
    struct doppel_error error;
    struct record_deciding deciding = {.exchange = exchange,
                                       .wanted = wanted,
                                       .dry_run = dry_run,
                                       .records = large_buffer_open(&exchange->body)};
    enum doppel_status status =
        deciding.records < 0 ? doppel_fail(&error, DOPPEL_E_IO, "the request cannot be read again")
                             : decide_records(&deciding, &error);
    if (deciding.records >= 0)
        close(deciding.records);
    if (status)
        exchange_fail(exchange, &error);
}
