/* How a text is read: defaults, and the version number that other choices get. */
#include <doppel/text.h>

/* The choices lie above the base version, as they differ from the defaults: 0 = none does. */
enum { BASE_BITS = 6, SHINGLE_BITS = 4 };

struct doppel_text_options doppel_text_options_default(void)
{
    return (struct doppel_text_options){
        .format = DOPPEL_TEXT_PLAIN,
        .nfkc = true,
        .fold_case = true,
        .drop_punctuation = true,
        .unit = DOPPEL_TEXT_BY_SCRIPT,
        .shingle = 5,
        .min_words = 10,
        .lanes = 128,
    };
}

const char *doppel_text_format_name(enum doppel_text_format format)
{
    static const char *const names[] = {"plain", "html", "markdown", "auto", "pdf",
                                        "docx",  "pptx", "xlsx",     "odt",  "odp",
                                        "ods",   "epub", "rtf",      "mail", "picture"};
    return (unsigned)format < sizeof names / sizeof *names ? names[format] : NULL;
}

static unsigned choice_bits(const struct doppel_text_options *options)
{
    return (unsigned)options->nfkc | (unsigned)options->fold_case << 1 |
           (unsigned)options->drop_punctuation << 2 |
           (unsigned)(options->unit == DOPPEL_TEXT_CHARACTERS) << 3 |
           ((options->shingle - 1) & ((1u << SHINGLE_BITS) - 1)) << 4;
}

uint16_t doppel_text_version(uint16_t base, const struct doppel_text_options *options)
{
    struct doppel_text_options defaults = doppel_text_options_default();
    unsigned choice = choice_bits(options) ^ choice_bits(&defaults);
    unsigned before = base > 1 && options->unit != DOPPEL_TEXT_BY_SCRIPT;
    return (uint16_t)(choice << BASE_BITS | (base - before));
}

uint32_t doppel_text_shingle_of_script(uint32_t shingle)
{
    uint32_t fifths = (2 * shingle + 4) / 5;
    return shingle < 2 ? shingle : fifths < 2 ? 2 : fifths;
}
