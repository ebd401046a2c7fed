/* Judging two texts by what is known of them: content, shingles, signatures. */
#include <doppel/match.h>

#include <string.h>

#include "match/texts/intersect.h"

/* Two different shingles fall on the same 16 bits so often. */
static const double LANE_CHANCE = 1.0 / 65536;

struct doppel_text_limits doppel_text_limits_default(void)
{
    return (struct doppel_text_limits){.min_similarity = 0.7, .min_containment = 0.9};
}

static bool same_content_text_evidence(const struct doppel_text_evidence *a,
                                       const struct doppel_text_evidence *b)
{
    return memcmp(a->content.bytes, b->content.bytes, sizeof a->content.bytes) == 0;
}

static bool have_lanes(const struct doppel_text_evidence *a, const struct doppel_text_evidence *b)
{
    return a->lanes && b->lanes && a->lane_count && a->lane_count == b->lane_count;
}

static void describe_same_match(struct doppel_match *match)
{
    match->verified = DOPPEL_VERIFIED_EXACT;
    match->similarity = 1;
    match->has_coverage = true;
    match->query_coverage = match->item_coverage = 1;
}

static void describe_lanes(const struct doppel_text_evidence *query,
                           const struct doppel_text_evidence *item, struct doppel_match *match)
{
    match->bits = query->lane_count;
    for (uint32_t i = 0; i < query->lane_count; i++)
        match->distance += query->lanes[i] != item->lanes[i];
}

static double share_at_most_one(double part, size_t whole)
{
    double value = whole ? part / (double)whole : 0;
    return value < 1 ? value : 1;
}

static void describe_shingles(const struct doppel_text_evidence *query,
                              const struct doppel_text_evidence *item, struct doppel_match *match)
{
    size_t common =
        count_common(query->shingles, query->shingle_count, item->shingles, item->shingle_count);
    bool kept = query->shingles_kept || item->shingles_kept;
    match->verified = kept ? DOPPEL_VERIFIED_CODES : DOPPEL_VERIFIED_EXACT;
    match->similarity =
        share_at_most_one((double)common, query->shingle_count + item->shingle_count - common);
    match->has_coverage = true;
    match->query_coverage = share_at_most_one((double)common, query->shingle_count);
    match->item_coverage = share_at_most_one((double)common, item->shingle_count);
}

/* Of two sets whose sizes are known, the Jaccard similarity tells how much they share. */
static void describe_signatures(const struct doppel_text_evidence *query,
                                const struct doppel_text_evidence *item, struct doppel_match *match)
{
    double equal = 1 - (double)match->distance / query->lane_count;
    double similarity = (equal - LANE_CHANCE) / (1 - LANE_CHANCE);
    match->verified = DOPPEL_VERIFIED_SIGNATURE;
    match->similarity = similarity > 0 ? similarity : 0;
    match->has_coverage = query->shingle_count && item->shingle_count;
    if (!match->has_coverage)
        return;
    double common = match->similarity / (1 + match->similarity) *
                    ((double)query->shingle_count + (double)item->shingle_count);
    match->query_coverage = share_at_most_one(common, query->shingle_count);
    match->item_coverage = share_at_most_one(common, item->shingle_count);
}

/* Which contains which: what is covered more is in the other one. */
static enum doppel_relation relation_by_coverage_match(const struct doppel_match *match,
                                                       const struct doppel_text_limits *limits)
{
    bool more_of_query = match->query_coverage > match->item_coverage;
    double larger = more_of_query ? match->query_coverage : match->item_coverage;
    if (!match->has_coverage || larger < limits->min_containment ||
        match->query_coverage == match->item_coverage)
        return DOPPEL_RELATION_OVERLAPS;
    return more_of_query ? DOPPEL_RELATION_CONTAINED : DOPPEL_RELATION_CONTAINS;
}

static bool verify_text_limits(const struct doppel_text_limits *limits, struct doppel_match *match)
{
    if (match->similarity >= limits->min_similarity)
        return true;
    match->relation = relation_by_coverage_match(match, limits);
    return match->relation != DOPPEL_RELATION_OVERLAPS;
}

bool doppel_match_texts(const struct doppel_text_evidence *query,
                        const struct doppel_text_evidence *item,
                        const struct doppel_text_limits *limits, struct doppel_match *out_match)
{
    *out_match = (struct doppel_match){
        .kind = DOPPEL_KIND_TEXT,
        .scheme = query->lane_count == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128,
        .relation = DOPPEL_RELATION_SAME,
        .false_positive_rate = -1,
    };
    if (have_lanes(query, item))
        describe_lanes(query, item, out_match);
    if (same_content_text_evidence(query, item)) {
        describe_same_match(out_match);
        return true;
    }
    if (query->shingles && item->shingles)
        describe_shingles(query, item, out_match);
    else if (have_lanes(query, item))
        describe_signatures(query, item, out_match);
    bool within = verify_text_limits(limits, out_match);
    if (!within || query->too_short || item->too_short)
        out_match->relation = DOPPEL_RELATION_OVERLAPS;
    return within && !query->too_short && !item->too_short;
}
