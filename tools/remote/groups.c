/* doppel groups --server URL: the groups of the service's library, and links of texts that mean the
 * same. */
#include "tools/remote/remote.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "tools/output/rows/semantic_rows.h"
#include "tools/remote/service.h"
#include "tools/signals.h"

struct remote_grouping {
    const struct settings *settings;
    struct output *groups;     /* NULL: they are finished */
    struct semantic_rows rows; /* below them */
    bool failed;               /* not all could be printed */
};

static void end_remote_groups(struct remote_grouping *grouping)
{
    if (grouping->groups)
        grouping->failed |= !output_finish(grouping->groups);
    grouping->groups = NULL;
}

static const char *word_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* A text by its record, else by its path. */
static void put_linked_text(struct doppel_json *json, const char *key, const char *record,
                            const char *path, const json_t *group)
{
    const json_int_t number = json_integer_value(group);
    semantic_rows_name(json, key,
                       record ? record
                       : path ? path
                              : "",
                       number > 0 ? (uint64_t)number : 0);
}

static void put_for_people(struct doppel_json *json, const json_t *link)
{
    const json_t *semantic = json_object_get(link, "semantic");
    const char *path = word_of(link, "path"), *of_path = word_of(semantic, "of_path");
    remote_put_members(json, link, " kind path record line in_group semantic ");
    put_linked_text(json, "text", word_of(link, "record"), path, json_object_get(link, "in_group"));
    doppel_json_integer(json, "of_id",
                        (uint64_t)json_integer_value(json_object_get(semantic, "item")));
    put_linked_text(json, "of_text", word_of(semantic, "of"), of_path ? of_path : path,
                    json_object_get(semantic, "of_group"));
    remote_put_members(json, semantic, " item of of_path of_line of_group segments ");
}

static bool print_remote_group(void *context, const json_t *row)
{
    struct remote_grouping *grouping = context;
    if (!json_object_get(row, "semantic")) {
        remote_print(grouping->groups, row);
        return !signals_stopped();
    }
    end_remote_groups(grouping);
    struct doppel_json *json = &grouping->rows.row;
    doppel_json_clear(json);
    doppel_json_object_begin(json, NULL);
    if (grouping->settings->format == FORMAT_JSON)
        remote_put_members(json, row, "");
    else
        put_for_people(json, row);
    doppel_json_object_end(json);
    semantic_rows_put(&grouping->rows);
    return !signals_stopped();
}

int remote_groups(const struct settings *settings, struct report *report, struct output *output)
{
    char path[REMOTE_PATH] = "/v1/groups?limit=1000";
    struct doppel_error error;
    struct remote remote = {0};
    struct remote_grouping grouping = {
        .settings = settings, .groups = output, .rows = {.settings = settings, .report = report}};
    enum doppel_status status;
    remote_add_meaning(settings, path);
    TRY(remote_open(settings, report, &remote, &error));
    TRY(remote_each(&remote, path, "groups", print_remote_group, &grouping, &error));
done:
    remote_close(&remote);
    end_remote_groups(&grouping);
    grouping.failed |= !semantic_rows_finish(&grouping.rows);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return grouping.failed ? EXIT_WRONG_USE : EXIT_DONE;
}
