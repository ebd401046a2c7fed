/* Fuzz target: text. The first byte chooses options and format; what is normalised, block by block
 * and with places, must be utf8proc's on the whole text. Its chunks follow each other. */
#include <stdlib.h>
#include <string.h>

#include "../text/normal_form.h"
#include "../text/soup.h"
#include "core/cpu.h"
#include "fuzz_text.h"
#include "text/text_internal.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static bool add_word(void *context, const uint8_t *word, size_t size, uint32_t start, uint32_t end)
{
    expect(start < end);
    soup_add(context, word, size);
    soup_add(context, " ", 1);
    return true;
}

static void check_same(struct soup *got, const struct normal_form *want)
{
    expect(got->size == want->size + (want->words > 0));
    expect(!want->size || memcmp(got->bytes, want->bytes, want->size) == 0);
    free(got->bytes);
}

static void check_normal(const struct doppel_text_options *options, const void *bytes, size_t size)
{
    struct normaliser *normaliser;
    struct text_block block;
    struct soup blocks = {0}, places = {0};
    struct normal_form want = normal_form(options, bytes, size);
    expect(normaliser_new(options, &normaliser, NULL) == DOPPEL_OK);
    normaliser_begin(normaliser, bytes, size);
    while (normaliser_next(normaliser, &block))
        soup_add(&blocks, block.bytes, block.size);
    expect(normaliser_bad_bytes(normaliser) == want.bad_bytes);
    check_same(&blocks, &want);
    expect(normaliser_places(normaliser, bytes, size, add_word, &places, NULL) == DOPPEL_OK);
    check_same(&places, &want);
    normaliser_free(normaliser);
    free(want.bytes);
}

/* Smallest chunks, so that short inputs have several. */
static void check_chunks_follow(const char *bytes, size_t size)
{
    const struct doppel_text_chunk_options options = {.least = 8, .aim = 12, .most = 24};
    struct doppel_text_chunker chunker;
    struct doppel_text_chunk chunk;
    uint64_t at = 0, character = 0;
    expect(doppel_text_chunker_begin(bytes, size, &options, &chunker, NULL) == DOPPEL_OK);
    while (doppel_text_chunker_next(&chunker, &chunk)) {
        expect(chunk.byte_start == at && chunk.byte_end > at && chunk.byte_end <= size);
        expect(chunk.start == character && chunk.end > character);
        expect(chunk.letters <= options.most);
        at = chunk.byte_end;
        character = chunk.end;
    }
    expect(at == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plain_text plain = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!size)
        return 0;
    struct doppel_text_options options = soup_options(*data % SOUP_OPTIONS);
    unsigned format = *data >> 4 & 3;
    cpu_mask(*data >> 6 ? UINT32_MAX : 0);
    data++, size--;
    looks_like_html(data, size);
    check_chunks_follow((const char *)data, size);
    if (format == 0)
        check_normal(&options, data, size);
    else if (format == 1)
        status = html_to_text(data, size, &plain, NULL);
    else if (format == 2)
        status = markdown_to_text(data, size, &plain, NULL);
    else if (is_utf16(data, size))
        status = utf16_to_text(data, size, &plain, NULL);
    expect(status == DOPPEL_OK || status == DOPPEL_E_LIMIT);
    if (plain.size)
        check_normal(&options, plain.bytes, plain.size);
    free(plain.bytes);
    return 0;
}
