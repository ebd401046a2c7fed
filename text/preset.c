/* Named choices of options, limit and bands. */
#include <doppel/text.h>

#include <string.h>

#define WORDS(shingle_words, ...)                                                                  \
    {                                                                                              \
        .nfkc = true, .fold_case = true, .drop_punctuation = true, .shingle = shingle_words,       \
        .min_words = 10, .lanes = 128, __VA_ARGS__                                                 \
    }

static const struct doppel_text_preset presets[] = {
    {"web", WORDS(5, .format = DOPPEL_TEXT_AUTO), 0.7, 24, 4,
     "crawled pages: words, HTML if it is"},
    {"news", WORDS(5, .format = DOPPEL_TEXT_AUTO), 0.6, 32, 4,
     "wire stories with other datelines and cuts"},
    {"ocr", WORDS(5, .unit = DOPPEL_TEXT_CHARACTERS), 0.5, 32, 4,
     "scans of the same page: characters, many of them wrong"},
    {"code", WORDS(5, .format = DOPPEL_TEXT_PLAIN), 0.7, 24, 4, "source code"},
};

enum { PRESET_COUNT = sizeof presets / sizeof *presets };

const struct doppel_text_preset *doppel_text_presets(size_t *out_count)
{
    *out_count = PRESET_COUNT;
    return presets;
}

const struct doppel_text_preset *doppel_text_preset_by_name(const char *name)
{
    for (size_t i = 0; i < PRESET_COUNT; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}
