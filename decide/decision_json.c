/* Decisions as JSON: a corpus has millions of them. */
#include <doppel/decide.h>

#include <math.h>
#include <string.h>

#include "compare/kept_json.h"

/* With at most 4 decimals; ties away from zero. */
static void write_share(struct doppel_json *json, const char *key, double value)
{
    doppel_json_number(json, key, (double)lround(value * 10000) / 10000, 4);
}

/* The numbers of items are their names, where a record has no other. */
static void write_primary(struct doppel_json *json, const struct doppel_decided *decided)
{
    const char *path = decided->of_path;
    doppel_json_text(json, "of", decided->of_id);
    if (!decided->of_id && decided->of)
        doppel_json_integer(json, "of", decided->of);
    if (decided->of)
        doppel_json_integer(json, "of_item", decided->of);
    if (path && (decided->is_file || !decided->path || strcmp(path, decided->path) != 0))
        doppel_json_path(json, "of_path", path);
    doppel_json_text(json, "of_external_id", decided->of_external_id);
    if (decided->of_line)
        doppel_json_integer(json, "of_line", decided->of_line);
    doppel_json_text(json, "replaces", decided->replaces_id);
    if (decided->replaces)
        doppel_json_integer(json, "replaces", decided->replaces);
}

static void write_text_match(struct doppel_json *json, enum doppel_decision decision,
                             const struct doppel_match *match)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(match->scheme);
    doppel_json_text(json, "kind", doppel_kind_name(match->kind));
    doppel_json_text(json, "scheme", scheme ? scheme->name : NULL);
    doppel_json_text(json, "relation", doppel_relation_name(match->relation));
    doppel_json_integer(json, "distance", match->distance);
    doppel_json_integer(json, "bits", match->bits);
    write_share(json, "similarity", match->similarity);
    doppel_json_text(json, "verified", doppel_verified_name(match->verified));
    if (!match->has_coverage)
        return;
    write_share(json, "query_coverage", match->query_coverage);
    write_share(json, "item_coverage", match->item_coverage);
    if (decision == DOPPEL_DECISION_REVISION) {
        write_share(json, "added", 1 - match->query_coverage);
        write_share(json, "removed", 1 - match->item_coverage);
    }
}

static void write_semantic(struct doppel_json *json, const struct doppel_decided *decided)
{
    const struct doppel_semantic_link *link = decided->semantic;
    doppel_json_object_begin(json, "semantic");
    if (link->of_item)
        doppel_json_integer(json, "item", link->of_item);
    doppel_json_text(json, "of", link->of);
    if (link->of_path && (!decided->path || strcmp(link->of_path, decided->path) != 0))
        doppel_json_path(json, "of_path", link->of_path);
    doppel_json_integer(json, "of_line", link->of_line);
    doppel_semantic_link_to_json(json, link);
    doppel_json_object_end(json);
}

static void write_file_match(struct doppel_json *json, const struct doppel_decided *decided)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(decided->scheme);
    if (decided->has_match) {
        doppel_match_to_json(json, &decided->match.match);
        doppel_evidence_to_json(json, &decided->match);
        if (decided->same_as)
            doppel_json_integer(json, "same_as", decided->same_as);
    } else if (scheme) {
        doppel_json_text(json, "kind", doppel_kind_name(decided->kind));
        doppel_json_text(json, "scheme", scheme->name);
    }
}

void doppel_decision_to_json(struct doppel_json *json, const struct doppel_decided *decided)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "id", decided->id);
    if (decided->path)
        doppel_json_path(json, "path", decided->path);
    if (decided->line)
        doppel_json_integer(json, "line", decided->line);
    doppel_json_text(json, "decision", doppel_decision_name(decided->decision));
    write_primary(json, decided);
    doppel_json_text(json, "reason", decided->why);
    write_kept_json(json, "upstream", decided->upstream);
    if (decided->queued)
        doppel_json_boolean(json, "queued", true);
    if (decided->is_file)
        write_file_match(json, decided);
    else if (decided->has_match)
        write_text_match(json, decided->decision, &decided->match.match);
    if (decided->semantic)
        write_semantic(json, decided);
    doppel_json_text(json, "semantic_problem", decided->semantic_problem);
    doppel_json_texts(json, "lists", decided->lists, decided->list_count);
    doppel_json_texts(json, "labels", decided->labels, decided->label_count);
    if (decided->review) {
        doppel_json_text(json, "action", "review");
        doppel_json_text(json, "action_reason", "flood");
    }
    if (decided->not_compared)
        doppel_not_compared_to_json(json, decided->not_compared);
    if (decided->unreadable)
        doppel_unreadable_to_json(json, decided->unreadable);
    doppel_json_text(json, "remark", decided->remark);
    if (decided->item)
        doppel_json_integer(json, "item", decided->item);
    if (decided->same_id)
        doppel_json_integer(json, "same_id", decided->same_id);
    if (decided->replayed)
        doppel_json_boolean(json, "replayed", true);
    doppel_json_object_end(json);
}
