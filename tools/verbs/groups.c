/* doppel groups: the duplicate groups in the library. */
#include <stdlib.h>

#include "tools/args/engine_options.h"
#include "tools/args/library_options.h"
#include "tools/output/messages.h"
#include "tools/args/commands.h"
#include "compare/video.h"
#include "group/group_sources.h"
#include "tools/output/item_name.h"
#include "tools/output/output.h"
#include "group/record_groups.h"
#include "tools/signals.h"

struct groups {
    const struct settings *settings;
    struct report *report;
    struct doppel_library *library;
    struct marks marks; /* of people */
    struct doppel_item_set wanted;
    bool has_sources;                      /* whose authority counts */
    const struct group_receiver *receiver; /* NULL: the groups are printed */
    struct grouping_options options[DOPPEL_KIND_VIDEO + 1];
    struct grouping *by_kind[DOPPEL_KIND_VIDEO + 1]; /* UNKNOWN: of files of which nothing is known
                                                        but their bytes; NULL: not wanted */
    struct doppel_error *error;
    enum doppel_status status;
    uint64_t others; /* items of another version */
};

/* The item, with what was computed of it: where that is nothing, of another one with its bytes.
 * @param out given (doppel_item_free) */
static enum doppel_status get_computed(struct groups *groups, uint64_t id, struct doppel_item *out,
                                       struct doppel_error *error)
{
    struct doppel_item item;
    uint64_t same = id;
    enum doppel_status status = doppel_library_get(groups->library, id, true, &item, error);
    if (!status && item.record.scheme == DOPPEL_SCHEME_NONE &&
        !doppel_library_by_digest(groups->library, &item.record.digest, &same, NULL) &&
        same != id) {
        doppel_item_free(&item);
        status = doppel_library_get(groups->library, same, true, &item, error);
    }
    if (!status)
        *out = item;
    return status;
}

/* Shingles kept of a text tell what it was when it was added. */
static bool load_text(void *context, const struct grouping_item *entry, struct text_view *out)
{
    struct groups *groups = context;
    struct doppel_item item;
    if (get_computed(groups, entry->id, &item, NULL))
        return false;
    bool good = text_view_read(&item.record, &groups->settings->text, out);
    out->kept = good;
    doppel_item_free(&item);
    return good;
}

static enum doppel_status add_text(struct groups *groups, const struct grouping_item *entry)
{
    struct text_view view;
    if (!load_text(groups, entry, &view)) {
        report_input(groups->report, entry->path, "what the library keeps of it is damaged");
        return DOPPEL_OK;
    }
    enum doppel_status status =
        grouping_add_text(groups->by_kind[DOPPEL_KIND_TEXT], entry, &view, groups->error);
    text_view_free(&view);
    return status;
}

/* A recording or a video: what is known of it is loaded for it. */
static enum doppel_status add_timed(struct groups *groups, struct grouping_item *entry)
{
    struct doppel_item item;
    enum doppel_status status = get_computed(groups, entry->id, &item, groups->error);
    if (status)
        return status;
    status = item.record.kind == DOPPEL_KIND_AUDIO
                 ? grouping_add_audio(groups->by_kind[DOPPEL_KIND_AUDIO], entry, &item.record,
                                      groups->error)
                 : grouping_add_video(groups->by_kind[DOPPEL_KIND_VIDEO], entry, &item.record,
                                      groups->error);
    doppel_item_free(&item);
    return status;
}

/* A library keeps no cells. */
static bool load_video(void *context, const struct grouping_item *entry,
                       struct doppel_video_track *out)
{
    struct groups *groups = context;
    struct doppel_item item;
    if (get_computed(groups, entry->id, &item, NULL))
        return false;
    bool good = video_read(&item.record, DOPPEL_VIDEO_CODES, out);
    doppel_item_free(&item);
    return good;
}

/* What the library says of an item beside what was computed of it. */
static enum doppel_status look_up(struct groups *groups, struct grouping_item *entry)
{
    struct doppel_library *library = groups->library;
    enum doppel_list_state state;
    uint64_t leader, chosen = 0;
    enum doppel_status status = doppel_library_state_of(library, entry->id, &state, groups->error);
    entry->benign = !status && state == DOPPEL_LIST_BENIGN;
    if (!status)
        status = doppel_library_leader(library, entry->id, &leader, groups->error);
    if (!status)
        status = doppel_library_get_canonical(library, leader, &chosen, groups->error);
    entry->chosen = chosen == entry->id;
    entry->has_authority = groups->has_sources;
    struct doppel_metadata about;
    if (!status && groups->has_sources) {
        status = doppel_library_get_metadata(library, entry->id, &about, groups->error);
        if (!status)
            status =
                doppel_library_authority(library, about.source, &entry->authority, groups->error);
        if (!status)
            doppel_metadata_free(&about);
    }
    return status;
}

static bool is_disabled(const struct groups *groups, uint64_t id)
{
    enum doppel_list_state state;
    return doppel_library_has_states(groups->library) &&
           !doppel_library_state_of(groups->library, id, &state, NULL) &&
           state == DOPPEL_LIST_DISABLED;
}

static enum doppel_status add_entry(struct groups *groups, const struct doppel_record *record,
                                    struct grouping_item *entry)
{
    if (record->scheme == DOPPEL_SCHEME_NONE)
        return grouping_add(groups->by_kind[DOPPEL_KIND_UNKNOWN], entry, NULL, groups->error);
    if (record->kind == DOPPEL_KIND_TEXT)
        return add_text(groups, entry);
    if (record->kind == DOPPEL_KIND_AUDIO || record->kind == DOPPEL_KIND_VIDEO)
        return add_timed(groups, entry);
    return grouping_add(groups->by_kind[DOPPEL_KIND_IMAGE], entry, &record->fingerprint,
                        groups->error);
}

/* Of a digest alone there is nothing to group. */
static bool is_wanted(struct groups *groups, const struct doppel_item *item,
                      const struct doppel_record *record)
{
    if (record->scheme == DOPPEL_SCHEME_NONE)
        return groups->by_kind[DOPPEL_KIND_UNKNOWN] && doppel_item_has_file(item);
    return doppel_record_has_scheme(record, settings_scheme(groups->settings, record->kind),
                                    &groups->others);
}

/* Of an item, what is known of which is in `record`. @return whether to go on */
static bool take_known(struct groups *groups, const struct doppel_item *item,
                       const struct doppel_record *record)
{
    if (!is_wanted(groups, item, record))
        return true;
    if (!doppel_item_set_has(&groups->wanted, item->id) || is_disabled(groups, item->id))
        return !signals_stopped();
    bool acting = groups->settings->action != ACTION_NONE;
    if (acting &&
        !doppel_item_has_file(item)) /* nor is anything done about what is near it alone */
        return true;
    char *name = name_of_item(groups->library, item);
    struct grouping_item entry = {
        .path = name,
        .no_file = !doppel_item_has_file(item),
        .digest = record->digest,
        .pixels = record->pixels,
        .size = item->stamp.size,
        .mtime_ns = item->stamp.mtime_ns,
        .id = item->id,
        .width = record->width,
        .height = record->height,
        .quality = record->quality,
    };
    if (acting) {
        entry.device = item->stamp.device;
        entry.inode = item->stamp.inode;
    }
    groups->status = look_up(groups, &entry);
    if (!groups->status)
        groups->status = add_entry(groups, record, &entry);
    if (groups->status == DOPPEL_E_CORRUPT) { /* of this one; the others go on */
        report_input(groups->report, name, groups->error->message);
        groups->status = DOPPEL_OK;
    }
    free(name);
    return groups->status == DOPPEL_OK && !signals_stopped();
}

static bool take_item(void *context, const struct doppel_item *item)
{
    struct groups *groups = context;
    struct doppel_item same;
    uint64_t others = 0;
    if (item->record.error.status) {
        report_input(groups->report, item->path, item->record.error.message);
        return !signals_stopped();
    }
    if (item->record.scheme != DOPPEL_SCHEME_NONE || !doppel_item_has_file(item) ||
        get_computed(groups, item->id, &same, NULL))
        return take_known(groups, item, &item->record);
    bool computed = doppel_record_has_scheme(
        &same.record, settings_scheme(groups->settings, same.record.kind), &others);
    bool go_on = take_known(groups, item, computed ? &same.record : &item->record);
    doppel_item_free(&same);
    return go_on;
}

static bool load_features(void *context, const struct grouping_item *entry,
                          struct doppel_image_features *out)
{
    struct groups *groups = context;
    struct doppel_item item;
    if (get_computed(groups, entry->id, &item, NULL))
        return false;
    bool good = doppel_record_image_features(&item.record, out);
    item.record.fingerprint = (struct doppel_fingerprint){0}; /* it is the features' now */
    doppel_item_free(&item);
    if (!good)
        doppel_fingerprint_free(&out->fingerprint);
    return good;
}

/* Give a member what the library says of it. @param out given (doppel_metadata_free) */
static void add_metadata(struct groups *groups, struct doppel_group_member *member,
                         struct doppel_metadata *out)
{
    if (doppel_library_get_metadata(groups->library, member->id, out, NULL)) {
        *out = (struct doppel_metadata){0};
        return;
    }
    member->lists = (const char *const *)out->lists;
    member->list_count = out->list_count;
    member->labels = (const char *const *)out->labels;
    member->label_count = out->label_count;
}

/* Lists and labels of the members, for who wants more than is printed. */
static enum doppel_status visit_with_lists(void *context, const struct doppel_group *group,
                                           struct doppel_error *error)
{
    struct groups *groups = context;
    struct doppel_metadata *metadata = calloc(group->count, sizeof *metadata);
    struct doppel_group_member *members = calloc(group->count, sizeof *members);
    enum doppel_status status = DOPPEL_OK;
    if (!metadata || !members)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group");
    for (size_t i = 0; i < group->count && !status; i++) {
        members[i] = group->members[i];
        add_metadata(groups, &members[i], &metadata[i]);
    }
    struct doppel_group with_lists = *group;
    with_lists.members = members;
    if (!status)
        status = groups->receiver->visit(groups->receiver->context, &with_lists, error);
    for (size_t i = 0; i < group->count && metadata; i++)
        doppel_metadata_free(&metadata[i]);
    free(metadata);
    free(members);
    return status;
}

static bool take_source(void *context, const char *pattern, int64_t authority)
{
    struct groups *groups = context;
    (void)pattern;
    groups->has_sources |= authority != 0;
    return !groups->has_sources;
}

/* What the library was told: of sources, and which members are to be kept. */
static enum doppel_status load_words(struct groups *groups, struct doppel_keep_policy *out)
{
    enum doppel_status status = marks_load(&groups->marks, groups->library, groups->error);
    if (status == DOPPEL_OK)
        status = doppel_library_each_source(groups->library, take_source, groups, groups->error);
    if (status == DOPPEL_E_CANCELLED)
        status = DOPPEL_OK;
    *out = groups->settings->keep;
    if (status == DOPPEL_OK && !groups->settings->keep_text)
        status = doppel_library_policy(groups->library, out, groups->error);
    return status;
}

/* Of a kind that is wanted. The bytes of other files are told where nothing was chosen. */
static bool wants_kind(const struct groups *groups, enum doppel_kind kind)
{
    const struct settings *settings = groups->settings;
    return kind == DOPPEL_KIND_UNKNOWN ? !settings->kind && !settings->scheme_given
                                       : settings_scheme(settings, kind) != NULL;
}

static enum doppel_status make_groupings(struct groups *groups)
{
    struct doppel_keep_policy policy;
    enum doppel_status status = load_words(groups, &policy);
    for (int kind = DOPPEL_KIND_UNKNOWN; kind <= DOPPEL_KIND_VIDEO && !status; kind++) {
        groups->options[kind] = (struct grouping_options){
            .settings = groups->settings,
            .run = groups->report->run,
            .compare = compare_options_from(groups->settings),
            .kind = (enum doppel_kind)kind,
            .features = load_features,
            .text = load_text,
            .video = load_video,
            .context = groups,
            .marks = &groups->marks,
            .policy = policy,
            .digests = groups->receiver != NULL,
        };
        if (wants_kind(groups, (enum doppel_kind)kind))
            status = grouping_new(&groups->options[kind], &groups->by_kind[kind], groups->error);
    }
    return status;
}

/* Records are no files: nothing is done about them, and -0 has none. A scheme that is asked for is
 * not that of all. */
static bool wants_records(const struct groups *groups)
{
    const struct settings *settings = groups->settings;
    bool bare = settings->null_separated && !settings->format_given;
    const struct doppel_scheme *scheme = settings_scheme(settings, DOPPEL_KIND_TEXT);
    struct doppel_text_options options;
    if (settings->action != ACTION_NONE || bare || !scheme ||
        doppel_library_text_options(groups->library, &options, NULL, NULL))
        return false;
    return !settings->scheme_given ||
           scheme->id ==
               (options.lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128);
}

static enum doppel_status run(struct groups *groups)
{
    struct group_receiver with_lists = {visit_with_lists, groups};
    enum doppel_status status = make_groupings(groups);
    if (status == DOPPEL_OK)
        status = doppel_library_each(groups->library, take_item, groups, groups->error);
    notice_other_versions(groups->report, groups->others);
    if (groups->status)
        status = groups->status;
    struct grouping *const groupings[] = {
        groups->by_kind[DOPPEL_KIND_IMAGE], groups->by_kind[DOPPEL_KIND_TEXT],
        groups->by_kind[DOPPEL_KIND_AUDIO], groups->by_kind[DOPPEL_KIND_VIDEO],
        groups->by_kind[DOPPEL_KIND_UNKNOWN]};
    const size_t count = sizeof groupings / sizeof *groupings;
    const struct doppel_compare_options compare = compare_options_from(groups->settings);
    struct record_groups records = {groups->settings, groups->report->run, groups->library,
                                    &groups->wanted,  &groups->marks,      &compare};
    const struct known_groups known = {record_groups_visit, &records};
    const struct all_groups all = {
        groupings,        count,          wants_records(groups) ? &known : NULL,
        groups->settings, groups->report, groups->report->run};
    if (status == DOPPEL_OK)
        status = groups->receiver ? groupings_visit(&all, &with_lists, groups->error)
                                  : groupings_print(&all, groups->error);
    marks_free(&groups->marks);
    for (size_t i = 0; i < count; i++)
        grouping_free(groupings[i]);
    return status;
}

enum doppel_status library_groups(const struct settings *settings, struct report *report,
                                  const struct group_receiver *receiver, struct doppel_error *error)
{
    struct groups groups = {
        .settings = settings, .report = report, .receiver = receiver, .error = error};
    enum doppel_status status = open_library(settings, false, true, &groups.library, error);
    if (status)
        return status;
    status = filter_library(settings, groups.library, &groups.wanted, error);
    if (!status)
        status = run(&groups);
    doppel_item_set_free(&groups.wanted);
    doppel_library_close(groups.library);
    return status;
}

int cmd_groups(const struct settings *settings, struct report *report)
{
    struct doppel_error error;
    enum doppel_status status = library_groups(settings, report, NULL, &error);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    return EXIT_DONE;
}
