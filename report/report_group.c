/* A group as a report keeps it: what its previews need, and its JSON. */
#include "report/report_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void report_group_free(struct report_group *group)
{
    for (size_t i = 0; i < group->count && group->members; i++) {
        free(group->members[i].path);
        free(group->members[i].segments);
    }
    free(group->members);
    free(group->passages);
    free(group->json);
}

/* Seconds as the data of the report has them: the frames that are shown are those of its segments.
 */
static double rounded_to_ms(double seconds)
{
    char text[400]; /* the largest double has 309 digits before the point */
    snprintf(text, sizeof text, "%.3f", seconds);
    return strtod(text, NULL);
}

static bool copy_segments_of(const struct doppel_match *match, struct report_member *out)
{
    size_t count = match ? match->segment_count : 0;
    if (!count)
        return true;
    out->segments = malloc(count * sizeof *out->segments);
    if (!out->segments)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct doppel_segment *from = &match->segments[i];
        out->segments[i] = (struct doppel_segment){.a_start = rounded_to_ms(from->a_start),
                                                   .a_end = rounded_to_ms(from->a_end),
                                                   .b_start = rounded_to_ms(from->b_start),
                                                   .b_end = rounded_to_ms(from->b_end),
                                                   .speed = from->speed,
                                                   .repeat = from->repeat};
        memcpy(out->segments[i].a_pages, from->a_pages, sizeof from->a_pages);
        memcpy(out->segments[i].b_pages, from->b_pages, sizeof from->b_pages);
    }
    out->segment_count = count;
    return true;
}

static bool copy_member(const struct doppel_group_member *from, struct report_member *out)
{
    *out = (struct report_member){.path = strdup(from->path ? from->path : ""),
                                  .digest = from->digest,
                                  .size = from->size_bytes,
                                  .mtime_ns = from->mtime_ns,
                                  .duration = (double)from->duration_ms / 1000,
                                  .reading = from->reading,
                                  .no_file = !from->is_file && !from->record};
    if (from->record)
        out->record = (struct report_record){from->record->line, from->record->offset,
                                             from->record->size_bytes};
    return out->path && copy_segments_of(from->match, out);
}

bool report_group_copy(const struct doppel_group *group, struct report_group *out)
{
    struct doppel_json json = {0};
    bool done = true;
    *out =
        (struct report_group){.number = group->number, .kind = group->kind, .count = group->count};
    out->members = calloc(group->count, sizeof *out->members);
    for (size_t i = 0; i < group->count && out->members && done; i++)
        done = copy_member(&group->members[i], &out->members[i]);
    doppel_group_to_json(&json, NULL, group, DOPPEL_GROUP_DIGESTS);
    out->json = json.bytes;
    return out->members && !json.failed && done;
}

/* ---- texts that mean the same ---- */

static bool copy_linked(const struct doppel_group_linked *from, const struct report_group *link,
                        size_t passage_count, struct report_member *out)
{
    *out = (struct report_member){.path = strdup(from->path),
                                  .size = from->size_bytes,
                                  .mtime_ns = from->mtime_ns,
                                  .passages = link->passages,
                                  .passage_count = passage_count};
    return out->path != NULL;
}

static bool copy_passages(const struct doppel_semantic_link *link, struct report_group *out)
{
    if (!link->segment_count)
        return true;
    out->passages = malloc(link->segment_count * sizeof *out->passages);
    if (out->passages)
        memcpy(out->passages, link->segments, link->segment_count * sizeof *out->passages);
    return out->passages != NULL;
}

bool report_link_copy(const struct doppel_group_link *link, struct report_group *out)
{
    struct doppel_json json = {0};
    const size_t passages = link->link.segment_count;
    *out = (struct report_group){.kind = DOPPEL_KIND_TEXT, .count = 2, .is_link = true};
    out->members = calloc(2, sizeof *out->members);
    bool done = out->members && copy_passages(&link->link, out) &&
                copy_linked(&link->of, out, passages, &out->members[0]) &&
                copy_linked(&link->text, out, passages, &out->members[1]);
    doppel_group_link_to_json(&json, link, DOPPEL_GROUP_PLAIN);
    out->json = json.bytes;
    return done && !json.failed;
}
