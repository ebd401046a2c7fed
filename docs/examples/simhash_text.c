/* Compare texts that are in memory already by SimHash. Needs doppel-text alone:
 *
 *     cc simhash_text.c $(pkg-config --cflags --libs doppel-text) -o simhash_text
 */
#include <stdio.h>
#include <string.h>

#include <doppel/text.h>

static const char *const texts[] = {
    "When a river rises, those who live beside it carry what they can to the upper floor, and wait "
    "for the water to turn, as their parents did.",
    "WHEN A RIVER RISES those who live beside it carry what they can to the upper floor - and wait "
    "for the water to turn, as their parents did!",
    "When a river rises, those who live beside it carry what they own to the upper floor, and wait "
    "for the water to turn, as their parents did.",
    "The library has no server and no network: a folder holds all of it, and whoever may write to "
    "the folder may add to the library.",
};

int main(void)
{
    struct doppel_text_options options = doppel_text_options_default();
    struct doppel_text *reader;
    struct doppel_error error;
    uint64_t first = 0;
    options.shingle = 2; /* pairs of words: these texts are short */
    if (doppel_text_new(&options, &reader, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct doppel_text_result result;
        if (doppel_text_read(reader, texts[i], strlen(texts[i]), DOPPEL_TEXT_SIMHASH, &result,
                             &error)) {
            fprintf(stderr, "%s\n", error.message);
            break;
        }
        if (i == 0)
            first = result.simhash;
        struct doppel_estimate cosine = doppel_simhash_similarity(first, result.simhash);
        printf("simhash64 %016llx, %2u words, cosine to the first %.2f (+- %.2f)\n",
               (unsigned long long)result.simhash, (unsigned)result.words, cosine.value,
               cosine.standard_error);
    }
    doppel_text_free(reader);
    return 0;
}
