/**
 * doppel/match.h: from hits to matches, and from matches to groups. Uses core, index and the rooms
 * of the fingerprints. Its parts: what a match says (doppel/match_found.h), and the kinds of
 * content, each on its own.
 */
#ifndef DOPPEL_MATCH_H
#define DOPPEL_MATCH_H

#include <doppel/core.h>
#include <doppel/match_found.h>
#include <doppel/match_images.h>
#include <doppel/match_audio.h>
#include <doppel/match_texts.h>
#include <doppel/match_videos.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doppel_edge {
    uint32_t a, b; /**< item numbers, a < b */
    double similarity;
    uint32_t match; /**< the caller's */
    bool weak;      /**< it parts no two that strong edges, the others, put together */
};

/**
 * Group items by representatives. Every member has an edge to its representative: no chains.
 *
 * Strong edges come first: in order of number, an item joins the representative it is most similar
 * to (then the lowest number), or becomes a representative. Then representatives join each other by
 * all edges, in the same way, but with all their members or not at all: each of these needs an edge
 * to the new representative, too. Who is alone then joins the later representative of a group that
 * it is most similar to. So no weak edge parts what strong ones put together.
 *
 * @param edges ordered by b, then a: all whose `a` is a representative by strong edges; others are
 * let alone; borrowed
 * @param out_leader `count` numbers: the representative of each item, itself for representatives
 * @param out_edge   `count` numbers: the edge by which each member joined, UINT32_MAX for
 * representatives; where it is weak, the representative may be its `b`
 * @return DOPPEL_OK; DOPPEL_E_MEMORY, which strong edges alone never need
 */
DOPPEL_API enum doppel_status doppel_group_by_leader(uint32_t count,
                                                     const struct doppel_edge *edges,
                                                     size_t edge_count, uint32_t *out_leader,
                                                     uint32_t *out_edge);

#ifdef __cplusplus
}
#endif
#endif
