/* What passages are found by: the words of a text with their places, and its winnowed keys. */
#include <stdlib.h>

#include "core/array.h"
#include "text/text_internal.h"
#include "text/winnow.h"

struct passages {
    ARRAY(struct doppel_text_word) words;
    struct doppel_text_key *keys;
    size_t key_capacity;
};

enum doppel_status passages_new(struct passages **out, struct doppel_error *error)
{
    struct passages *passages = calloc(1, sizeof *passages);
    if (!passages || !array_reserve(&passages->words)) {
        free(passages);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the words of a text");
    }
    *out = passages;
    return DOPPEL_OK;
}

void passages_free(struct passages *passages)
{
    if (!passages)
        return;
    array_free(&passages->words);
    free(passages->keys);
    free(passages);
}

static bool take_word(void *context, const uint8_t *word, size_t size, uint32_t start, uint32_t end)
{
    struct passages *passages = context;
    return array_push(&passages->words,
                      ((struct doppel_text_word){(uint32_t)word_hash(word, size), start, end}));
}

static bool make_room_for_passages(struct passages *passages)
{
    if (passages->words.count <= passages->key_capacity)
        return true;
    free(passages->keys);
    passages->keys = malloc(passages->words.capacity * sizeof *passages->keys);
    passages->key_capacity = passages->keys ? passages->words.capacity : 0;
    return passages->keys;
}

enum doppel_status passages_read(struct passages *passages, struct normaliser *normaliser,
                                 const void *bytes, size_t size, struct doppel_text_result *out,
                                 struct doppel_error *error)
{
    passages->words.count = 0;
    enum doppel_status status =
        normaliser_places(normaliser, bytes, size, take_word, passages, error);
    if (status == DOPPEL_E_CANCELLED || (!status && !make_room_for_passages(passages)))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the words of a text");
    if (status)
        return status;
    out->places = passages->words.items;
    out->keys = passages->keys;
    out->key_count = winnow(passages->words.items, passages->words.count, passages->keys);
    return DOPPEL_OK;
}
