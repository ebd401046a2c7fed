/* Items recomputed: chosen, and their files read, scheme by scheme. */
#include "decide/refresh.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/files/absolute_path.h"

enum doppel_status refresh_list_add(struct refresh_list *list, const struct doppel_item *item,
                                    const char *path, struct doppel_error *error)
{
    bool damaged = item->record.error.status != DOPPEL_OK;
    bool known = !damaged || doppel_scheme_by_id(item->record.scheme);
    const struct refresh_item entry = {.id = item->id,
                                       .path = strdup(path),
                                       .kind = known ? item->record.kind : DOPPEL_KIND_UNKNOWN,
                                       .scheme = known ? item->record.scheme : DOPPEL_SCHEME_NONE};
    if (entry.path && array_push(&list->items, entry))
        return DOPPEL_OK;
    free(entry.path);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many items");
}

void refresh_list_free(struct refresh_list *list)
{
    for (size_t i = 0; i < list->items.count; i++)
        free(list->items.items[i].path);
    array_free(&list->items);
}

/* ---- choosing ---- */

struct named {
    uint64_t id; /* 0: a path */
    char *path;
    bool met;
};

struct choice {
    struct named *names;
    size_t count;
    struct refresh_list *list;
    const struct doppel_run *run;
    struct doppel_error *error;
    enum doppel_status status;
};

static bool item_is_named(struct named *named, const struct doppel_item *item)
{
    size_t length = strlen(named->path);
    bool here = named->id ? named->id == item->id
                          : strncmp(named->path, item->path, length) == 0 &&
                                (!item->path[length] || item->path[length] == '/');
    named->met |= here;
    return here;
}

static bool choose_old_item(void *context, const struct doppel_item *item)
{
    struct choice *choice = context;
    bool chosen =
        !choice->count && (item->record.error.status || doppel_record_is_old(&item->record));
    for (size_t i = 0; i < choice->count; i++)
        chosen |= item_is_named(&choice->names[i], item);
    if (chosen && item->path[0] == '/') /* others are known by their codes alone */
        choice->status = refresh_list_add(choice->list, item, item->path, choice->error);
    return !choice->status && !doppel_run_cancelled(choice->run);
}

static void free_named(struct named *names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i].path);
    free(names);
}

/* NULL: no memory. */
static struct named *names_of(const struct strings *words)
{
    struct named *names = calloc(words->count + 1, sizeof *names);
    if (!names)
        return NULL;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        if (!doppel_reference_number(word, &names[i].id))
            names[i].id = 0;
        if ((names[i].path = absolute_path(word)))
            continue;
        free_named(names, i);
        return NULL;
    }
    return names;
}

enum doppel_status refresh_list_choose(const struct strings *words, struct doppel_run *run,
                                       struct doppel_library *library, struct refresh_list *out,
                                       struct doppel_error *error)
{
    struct choice choice = {
        .names = names_of(words), .count = words->count, .list = out, .run = run, .error = error};
    if (!choice.names)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many items");
    enum doppel_status status = doppel_library_each(library, choose_old_item, &choice, error);
    for (size_t i = 0; i < choice.count && !status; i++)
        if (!choice.names[i].met)
            doppel_run_fail_input(run, words->items[i], "the library holds no such item");
    free_named(choice.names, choice.count);
    return choice.status ? choice.status : status;
}

/* ---- reading ---- */

static int by_scheme(const void *a, const void *b)
{
    const struct refresh_item *left = a, *right = b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    if (left->scheme != right->scheme)
        return left->scheme < right->scheme ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

/* As if --scheme had been given; the audio of a video alone as by --no-video. */
static struct doppel_read_options options_for(const struct doppel_read_options *options,
                                              const struct refresh_item *item)
{
    struct doppel_read_options pass = *options;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(item->scheme);
    if (item->kind == DOPPEL_KIND_UNKNOWN || !scheme)
        return pass;
    memset(pass.schemes, 0, sizeof pass.schemes);
    struct doppel_scheme *entry = &pass.schemes[scheme->kind];
    *entry = *scheme;
    if (scheme->id == DOPPEL_SCHEME_MINHASH256)
        pass.text.lanes = 256;
    if (scheme->kind == DOPPEL_KIND_TEXT)
        entry->version = doppel_text_version(entry->version, &pass.text);
    return pass;
}

/* A folder in the place of a file would be walked. */
static bool is_file(const struct refresh_item *item, struct doppel_run *run)
{
    struct stat status;
    bool there = stat(item->path, &status) == 0;
    if (there && S_ISREG(status.st_mode))
        return true;
    doppel_run_fail_input(run, item->path,
                          there ? "is no file any more; its item stays as it is"
                                : "the file is gone; its item stays as it is");
    return false;
}

static enum doppel_status take_files(const struct refresh *refresh, struct intake *intake,
                                     struct doppel_error *error)
{
    struct intake_file file;
    enum doppel_status status;
    while ((status = intake_next(intake, &file, error)) == DOPPEL_OK) {
        status = refresh->taker(refresh->context, &file, error);
        intake_file_free(&file);
        if (status)
            return status;
    }
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

/* Items of one scheme. */
static enum doppel_status run_pass(const struct refresh *refresh, const struct refresh_item *items,
                                   size_t count, struct doppel_error *error)
{
    struct strings paths = {calloc(count, sizeof *paths.items), 0};
    if (!paths.items)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for so many items");
    for (size_t i = 0; i < count; i++)
        if (is_file(&items[i], refresh->run))
            paths.items[paths.count++] = items[i].path;
    const struct doppel_walk_options walk = {.paths = {paths.items, paths.count},
                                             .every_name = true};
    const struct intake_options options = {.read = options_for(&refresh->read, &items[0]),
                                           .run = refresh->run,
                                           .walk = &walk,
                                           .cache = refresh->cache,
                                           .attachments = true};
    struct intake *intake = NULL;
    enum doppel_status status = intake_new(&options, &intake, error);
    if (!status)
        status = take_files(refresh, intake, error);
    intake_free(intake);
    free(paths.items);
    return status;
}

enum doppel_status refresh_run(const struct refresh *refresh, struct refresh_list *list,
                               struct doppel_error *error)
{
    struct refresh_item *items = list->items.items;
    const size_t total = list->items.count;
    enum doppel_status status = DOPPEL_OK;
    if (total)
        qsort(items, total, sizeof *items, by_scheme);
    for (size_t first = 0, end; first < total && !status; first = end) {
        for (end = first + 1; end < total && items[end].kind == items[first].kind &&
                              items[end].scheme == items[first].scheme;)
            end++;
        status = run_pass(refresh, &items[first], end - first, error);
    }
    return status;
}
