/* The fuzz target for models without libFuzzer: good ones, and changes of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/bytes.h"
#include "embed/model_source.h"
#include "embed/whitened/whitened.h"
#include "inputs.h"

enum { INPUTS = 20000, MOST_BYTES = 1 << 17, SEEDS = 11 };

#define WORDS                                                                                      \
    "\"vocab\":{\"[UNK]\":0,\"[MASK]\":1,\"the\":2,\"##s\":3,\"file\":4,\"c\":5,\"##a\":6,"        \
    "\"a\":7,\"##f\":8,\"##e\":9,\".\":10,\"\xE4\xB8\xAD\":11,\"of\":12}"
#define SPECIAL                                                                                    \
    "\"added_tokens\":[{\"id\":1,\"content\":\"[MASK]\",\"single_word\":false,\"lstrip\":true,"    \
    "\"rstrip\":true,\"normalized\":false},{\"id\":13,\"content\":\"A System\","                   \
    "\"single_word\":true,\"normalized\":true}]"

static const char *const tokenizers[] = {
    "{" SPECIAL ",\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
    "\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":true},"
    "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":\"WordPiece\","
    "\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
    "\"max_input_chars_per_word\":9," WORDS "}}",
    "{\"truncation\":{\"direction\":\"Right\",\"max_length\":9},\"normalizer\":{\"type\":"
    "\"Sequence\",\"normalizers\":[{\"type\":\"Nmt\"},{\"type\":\"NFKC\"},{\"type\":"
    "\"Lowercase\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\",\"},\"content\":\" , \"},"
    "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"\\\\s+\"},\"content\":\" \"},{\"type\":"
    "\"Strip\",\"strip_left\":false,\"strip_right\":true}]},\"pre_tokenizer\":{\"type\":"
    "\"Metaspace\",\"replacement\":\"\xE2\x96\x81\",\"prepend_scheme\":\"first\",\"split\":true},"
    "\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":false,\"vocab\":[[\"<unk>\","
    "0],[\"\xE2\x96\x81\",-2.5],[\"\xE2\x96\x81the\",-3],[\"a\",-4],[\"aa\",-5e0],[\"fi\",-6],"
    "[\"les\",-7.25],[\"\xE4\xB8\xAD\",-9]]}}",
    "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFD\"},{\"type\":"
    "\"StripAccents\"},{\"type\":\"Precompiled\",\"precompiled_charsmap\":"
    "\"EAAAAAAEAAAABAAAAAQAAAAEAABhAGIA\"},{\"type\":\"Prepend\",\"prepend\":\"the \"}]},"
    "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Whitespace\"},"
    "{\"type\":\"Punctuation\"},{\"type\":\"Digits\",\"individual_digits\":true},{\"type\":"
    "\"WhitespaceSplit\"}]},\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"[UNK]\"," WORDS "}}",
};

static const char *const lists[] = {
    "5 3\nthe 1 0 0\nfiles 0 1.5 -2e-3\nof -1 0 1\n. . 1 2 3\ncaf\xC3\xA9 1 1 1\n",
    "{\"precision\":8,\"dimensions\":2,\"words\":[\"the\",\"of\"],\"vectors\":{\"the\":[1,2,3,0],"
    "\"of\":[-0.5,1e-1,1,1]},\"unkVector\":[0,0,0,-1]}",
};

static const char tensors[] =
    "{\"__metadata__\":{\"a\":\"b\"},\"embeddings\":{\"dtype\":\"F32\",\"shape\":[2,2],"
    "\"data_offsets\":[0,16]},\"mapping\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":"
    "[16,32]},\"weights\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[32,36]}}";

/* What a tokenizer makes as a file. */
static size_t compile_seed(const char *tokenizer, uint8_t *out)
{
    struct model_source source = {0};
    char path[] = "/tmp/doppel-seed-XXXXXX", model[sizeof path + 8];
    int fd = mkstemp(path);
    snprintf(model, sizeof model, "%s.model", path);
    if (fd < 0 || write(fd, tokenizer, strlen(tokenizer)) < 0 ||
        tokenizer_read(path, &source, NULL))
        abort();
    source.head.rows = source.head.tokens;
    source.head.dimension = 3;
    source.matrix = malloc(source.head.rows * 3 * sizeof *source.matrix);
    for (size_t i = 0; i < source.head.rows * 3u; i++)
        source.matrix[i] = (float)i + 1;
    if (model_write(&source, "a: ", model, NULL))
        abort();
    model_source_free(&source);
    FILE *file = fopen(model, "rb");
    size_t size = file ? fread(out, 1, MOST_BYTES, file) : 0;
    fclose(file);
    close(fd);
    unlink(path);
    unlink(model);
    return size;
}

static size_t whitened_seed(bool of_service, uint8_t *out)
{
    float probe[] = {0.6F, 0, 0.8F}, numbers[] = {0.1F, -0.2F, 0.3F, 1, 2, 3, -4, 5, 6};
    struct whitened_model model = {.info = {.dimension = 3,
                                            .prefix = "query: ",
                                            .base = "base",
                                            .of_service = of_service,
                                            .learned_from = 100},
                                   .base_revision = "0123456789abcdef0123456789abcdef",
                                   .probe = of_service ? probe : NULL,
                                   .numbers = numbers};
    char path[] = "/tmp/doppel-seed-XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0 || !whitened_set_revision(&model) || whitened_write(&model, path, NULL))
        abort();
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(out, 1, MOST_BYTES, file) : 0;
    fclose(file);
    close(fd);
    unlink(path);
    return size;
}

/* Seed number `which`, behind its first byte. @return its size; 0: there are no more */
static size_t make_seed(unsigned which, uint8_t *out)
{
    if (which < 3) {
        out[0] = 0;
        return 1 + compile_seed(tokenizers[which], out + 1);
    }
    if (which == 8) {
        out[0] = 2;
        put_u64(out + 1, sizeof tensors - 1);
        memcpy(out + 9, tensors, sizeof tensors - 1);
        memset(out + 8 + sizeof tensors, 1, 36);
        return 8 + sizeof tensors + 36;
    }
    if (which > 8) {
        out[0] = 4;
        return which < SEEDS ? 1 + whitened_seed(which == 10, out + 1) : 0;
    }
    const char *text = which < 6 ? tokenizers[which - 3] : lists[which - 6];
    out[0] = which < 6 ? 1 : 3;
    memcpy(out + 1, text, strlen(text));
    return 1 + strlen(text);
}

static void use_changed(struct inputs *inputs, const uint8_t *seed, size_t size)
{
    static const char alphabet[] = "{}[]:,\"\\\n 01-.eE9afz\xFF\xC3\x00\x01\x80";
    uint8_t *data = malloc(size); /* of its own, so that a reader beyond it is seen */
    memcpy(data, seed, size);
    for (uint32_t changes = 1 + inputs_random(inputs) % 4; changes; changes--) {
        uint32_t range = inputs_random(inputs) % 3 ? (uint32_t)size : 512;
        size_t at = 1 + inputs_random(inputs) % range;
        uint8_t byte = (uint8_t)alphabet[inputs_random(inputs) % (sizeof alphabet - 1)];
        data[at < size ? at : size - 1] = byte;
    }
    bool cut = inputs_random(inputs) % 8 == 0;
    inputs_use(inputs, data, cut ? 1 + inputs_random(inputs) % size : size);
    free(data);
}

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, INPUTS);
    static uint8_t seeds[SEEDS][MOST_BYTES];
    size_t sizes[SEEDS];
    for (unsigned i = 0; i < SEEDS; i++) {
        sizes[i] = make_seed(i, seeds[i]);
        inputs_use(&inputs, seeds[i], sizes[i]);
    }
    while (inputs.used < inputs.count) {
        uint32_t which = inputs_random(&inputs) % SEEDS;
        use_changed(&inputs, seeds[which], sizes[which]);
    }
    return 0;
}
