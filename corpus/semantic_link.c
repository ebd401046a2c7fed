/* How alike in meaning two texts are, as it is said of them. */
#include <doppel/corpus.h>

#include <math.h>

enum doppel_semantic_tier doppel_semantic_tier_of(double false_positive_rate)
{
    static const double near_duplicate = 3e-6, very_similar = 1e-5;
    return false_positive_rate <= near_duplicate ? DOPPEL_SEMANTIC_NEAR_DUPLICATE
           : false_positive_rate <= very_similar ? DOPPEL_SEMANTIC_VERY_SIMILAR
                                                 : DOPPEL_SEMANTIC_RELATED;
}

const char *doppel_semantic_tier_name(enum doppel_semantic_tier tier)
{
    static const char *const names[] = {[DOPPEL_SEMANTIC_NEAR_DUPLICATE] = "near-duplicate",
                                        [DOPPEL_SEMANTIC_VERY_SIMILAR] = "very-similar",
                                        [DOPPEL_SEMANTIC_RELATED] = "related"};
    return names[tier];
}

enum doppel_relation doppel_semantic_extent_of(double query_coverage, double item_coverage)
{
    static const double most = 0.5;
    if (query_coverage >= most)
        return item_coverage >= most ? DOPPEL_RELATION_SAME : DOPPEL_RELATION_CONTAINED;
    return item_coverage >= most ? DOPPEL_RELATION_CONTAINS : DOPPEL_RELATION_OVERLAPS;
}

static void write_link_share(struct doppel_json *json, const char *key, double value)
{
    doppel_json_number(json, key, (double)lround(value * 10000) / 10000, 4);
}

static void write_chunk_segments(struct doppel_json *json, const struct doppel_semantic_link *link)
{
    if (!link->segment_count)
        return;
    doppel_json_array_begin(json, "segments");
    for (size_t i = 0; i < link->segment_count; i++) {
        const struct doppel_semantic_segment *segment = &link->segments[i];
        doppel_json_object_begin(json, NULL);
        doppel_json_integer(json, "a_start", segment->a_start);
        doppel_json_integer(json, "a_end", segment->a_end);
        doppel_json_integer(json, "b_start", segment->b_start);
        doppel_json_integer(json, "b_end", segment->b_end);
        write_link_share(json, "cosine", (double)segment->cosine);
        doppel_json_object_end(json);
    }
    doppel_json_array_end(json);
}

void doppel_semantic_link_to_json(struct doppel_json *json, const struct doppel_semantic_link *link)
{
    doppel_json_text(json, "relation", "semantic");
    if (link->tier)
        doppel_json_text(json, "tier", doppel_semantic_tier_name(link->tier));
    write_link_share(json, "cosine", (double)link->cosine);
    if (link->has_score)
        write_link_share(json, "score", (double)link->score);
    if (link->tier) {
        doppel_json_number(json, "false_positive_rate", link->false_positive_rate, 9);
        doppel_json_number(json, "expected", link->expected, 4);
    }
    doppel_json_text(json, "extent", doppel_relation_name(link->extent));
    write_link_share(json, "query_coverage", link->query_coverage);
    write_link_share(json, "item_coverage", link->item_coverage);
    write_chunk_segments(json, link);
}
