/* Scans kept in a file, visited again without reading the files. */
#include "group/saved_scan.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/files/absolute_path.h"
#include "core/try.h"
#include "compare/json_fields.h"

/* What is wrong with the line in hand. */
static enum doppel_status wrong_line(const struct saved_scan *scan, const char *reason,
                                     struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_FORMAT, "%s:%zu: %s", scan->path, scan->number, reason);
}

/* @return DOPPEL_E_NOT_FOUND: there is no more */
static enum doppel_status read_saved_line(struct saved_scan *scan, struct doppel_error *error)
{
    int byte = 0;
    scan->line.count = 0;
    scan->number++;
    while ((byte = getc_unlocked(scan->stream)) != EOF && byte != '\n') {
        if (scan->line.count >= LONGEST_LINE)
            return wrong_line(scan, "is too long for a group of a saved scan", error);
        if (!array_push(&scan->line, (char)byte))
            return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory for a line", scan->path);
    }
    if (ferror(scan->stream))
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", scan->path, strerror(errno));
    if (byte == '\n')
        return DOPPEL_OK;
    return scan->line.count ? wrong_line(scan, "is cut short: scan and save again", error)
                            : DOPPEL_E_NOT_FOUND;
}

static enum doppel_status take_saved_header(struct saved_scan *scan, const json_t *object,
                                            struct doppel_error *error)
{
    struct fields fields = {.object = object, .error = error};
    int64_t version = 0;
    char *folder = NULL, *here = absolute_path("."), other[96];
    field_number(&fields, "doppel_scan", 0, INT64_MAX, &version);
    if (!json_is_object(object) || !version || fields.status) {
        free(here);
        return wrong_line(scan, "is no saved scan of doppel", error);
    }
    field_bytes(&fields, "folder", &folder);
    if (!folder || *folder != '/')
        field_is_wrong(&fields, "folder", "the path of a folder");
    bool same = folder && here && strcmp(folder, here) == 0;
    free(here);
    free(scan->folder);
    scan->folder = same ? NULL : folder;
    if (same)
        free(folder);
    if (version <= SAVED_VERSION)
        return fields.status;
    snprintf(other, sizeof other,
             "is a saved scan of version %lld, and not of %d or less: scan and save again",
             (long long)version, SAVED_VERSION);
    return wrong_line(scan, other, error);
}

static enum doppel_status read_saved_header(struct saved_scan *scan, struct doppel_error *error)
{
    struct doppel_error reason;
    scan->number = 0;
    rewind(scan->stream);
    enum doppel_status status = read_saved_line(scan, error);
    if (status == DOPPEL_E_NOT_FOUND)
        return wrong_line(scan, "is no saved scan of doppel", error);
    if (status)
        return status;
    json_t *object = json_loadb(scan->line.items, scan->line.count, 0, NULL);
    status = take_saved_header(scan, object, &reason);
    json_decref(object);
    if (status == DOPPEL_E_ARGUMENT)
        return wrong_line(scan, reason.message, error);
    return status ? doppel_fail(error, status, "%s", reason.message) : DOPPEL_OK;
}

/* How many lines of which sort were read. */
struct saved_lines {
    uint64_t groups, links;
};

/* The line that ends a whole one. @return whether it is that */
static bool take_end(const char *line, size_t size, const struct saved_lines *lines,
                     struct doppel_group_counts *counts, bool *out_right)
{
    static const char end_of_scan[] = "{\"end\":true,";
    size_t length = sizeof end_of_scan - 1;
    if (size < length || memcmp(line, end_of_scan, length) != 0)
        return false;
    json_t *object = json_loadb(line, size, 0, NULL);
    const json_t *files = json_object_get(object, "files");
    for (int kind = DOPPEL_KIND_UNKNOWN + 1; kind <= DOPPEL_KIND_VIDEO; kind++) {
        const char *name = doppel_kind_name((enum doppel_kind)kind);
        json_int_t count = json_integer_value(json_object_get(files, name));
        counts->items[kind] = count > 0 ? (uint64_t)count : 0;
    }
    *out_right =
        json_integer_value(json_object_get(object, "groups")) == (json_int_t)lines->groups &&
        json_integer_value(json_object_get(object, "links")) == (json_int_t)lines->links;
    json_decref(object);
    return true;
}

/* ---- the paths of a group ---- */

/* Where a path of the saved folder leads from here. @param path in: given; out: likewise, NULL
 * without memory */
static void place_path(const struct saved_scan *scan, const char **path)
{
    char *placed = NULL;
    if (!scan->folder || !*path || **path == '/')
        return;
    if (asprintf(&placed, "%s/%s", scan->folder, *path) < 0)
        placed = NULL;
    free((char *)*path);
    *path = placed;
}

static enum doppel_status place_paths(const struct saved_scan *scan, struct doppel_group *group,
                                      struct doppel_error *error)
{
    struct doppel_group_member *members = (struct doppel_group_member *)group->members;
    bool placed = true;
    for (size_t i = 0; i < group->count; i++) {
        const char **names = (const char **)members[i].names;
        place_path(scan, &members[i].path);
        placed &= members[i].path != NULL;
        for (size_t k = 0; k < members[i].name_count; k++) {
            place_path(scan, &names[k]);
            placed &= names[k] != NULL;
        }
    }
    group->keep = members[0].path;
    return placed ? DOPPEL_OK : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
}

/* ---- groups ---- */

typedef enum doppel_status use_saved_group(struct saved_scan *scan, struct doppel_group *group,
                                           struct doppel_error *error);

/* All files are noted before the first mark is looked up. */
static enum doppel_status note_saved_group(struct saved_scan *scan, struct doppel_group *group,
                                           struct doppel_error *error)
{
    (void)error;
    for (size_t i = 0; i < group->count; i++) {
        const struct doppel_group_member *member = &group->members[i];
        bool same = member_is_as_saved(member);
        met_rules_note(&scan->met, same ? &member->digest : NULL, member->path);
        for (size_t k = 0; k < member->name_count; k++)
            met_rules_note(&scan->met, NULL, member->names[k]);
    }
    return DOPPEL_OK;
}

static enum doppel_status visit_saved_group(struct saved_scan *scan, struct doppel_group *group,
                                            struct doppel_error *error)
{
    size_t all = group->count, count;
    if (!doppel_compare_scheme(&scan->options->compare, group->kind))
        return DOPPEL_OK;
    enum doppel_status status = saved_group_update(scan, group, &count, error);
    if (status || count < 2)
        return status;
    group->count = count;
    status = scan->visit(scan->context, group, error);
    group->count = all; /* they are freed with it */
    return status;
}

static enum doppel_status read_saved_group(struct saved_scan *scan, use_saved_group *use,
                                           struct doppel_error *error)
{
    struct doppel_group *group;
    struct doppel_error reason;
    enum doppel_status status =
        doppel_group_from_json(scan->line.items, scan->line.count, &group, &reason);
    if (status)
        return wrong_line(scan, reason.message, error);
    status = place_paths(scan, group, error);
    if (!status)
        status = use(scan, group, error);
    doppel_group_free(group);
    return status;
}

/* ---- links ---- */

static bool linked_is_as_saved(const struct doppel_group_linked *linked)
{
    const struct doppel_group_member member = {.path = linked->path,
                                               .size_bytes = linked->size_bytes,
                                               .mtime_ns = linked->mtime_ns,
                                               .inode = linked->inode};
    return member_is_as_saved(&member);
}

static enum doppel_status visit_saved_link(struct saved_scan *scan, struct doppel_group_link *link,
                                           struct doppel_error *error)
{
    place_path(scan, &link->text.path);
    place_path(scan, &link->of.path);
    link->link.of_path = link->of.path;
    if (!link->text.path || !link->of.path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a path");
    if (linked_is_as_saved(&link->text) && linked_is_as_saved(&link->of))
        return scan->visit_link(scan->context, link, error);
    scan->left_out++;
    return DOPPEL_OK;
}

/* @return DOPPEL_E_NOT_FOUND: the line is none */
static enum doppel_status read_saved_link(struct saved_scan *scan, struct doppel_error *error)
{
    static const char beginning[] = SAVED_LINK_BEGINNING;
    struct doppel_group_link link;
    struct doppel_error reason;
    if (scan->line.count < sizeof beginning - 1 ||
        memcmp(scan->line.items, beginning, sizeof beginning - 1) != 0)
        return DOPPEL_E_NOT_FOUND;
    enum doppel_status status =
        saved_link_from_json(scan->line.items, scan->line.count, &link, &reason);
    if (status)
        return wrong_line(scan, reason.message, error);
    status = scan->visit_link ? visit_saved_link(scan, &link, error) : DOPPEL_OK;
    saved_link_free(&link);
    return status;
}

/* ---- all lines ---- */

/* @param use NULL: groups are counted alone */
static enum doppel_status read_saved_groups(struct saved_scan *scan, use_saved_group *use,
                                            struct doppel_group_counts *counts,
                                            struct doppel_error *error)
{
    struct saved_lines lines = {0};
    bool right = false;
    enum doppel_status status;
    TRY(read_saved_header(scan, error));
    for (;;) {
        status = doppel_run_cancelled(scan->run)
                     ? doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted")
                     : read_saved_line(scan, error);
        if (status == DOPPEL_E_NOT_FOUND)
            return wrong_line(scan, "is missing: the file is cut short; scan and save again",
                              error);
        if (status)
            return status;
        if (take_end(scan->line.items, scan->line.count, &lines, counts, &right))
            break;
        status = read_saved_link(scan, error);
        if (status == DOPPEL_E_NOT_FOUND) {
            lines.groups++;
            status = use ? read_saved_group(scan, use, error) : DOPPEL_OK;
        } else {
            lines.links++;
        }
        TRY(status);
    }
    if (!right)
        return wrong_line(scan, "counts other groups than there are: scan and save again", error);
    status = read_saved_line(scan, error);
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK
           : status                     ? status
                                        : wrong_line(scan, "follows the end of the scan", error);
done:
    return status;
}

static void report_since(const struct saved_scan *scan)
{
    unsigned long long gone = scan->gone;
    met_rules_report(&scan->met, true, scan->run);
    if (gone)
        doppel_run_notice(scan->run, "%s: %llu of its files %s gone, or linked to another, since",
                          scan->path, gone, gone == 1 ? "is" : "are");
}

enum doppel_status doppel_scan_saved(struct doppel_run *run, const char *path,
                                     const struct doppel_group_options *options,
                                     doppel_group_visitor *visit, void *context,
                                     struct doppel_group_counts *counts, struct doppel_error *error)
{
    const struct doppel_group_options defaults = doppel_group_options_default();
    struct doppel_group_counts found = {0};
    struct saved_scan scan = {.run = run,
                              .path = path,
                              .options = options ? options : &defaults,
                              .visit = visit,
                              .context = context};
    enum doppel_status status;
    TRY(met_rules_init(scan.options, &scan.met, error));
    scan.stream = fopen(path, "rbe");
    if (!scan.stream)
        TRY(doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno)));
    /* Whether it is whole is known before a group of it is told. */
    TRY(read_saved_groups(&scan, note_saved_group, &found, error));
    TRY(read_saved_groups(&scan, visit_saved_group, &found, error));
    report_since(&scan);
    if (counts)
        *counts = found;
done:
    if (scan.stream)
        (void)fclose(scan.stream);
    array_free(&scan.line);
    file_names_free(&scan.names);
    met_rules_free(&scan.met);
    free(scan.folder);
    return status;
}

enum doppel_status doppel_scan_saved_links(struct doppel_run *run, const char *path,
                                           doppel_group_link_visitor *visit, void *context,
                                           struct doppel_error *error)
{
    struct doppel_group_counts unwanted = {0};
    struct saved_scan scan = {.run = run, .path = path, .context = context};
    enum doppel_status status = DOPPEL_OK;
    scan.stream = fopen(path, "rbe");
    if (!scan.stream)
        TRY(doppel_fail(error, DOPPEL_E_IO, "%s: %s", path, strerror(errno)));
    TRY(read_saved_groups(&scan, NULL, &unwanted, error));
    scan.visit_link = visit;
    TRY(read_saved_groups(&scan, NULL, &unwanted, error));
    if (scan.left_out)
        doppel_run_notice(run,
                          "%s: %llu of its texts of the same meaning %s left out: files are "
                          "gone, or have changed, since",
                          path, (unsigned long long)scan.left_out,
                          scan.left_out == 1 ? "is" : "are");
done:
    if (scan.stream)
        (void)fclose(scan.stream);
    array_free(&scan.line);
    free(scan.folder);
    return status;
}
