/* GET of what was said of items and decided about them: lists, the log, numbers. */
#include "serve/answers/page.h"

#include "core/try.h"
#include "serve/metrics.h"

/* ---- lists ---- */

static bool put_list_on_page(void *context, const struct doppel_list *list)
{
    struct library_page *page = context;
    struct doppel_json *json = &page->exchange->json;
    doppel_json_object_begin(json, NULL);
    page->status = doppel_list_to_json(json, page->library, list, &page->error);
    doppel_json_object_end(json);
    return !page->status;
}

static enum doppel_status put_lists(struct exchange *exchange, struct library_reader *reader,
                                    struct doppel_error *error)
{
    struct library_page page;
    return page_begin(&page, exchange, reader, "lists")
               ? page_end(&page,
                          doppel_library_each_list(reader->library, put_list_on_page, &page, error),
                          error)
               : DOPPEL_OK;
}

enum handled answer_lists(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_lists);
}

/* ---- the log ---- */

static bool put_log_entry(void *context, const struct doppel_log_entry *entry,
                          const struct doppel_error *wrong)
{
    struct library_page *page = context;
    struct doppel_json *json = &page->exchange->json;
    if (wrong->status)
        return true; /* `verify` says what is damaged */
    if (!page_takes(page, entry->entry))
        return false;
    doppel_json_object_begin(json, NULL);
    doppel_log_entry_to_json(json, entry);
    doppel_json_object_end(json);
    return true;
}

static enum doppel_status put_log(struct exchange *exchange, struct library_reader *reader,
                                  struct doppel_error *error)
{
    double item = 0;
    struct library_page page;
    if (!read_number(exchange, "item", 1e15, &item) ||
        !page_begin(&page, exchange, reader, "decisions"))
        return DOPPEL_OK;
    /* One more than the page has says that there are more. */
    const struct doppel_log_query query = {
        .item = (uint64_t)item, .first = page.first, .limit = page.left + 1};
    return page_end(&page,
                    doppel_library_each_log(reader->library, &query, put_log_entry, &page, error),
                    error);
}

enum handled answer_log(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_log);
}

/* ---- what inputs are compared by ---- */

static enum doppel_status put_schemes(struct exchange *exchange, struct library_reader *reader,
                                      struct doppel_error *error)
{
    const struct doppel_compare_options *compare =
        &exchange->service->options->decide.search.compare;
    struct doppel_json *json = &exchange->json;
    unsigned kinds = 0;
    enum doppel_status status = doppel_library_exact_kinds(reader->library, &kinds, error);
    if (status)
        return status;
    doppel_json_object_begin(json, NULL);
    for (enum doppel_kind kind = DOPPEL_KIND_TEXT; kind <= DOPPEL_KIND_VIDEO; kind++) {
        const struct doppel_scheme *scheme = doppel_compare_scheme(compare, kind);
        doppel_json_text(json, doppel_kind_name(kind), scheme ? scheme->name : NULL);
    }
    doppel_json_array_begin(json, "exact");
    for (unsigned i = DOPPEL_EXACT_MD5; i <= DOPPEL_EXACT_SHA256; i++)
        if (kinds & 1u << i)
            doppel_json_text(json, NULL, doppel_exact_name((enum doppel_exact)i));
    doppel_json_array_end(json);
    doppel_json_object_end(json);
    exchange->status = HTTP_OK;
    return DOPPEL_OK;
}

enum handled answer_schemes(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_schemes);
}

/* ---- numbers ---- */

static void put_sandbox(struct doppel_json *json, const struct doppel_confinement *held)
{
    doppel_json_object_begin(json, "sandbox");
    doppel_json_integer(json, "landlock_abi", held->landlock_abi);
    doppel_json_boolean(json, "no_new_privileges", held->no_new_privileges);
    doppel_json_boolean(json, "files", held->files);
    doppel_json_boolean(json, "network", held->network);
    doppel_json_boolean(json, "signals", held->scopes);
    doppel_json_boolean(json, "system_calls", held->calls);
    doppel_json_object_end(json);
}

static void put_job_counts(struct doppel_json *json, const struct doppel_job_counts *jobs)
{
    doppel_json_object_begin(json, "jobs");
    doppel_json_integer(json, "waiting", jobs->waiting);
    doppel_json_integer(json, "running", jobs->running);
    doppel_json_integer(json, "failed", jobs->failed);
    doppel_json_object_end(json);
}

static enum doppel_status put_stats(struct exchange *exchange, struct library_reader *reader,
                                    struct doppel_error *error)
{
    enum { DAY_SECONDS = 24 * 3600 };
    struct doppel_json *json = &exchange->json;
    struct doppel_library_stats stats;
    struct doppel_library_changes changes;
    struct doppel_job_counts jobs;
    enum doppel_status status;
    TRY(doppel_library_stats(reader->library, &stats, error));
    TRY(doppel_library_count_changes(reader->library, DAY_SECONDS, &changes, error));
    TRY(doppel_library_count_jobs(reader->library, &jobs, error));
    exchange->status = HTTP_OK;
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "version", doppel_version());
    doppel_json_number(json, "uptime", metrics_uptime(exchange->service->metrics), 3);
    put_sandbox(json, &exchange->service->held);
    put_job_counts(json, &jobs);
    doppel_json_object_begin(json, "library");
    doppel_library_stats_to_json(json, &stats);
    doppel_json_object_end(json);
    doppel_json_object_begin(json, "last_day");
    doppel_library_changes_to_json(json, &changes);
    doppel_json_object_end(json);
    doppel_json_object_end(json);
done:
    return status;
}

enum handled answer_stats(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_stats);
}
