/* The page of duplicates: its data, and the order in which it is written. */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "page_assets.h"
#include "library/items/collection.h"
#include "tools/memory.h"
#include "tools/output/output.h"
#include "report/html_file.h"
#include "report/previews.h"
#include "tools/args/paths.h"

/* So many files are looked at before what was seen is written: enough to keep the workers busy. */
enum { LOOKS_AT_ONCE = 128 };

static void group_free(struct page_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        free(group->items[i].path);
    free(group->items);
    json_decref(group->row);
}

void page_groups_free(struct page *page)
{
    for (size_t i = 0; i < page->groups.count; i++)
        group_free(&page->groups.items[i]);
    array_free(&page->groups);
}

/* ---- the groups ---- */

static void put_digest(json_t *member, const struct doppel_digest *digest)
{
    char hex[2 * sizeof digest->bytes + 1];
    for (size_t i = 0; i < sizeof digest->bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest->bytes[i]);
    put_text(member, "digest", hex);
}

enum doppel_status page_take_group(void *context, const struct told_group *group,
                                   struct doppel_error *error)
{
    struct page *page = context;
    struct page_group taken = {json_incref(group->row), group->kind,
                               must_allocate(group->count * sizeof *taken.items), group->count};
    json_t *members = json_object_get(group->row, "members");
    for (size_t i = 0; i < group->count; i++) {
        const struct grouping_item *from = &group->members[i];
        taken.items[i] =
            (struct page_item){must_copy(from->path), from->digest,  from->size, from->mtime_ns,
                               from->reading,         from->no_file, {0}};
        if (group->records)
            taken.items[i].record = group->records[i];
        put_digest(json_array_get(members, i), &from->digest);
    }
    if (group->text)
        page->text = *group->text;
    if (array_push(&page->groups, taken))
        return DOPPEL_OK;
    group_free(&taken);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %zu groups",
                       page->groups.count);
}

/* ---- the data ---- */

static void put_time(json_t *data)
{
    char text[32];
    struct tm parts;
    time_t now = time(NULL);
    if (gmtime_r(&now, &parts) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts))
        put_text(data, "made", text);
}

static void append_source(json_t *sources, const char *path)
{
    json_t *source = json_object();
    char *absolute = absolute_path(path);
    put_path(source, "path", absolute);
    json_array_append_new(sources, source);
    free(absolute);
}

static json_t *sources_of(const struct settings *settings, bool scanned)
{
    json_t *sources = json_array();
    char *library = scanned ? NULL : library_directory(settings);
    if (library)
        append_source(sources, library);
    for (size_t i = 0; i < settings->reference.count; i++)
        append_source(sources, settings->reference.items[i]);
    for (size_t i = 0; i < settings->operands.count; i++)
        append_source(sources, settings->operands.items[i]);
    free(library);
    return sources;
}

static json_t *data_of(const struct page *page)
{
    const struct settings *settings = page->settings;
    bool scanned = settings->operands.count || settings->files_from;
    json_t *data = json_object(), *groups = json_array();
    put_integer(data, "page", 1);
    put_text(data, "doppel", doppel_version());
    put_time(data);
    put_text(data, "from", scanned ? "scan" : "library");
    put_value(data, "sources", sources_of(settings, scanned));
    put_bool(data, "blur", settings->blur);
    put_bool(data, "looks", !settings->no_thumbnails);
    for (size_t i = 0; i < page->groups.count; i++)
        json_array_append(groups, page->groups.items[i].row);
    put_value(data, "groups", groups);
    return data;
}

/* ---- writing ---- */

/* What the groups from `first` on look like. @param out_next the first that was left out */
static enum doppel_status write_looks(const struct page *page, struct page_looks *looks,
                                      struct page_file *file, size_t first, size_t *out_next,
                                      struct doppel_error *error)
{
    size_t end = first;
    while (end < page->groups.count && page_looks_count(looks) < LOOKS_AT_ONCE)
        page_looks_want(looks, &page->groups.items[end++]);
    enum doppel_status status = page_looks_take(looks, error);
    for (size_t i = first; i < end && !status; i++) {
        const struct page_group *group = &page->groups.items[i];
        char id[64];
        snprintf(id, sizeof id, "looks-%" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(group->row, "group")));
        json_t *seen = page_looks_tell(looks, i - first);
        page_file_json(file, id, seen);
        json_decref(seen);
    }
    page_looks_clear(looks);
    *out_next = end;
    return status;
}

static enum doppel_status write_all_looks(const struct page *page, struct page_file *file,
                                          struct doppel_error *error)
{
    struct progress *progress = &page->report->progress;
    struct page_looks *looks = page_looks_new(page->settings, page->report, &page->text);
    enum doppel_status status = DOPPEL_OK;
    progress_begin(progress, "groups looked at", page->groups.count);
    for (size_t next = 0; next < page->groups.count && !status;) {
        status = write_looks(page, looks, file, next, &next, error);
        progress_update(progress, next, 0);
    }
    progress_clear(progress);
    page_looks_free(looks);
    return status;
}

enum doppel_status page_write(const struct page *page, struct doppel_error *error)
{
    struct page_file file;
    enum doppel_status status = page_file_open(page->settings->output, &file, error);
    if (status)
        return status;
    json_t *data = data_of(page);
    page_file_text(&file, page_head, sizeof page_head);
    page_file_json(&file, "data", data);
    page_file_text(&file, page_middle, sizeof page_middle);
    json_decref(data);
    if (!page->settings->no_thumbnails)
        status = write_all_looks(page, &file, error);
    page_file_text(&file, page_tail, sizeof page_tail);
    return page_file_close(&file, status, error);
}
