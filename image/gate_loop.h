/* What the kernels of the gate share: one picture's query views, in all orientations, against
 * another's index views, both ways; and the full frames. Each kernel's file includes this and gives
 * it `turn` and `turns`. */
#ifndef DOPPEL_IMAGE_GATE_LOOP_H
#define DOPPEL_IMAGE_GATE_LOOP_H

#include "image/judge.h"

#define GATE_INLINE static inline __attribute__((always_inline))

/* Word 0 of a code in each orientation. */
struct turned_word {
    _Alignas(64) uint64_t low[DOPPEL_IMAGE_ORIENTATIONS];
};

/** Turn word 0 of a code that has bits of all parities. */
typedef void gate_turn(const struct doppel_image_gate *gate, uint64_t low, struct turned_word *out);

/** The orientations, as bits, in which word 0 lies within the candidate radius of `other`. */
typedef uint32_t gate_turns(const struct turned_word *turned, uint64_t other);

typedef bool gate_kernel(const struct doppel_image_gate *gate, const struct doppel_image_codes *a,
                         const struct doppel_image_codes *b);
gate_kernel gate_portable, gate_avx2, gate_avx512;

/** One view of the query, as it is. */
struct gate_view {
    const struct doppel_code *code;
    uint32_t view;
};

/** Codes that lack a parity of coefficients are turned bit by bit, by doppel_image_orient. */
void gate_turn_slowly(const struct doppel_code *code, struct turned_word *out);

/** Whether a code has bits of all parities: mirroring negates them without looking. */
GATE_INLINE bool has_all_parities(const struct doppel_image_gate *gate,
                                  const struct doppel_code *code)
{
    uint64_t across = 0, down = 0, both = 0;
    for (unsigned i = 0; i < 4; i++) {
        across |= code->word[i] & gate->mirrored[i] & ~gate->flipped[i];
        down |= code->word[i] & gate->flipped[i] & ~gate->mirrored[i];
        both |= code->word[i] & gate->flipped[i] & gate->mirrored[i];
    }
    return across && down && both;
}

GATE_INLINE uint64_t transpose(const struct doppel_image_gate *gate, uint64_t low)
{
    return (low & gate->moved_up) << 1 | (low & gate->moved_down) >> 1 | (low & gate->kept);
}

GATE_INLINE int32_t score_of(const struct doppel_code *a, const struct doppel_code *b,
                             uint32_t weight)
{
    int32_t low = __builtin_popcountll(a->word[0] ^ b->word[0]), high = 0;
    for (unsigned i = 1; i < 4; i++)
        high += __builtin_popcountll(a->word[i] ^ b->word[i]);
    return high + (int32_t)(1 + weight) * low;
}

/** Whether two near views, the query's in an orientation, are near enough for their class. */
GATE_INLINE bool views_reach(const struct doppel_image_gate *gate, struct gate_view query,
                             struct gate_view item, unsigned orientation)
{
    enum judge_class class = rate_class_of(query.view, item.view, orientation);
    struct doppel_code code = doppel_image_orient(query.code, orientation);
    if (class == JUDGE_FULL)
        return score_of(&code, item.code, JUDGE_FULL_WEIGHT) <= gate->most[class];
    int32_t low = __builtin_popcountll(code.word[0] ^ item.code->word[0]);
    return judge_far_score(score_of(&code, item.code, JUDGE_WEIGHT), low) <= gate->most[class];
}

/** The view of code number `number`. */
GATE_INLINE uint32_t gate_view_of(uint32_t views, uint32_t number)
{
    while (number-- > 0)
        views &= views - 1;
    return (uint32_t)__builtin_ctz(views);
}

/** A query view that was turned against all index views; hardly any is near. */
GATE_INLINE bool view_reaches(const struct doppel_image_gate *gate, struct gate_view asking,
                              const struct turned_word *turned,
                              const struct doppel_image_codes *item, gate_turns *turns)
{
    const uint32_t count = (uint32_t)__builtin_popcount(item->views);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t near = turns(turned, item->codes[i].word[0]);
        if (__builtin_expect(near == 0, 1))
            continue;
        struct gate_view met = {&item->codes[i], gate_view_of(item->views, i)};
        if (!(gate->item_views >> met.view & 1))
            continue;
        for (near &= gate->options.orientations ? 0xff : 1; near; near &= near - 1)
            if (views_reach(gate, asking, met, (unsigned)__builtin_ctz(near)))
                return true;
    }
    return false;
}

GATE_INLINE bool one_way(const struct doppel_image_gate *gate,
                         const struct doppel_image_codes *query,
                         const struct doppel_image_codes *item, gate_turn *turn, gate_turns *turns)
{
    struct gate_view asking = {.code = query->codes};
    for (uint32_t views = query->views; views & gate->query_views; views &= views - 1) {
        struct turned_word turned;
        asking.view = (uint32_t)__builtin_ctz(views);
        if (!has_all_parities(gate, asking.code))
            gate_turn_slowly(asking.code, &turned);
        else
            turn(gate, asking.code->word[0], &turned);
        if (gate->query_views >> asking.view & 1 &&
            view_reaches(gate, asking, &turned, item, turns))
            return true;
        asking.code++;
    }
    return false;
}

/** Whether a crop of both differs so little that it makes up for the full frames. */
GATE_INLINE bool parts_reach(const struct doppel_image_gate *gate,
                             const struct doppel_image_codes *a, const struct doppel_image_codes *b,
                             int32_t full)
{
    const struct doppel_code *of_a = a->codes, *of_b = b->codes;
    for (uint32_t view = 0; view < DOPPEL_VIEW_COUNT; view++) {
        bool in_a = a->views >> view & 1, in_b = b->views >> view & 1;
        if (view >= DOPPEL_VIEW_CENTRE && in_a && in_b &&
            (full + score_of(of_a, of_b, JUDGE_FULL_WEIGHT)) / 2 <= gate->most[JUDGE_PARTS])
            return true;
        of_a += in_a;
        of_b += in_b;
    }
    return false;
}

/** Full frames as they are make a candidate by 256 bits too, and by what parts of them share. */
GATE_INLINE bool full_reaches(const struct doppel_image_gate *gate,
                              const struct doppel_image_codes *a,
                              const struct doppel_image_codes *b)
{
    if (!(a->views & b->views & 1))
        return false;
    int32_t score = score_of(&a->codes[0], &b->codes[0], JUDGE_FULL_WEIGHT);
    if (score <= gate->most[JUDGE_FULL])
        return true;
    return gate->options.views == DOPPEL_VIEWS_ALL && score <= JUDGE_SCORE_MAX &&
           score / 2 <= gate->most[JUDGE_PARTS] && parts_reach(gate, a, b, score);
}

GATE_INLINE bool gate_loop(const struct doppel_image_gate *gate, const struct doppel_image_codes *a,
                           const struct doppel_image_codes *b, gate_turn *turn, gate_turns *turns)
{
    return one_way(gate, a, b, turn, turns) || one_way(gate, b, a, turn, turns) ||
           full_reaches(gate, a, b);
}

GATE_INLINE void turn_each(const struct doppel_image_gate *gate, uint64_t low,
                           struct turned_word *out)
{
    uint64_t transposed = transpose(gate, low);
    for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++)
        out->low[o] = (o & 4 ? transposed : low) ^ gate->turns[o];
}

GATE_INLINE uint32_t count_turns(const struct turned_word *turned, uint64_t other)
{
    uint32_t near = 0;
    for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++)
        near |= (uint32_t)(__builtin_popcountll(turned->low[o] ^ other) <=
                           DOPPEL_IMAGE_CANDIDATE_RADIUS)
                << o;
    return near;
}

#endif
