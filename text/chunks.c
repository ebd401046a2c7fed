/* A text in chunks whose ends its content defines. */
#include <doppel/text_chunks.h>

#include "text/sentences.h"

enum { STRONGEST = 2 }; /* one place in four is chosen before the others */

struct chunk_end {
    enum cut cut;
    unsigned strength;
    uint32_t off_aim, letters;
    size_t at;
    uint64_t character;
};

struct doppel_text_chunk_options doppel_text_chunk_options_default(void)
{
    return (struct doppel_text_chunk_options){.least = 200, .aim = 400, .most = 800};
}

static uint64_t count_letters(const char *text, size_t size)
{
    struct letter_walk walk;
    uint64_t letters = 0;
    for (bool more = letters_begin(&walk, text, size, 0, 0); more; more = letters_next(&walk))
        letters += walk.weight;
    return letters;
}

enum doppel_status doppel_text_chunker_begin(const char *text, size_t size,
                                             const struct doppel_text_chunk_options *options,
                                             struct doppel_text_chunker *out,
                                             struct doppel_error *error)
{
    const struct doppel_text_chunk_options chosen =
        options ? *options : doppel_text_chunk_options_default();
    if (chosen.least < 8 || chosen.most / 3 < chosen.least || chosen.most > INT32_MAX ||
        chosen.aim < chosen.least || chosen.aim > chosen.most)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "chunks of %u to %u letters, aiming at %u: the least is 8, the most at "
                           "least three times the least, and the aim between them",
                           chosen.least, chosen.most, chosen.aim);
    *out = (struct doppel_text_chunker){
        .text = text, .size = size, .letters = count_letters(text, size), .options = chosen};
    return DOPPEL_OK;
}

/* By a hash of the last letters: how many of its lowest bits are 0. */
static unsigned strength_of(uint64_t recent)
{
    const uint64_t mixed = (recent ^ recent >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    const unsigned zeros = (unsigned)__builtin_ctzll(mixed >> 32 | UINT64_C(1) << 32);
    return zeros < STRONGEST ? zeros : STRONGEST;
}

static bool is_better_end(const struct chunk_end *a, const struct chunk_end *b)
{
    if (a->cut != b->cut)
        return a->cut > b->cut;
    if (a->cut == CUT_PARAGRAPH)
        return a->letters < b->letters;
    if (a->strength != b->strength)
        return a->strength > b->strength;
    return a->off_aim < b->off_aim;
}

/* The best of those that leave as much as a chunk has at least. Where the rest is no more than a
 * chunk has at most, only a paragraph's end is better than that of the text.
 * @param best zeros; stays so where there is none */
static void find_chunk_end(const struct doppel_text_chunker *chunker, struct chunk_end *best)
{
    const struct doppel_text_chunk_options *options = &chunker->options;
    const uint64_t left = chunker->letters - options->least;
    const uint64_t most = left < options->most ? left : options->most;
    const enum cut worst = chunker->letters > options->most ? CUT_MARK : CUT_PARAGRAPH;
    struct letter_walk walk;
    letters_begin(&walk, chunker->text, chunker->size, chunker->at, chunker->character);
    for (uint32_t letters = walk.weight; letters_next(&walk) && letters <= most;
         letters += walk.weight) {
        if (letters < options->least)
            continue;
        const uint32_t aim = options->aim;
        const struct chunk_end end = {.cut = letters_cut(&walk),
                                      .strength = strength_of(walk.recent),
                                      .off_aim = letters < aim ? aim - letters : letters - aim,
                                      .letters = letters,
                                      .at = walk.at,
                                      .character = walk.character};
        if (end.cut >= worst && (!best->at || is_better_end(&end, best)))
            *best = end;
    }
}

/* All that is left. */
static void take_the_rest(const struct doppel_text_chunker *chunker, struct chunk_end *end)
{
    struct letter_walk walk;
    bool more = letters_begin(&walk, chunker->text, chunker->size, chunker->at, chunker->character);
    while (more)
        more = letters_next(&walk);
    *end = (struct chunk_end){
        .letters = (uint32_t)chunker->letters, .at = chunker->size, .character = walk.character};
}

bool doppel_text_chunker_next(struct doppel_text_chunker *chunker, struct doppel_text_chunk *out)
{
    struct chunk_end end = {0};
    if (chunker->at >= chunker->size)
        return false;
    const struct doppel_text_chunk_options *options = &chunker->options;
    const bool whole = chunker->at == 0 && chunker->letters <= options->most;
    if (!whole && chunker->letters >= 2 * (uint64_t)options->least)
        find_chunk_end(chunker, &end);
    if (!end.at)
        take_the_rest(chunker, &end);
    *out = (struct doppel_text_chunk){.start = chunker->character,
                                      .end = end.character,
                                      .byte_start = chunker->at,
                                      .byte_end = end.at,
                                      .letters = end.letters};
    chunker->at = end.at;
    chunker->character = end.character;
    chunker->letters -= end.letters;
    return true;
}
