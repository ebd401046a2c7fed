/* The file of clusters: JSON Lines of the records that are linked to others. */
#include "tools/output/clusters.h"

enum doppel_status clusters_open(struct clusters *clusters, const char *path,
                                 struct doppel_error *error)
{
    return path ? output_file_open(path, NULL, &clusters->file, error) : DOPPEL_OK;
}

/* The representative is known by its id, by its place if it has none, in a library by its item. */
static void write_representative(struct doppel_json *json,
                                 const struct doppel_dedup_decision *decision)
{
    const struct doppel_dedup_representative *first = &decision->representative;
    doppel_json_text(json, "representative", first->id);
    if (first->item)
        doppel_json_integer(json, "representative_item", first->item);
    if (first->line)
        doppel_json_integer(json, "representative_line", first->line);
    doppel_json_path(json, "representative_input", first->path);
}

/* By which of the others it came in. */
static void write_link(struct doppel_json *json, const struct doppel_dedup_decision *decision)
{
    doppel_json_text(json, "of", decision->of);
    doppel_json_text(json, "reason", decision->reason);
    if (decision->has_match)
        doppel_json_number(json, "similarity", decision->match.similarity, 4);
}

bool clusters_take(struct clusters *clusters, const struct doppel_dedup_decision *decision)
{
    struct doppel_json *json = &clusters->line;
    if (!clusters->file.stream || !decision->grouped)
        return true;
    doppel_json_clear(json);
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "id", decision->id);
    write_representative(json, decision);
    doppel_json_text(json, "decision", doppel_decision_name(decision->decision));
    write_link(json, decision);
    doppel_json_boolean(json, "unique", decision->unique);
    doppel_json_integer(json, "line", decision->line);
    doppel_json_path(json, "input", decision->path);
    doppel_json_text(json, "source", decision->source);
    doppel_json_object_end(json);
    doppel_json_end_line(json);
    return !json->failed && fwrite(json->bytes, 1, json->size, clusters->file.stream) == json->size;
}

enum doppel_status clusters_close(struct clusters *clusters, enum doppel_status status,
                                  struct doppel_error *error)
{
    if (!status)
        status = doppel_json_status(&clusters->line, error);
    doppel_json_free(&clusters->line);
    return clusters->file.stream ? output_file_close(&clusters->file, status, error) : status;
}
