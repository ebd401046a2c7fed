/* The head of a model's file, and what is checked of it before anything else is read. */
#include <string.h>

#include "core/bytes.h"
#include "embed/model.h"

static const uint8_t magic[8] = {'d', 'o', 'p', 'p', 'e', 'l', 'M', 0};

enum {
    AT_VERSION = 8,
    AT_NUMBERS = 16,
    NUMBERS = 16,
    AT_SCORE = AT_NUMBERS + 4 * NUMBERS,
    AT_REVISION = AT_SCORE + 8,
    AT_SECTIONS = AT_REVISION + 16,
    AT_DIGEST = MODEL_HEAD_BYTES - 16
};

_Static_assert(AT_SECTIONS + 16 * SECTION_COUNT <= AT_DIGEST, "the head has room for all");
_Static_assert(sizeof(struct model_added) == 8, "as in docs/formats.md");

static void put_f64(uint8_t *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(out, bits);
}

static double get_f64(const uint8_t *in)
{
    uint64_t bits = get_u64(in);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- writing ---- */

void model_head_write(const struct model_head *head, uint8_t out[MODEL_HEAD_BYTES])
{
    const uint32_t numbers[NUMBERS] = {
        head->kind,       head->dimension,  head->stride,         head->tokens,
        head->rows,       head->roots[0],   head->roots[1],       head->roots[2],
        head->roots[3],   head->unknown,    head->keep_unknown,   head->max_word,
        head->max_tokens, head->vocabulary, head->max_characters, head->max_all_tokens,
    };
    memset(out, 0, MODEL_HEAD_BYTES);
    memcpy(out, magic, sizeof magic);
    put_u32(out + AT_VERSION, MODEL_VERSION);
    for (size_t i = 0; i < NUMBERS; i++)
        put_u32(out + AT_NUMBERS + 4 * i, numbers[i]);
    put_f64(out + AT_SCORE, head->unknown_score);
    memcpy(out + AT_REVISION, head->revision, sizeof head->revision);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        put_u64(out + AT_SECTIONS + 16 * i, head->sections[i].offset);
        put_u64(out + AT_SECTIONS + 16 * i + 8, head->sections[i].size);
    }
    struct doppel_digest digest = doppel_digest_bytes(out, AT_DIGEST);
    memcpy(out + AT_DIGEST, digest.bytes, sizeof digest.bytes);
}

struct doppel_digest model_revision(const struct model_head *head, const uint8_t *sections,
                                    size_t size)
{
    uint8_t bytes[MODEL_HEAD_BYTES + 16];
    struct model_head plain = *head;
    memset(plain.revision, 0, sizeof plain.revision);
    model_head_write(&plain, bytes);
    struct doppel_digest digest = doppel_digest_bytes(sections, size);
    memcpy(bytes + MODEL_HEAD_BYTES, digest.bytes, sizeof digest.bytes);
    return doppel_digest_bytes(bytes, sizeof bytes);
}

/* ---- reading ---- */

static void take_numbers(const uint8_t *in, struct model_head *out)
{
    uint32_t numbers[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] = get_u32(in + AT_NUMBERS + 4 * i);
    *out = (struct model_head){
        .kind = (enum doppel_model_tokens)numbers[0],
        .dimension = numbers[1],
        .stride = numbers[2],
        .tokens = numbers[3],
        .rows = numbers[4],
        .roots = {numbers[5], numbers[6], numbers[7], numbers[8]},
        .unknown = numbers[9],
        .keep_unknown = numbers[10],
        .max_word = numbers[11],
        .max_tokens = numbers[12],
        .vocabulary = numbers[13],
        .max_characters = numbers[14],
        .max_all_tokens = numbers[15],
        .unknown_score = get_f64(in + AT_SCORE),
    };
    memcpy(out->revision, in + AT_REVISION, sizeof out->revision);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        out->sections[i].offset = get_u64(in + AT_SECTIONS + 16 * i);
        out->sections[i].size = get_u64(in + AT_SECTIONS + 16 * i + 8);
    }
}

static bool numbers_fit(const struct model_head *head)
{
    return head->kind >= DOPPEL_MODEL_WORD_PIECES && head->kind <= DOPPEL_MODEL_WORD_LIST &&
           head->dimension && head->dimension <= DOPPEL_MODEL_MAX_DIMENSION &&
           head->stride == (head->dimension + MODEL_BLOCK - 1) / MODEL_BLOCK * MODEL_BLOCK &&
           head->tokens && head->tokens <= MODEL_MAX_TOKENS && head->rows &&
           head->unknown <= head->tokens && head->keep_unknown <= 1;
}

/* All numbers are below 2^32 here, so that their products fit. */
static bool sections_fit(const struct model_head *head, uint64_t size)
{
    const uint64_t wanted[SECTION_COUNT] = {
        [SECTION_MAPPING] = sizeof(uint32_t) * (uint64_t)head->tokens,
        [SECTION_WEIGHTS] = sizeof(float) * (uint64_t)head->tokens,
        [SECTION_INT8_WEIGHTS] = sizeof(float) * (uint64_t)head->tokens,
        [SECTION_SCORES] =
            head->kind == DOPPEL_MODEL_UNIGRAM ? sizeof(double) * (uint64_t)head->tokens : 0,
        [SECTION_INT8_ROWS] = (uint64_t)head->rows * head->stride,
        [SECTION_FLOAT_ROWS] = sizeof(float) * (uint64_t)head->rows * head->stride,
    };
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        uint64_t offset = head->sections[i].offset, bytes = head->sections[i].size;
        if (offset % MODEL_PAGE || offset < MODEL_PAGE || offset > size || bytes > size - offset)
            return false;
        bool may_be_empty = i == SECTION_MAPPING && head->rows == head->tokens;
        if (i <= SECTION_FLOAT_ROWS && i != SECTION_CELLS && bytes != wanted[i] &&
            !(may_be_empty && !bytes))
            return false;
    }
    return head->sections[SECTION_CELLS].size % sizeof(uint64_t) == 0 &&
           head->sections[SECTION_ADDED].size % sizeof(struct model_added) == 0 &&
           head->sections[SECTION_PREFIX].size <= DOPPEL_MODEL_MAX_PREFIX;
}

enum doppel_status model_head_read(const uint8_t *in, uint64_t size, struct model_head *out)
{
    struct model_head head;
    if (size < MODEL_HEAD_BYTES || memcmp(in, magic, sizeof magic) != 0)
        return DOPPEL_E_FORMAT;
    if (get_u32(in + AT_VERSION) != MODEL_VERSION)
        return DOPPEL_E_VERSION;
    struct doppel_digest digest = doppel_digest_bytes(in, AT_DIGEST);
    if (memcmp(in + AT_DIGEST, digest.bytes, sizeof digest.bytes) != 0)
        return DOPPEL_E_CORRUPT;
    take_numbers(in, &head);
    if (!numbers_fit(&head) || !sections_fit(&head, size))
        return DOPPEL_E_CORRUPT;
    *out = head;
    return DOPPEL_OK;
}
