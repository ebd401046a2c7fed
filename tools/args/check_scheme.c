/* Which kinds and schemes are asked for, and what does not go with them. */
#include <string.h>

#include "core/attached.h"
#include "tools/args/check.h"

/* Scheme local is for videos, too, by its frames. */
static bool is_for_videos_too(const struct settings *settings)
{
    return settings->scheme->id == DOPPEL_SCHEME_LOCAL && !settings->kind && !settings->no_video;
}

/* The schemes of the kinds that are wanted. */
static void fill_by_kind(struct settings *settings, bool one)
{
    size_t count;
    const struct doppel_scheme *schemes = doppel_schemes(&count);
    for (size_t i = 0; i < count; i++) {
        struct doppel_scheme *entry = &settings->by_kind[schemes[i].kind];
        if (one ? &schemes[i] != settings->scheme : entry->id != DOPPEL_SCHEME_NONE)
            continue;
        if (schemes[i].kind >= DOPPEL_KIND_AUDIO && settings->verb->bit & VERB_TUNE)
            continue; /* they have no limit of similarity */
        if (schemes[i].kind == DOPPEL_KIND_VIDEO && settings->no_video)
            continue;
        *entry = schemes[i];
        if (entry->kind == DOPPEL_KIND_TEXT)
            entry->version = doppel_text_version(entry->version, &settings->text);
        if (entry->id == DOPPEL_SCHEME_MINHASH256)
            settings->text.lanes = 256;
    }
    if (one && is_for_videos_too(settings))
        settings->by_kind[DOPPEL_KIND_VIDEO] = *doppel_scheme_by_id(DOPPEL_SCHEME_FRAMES128);
}

const struct doppel_scheme *settings_scheme(const struct settings *settings, enum doppel_kind kind)
{
    const struct doppel_scheme *scheme = &settings->by_kind[kind];
    return scheme->id == DOPPEL_SCHEME_NONE ? NULL : scheme;
}

uint64_t settings_max_bytes(const struct settings *settings, enum doppel_kind kind)
{
    if (settings->max_bytes)
        return settings->max_bytes;
    return kind >= DOPPEL_KIND_AUDIO ? UINT64_MAX : UINT64_C(1) << 30;
}

/* Hex digits for all bits of a scheme's code. */
static bool is_code_of(const char *text, const struct doppel_scheme *scheme)
{
    size_t digits = scheme->code_bits / 4u;
    return strlen(text) == digits && strspn(text, "0123456789abcdefABCDEF") == digits;
}

/* Of peaks32 and frames64. */
static enum doppel_status check_sequence_scheme(const struct settings *settings,
                                                struct doppel_error *error)
{
    if (settings->verb->bit & VERB_TUNE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'tune' is for pictures and texts as a whole, not for '%s'",
                           settings->scheme->name);
    if (settings->code)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "scheme '%s' has no one code to be found by",
                           settings->scheme->name);
    if (settings->max_distance >= 0)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s have no distance: their limits are '--max-fp-rate' and "
                           "'--min-similarity'",
                           settings->scheme->kind == DOPPEL_KIND_AUDIO   ? "recordings"
                           : settings->scheme->kind == DOPPEL_KIND_IMAGE ? "parts of images"
                                                                         : "videos");
    return DOPPEL_OK;
}

/* Schemes that are there to exchange fingerprints with others. */
static enum doppel_status check_foreign_scheme(const struct settings *settings,
                                               struct doppel_error *error)
{
    enum {
        VERBS_ANY = VERB_HASH | VERB_COMPARE | VERB_SCHEMES | VERB_LIST | VERB_SHOW | VERB_REMOVE |
                    VERB_EXPORT,
        VERBS_AUDIO = VERBS_ANY | VERB_ADD | VERB_FIND
    };
    bool video = settings->scheme->kind == DOPPEL_KIND_VIDEO;
    if (settings->verb->bit & (video ? VERBS_ANY : VERBS_AUDIO) && !settings->code)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "scheme '%s' is for %s; '%s' does more",
                       settings->scheme->name,
                       video ? "hash and compare" : "hash, compare, add and find FILE",
                       video ? "frames64" : "peaks32");
}

/* Whether texts alone are decided of. */
static bool is_of_records(const struct settings *settings)
{
    return settings->verb->bit == VERB_DEDUP || settings->jsonl.count;
}

/* Not every scheme does for every verb. */
static enum doppel_status check_scheme_of_verb(const struct settings *settings,
                                               struct doppel_error *error)
{
    const struct doppel_scheme *scheme = settings->scheme;
    if (is_of_records(settings) && scheme->id != DOPPEL_SCHEME_MINHASH128 &&
        scheme->id != DOPPEL_SCHEME_MINHASH256)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'%s' compares by 'minhash128' or 'minhash256', not by '%s'",
                           settings->verb->name, scheme->name);
    if (scheme->id == DOPPEL_SCHEME_DATASKETCH &&
        !(settings->verb->bit & (VERB_HASH | VERB_COMPARE | VERB_SCHEMES)))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "scheme 'datasketch' is for hash and compare; 'minhash128' finds more "
                           "in less");
    if (scheme_is_attached(scheme->id))
        return check_sequence_scheme(settings, error);
    if (scheme->id == DOPPEL_SCHEME_CHROMAPRINT || scheme->id == DOPPEL_SCHEME_VPDQ)
        return check_foreign_scheme(settings, error);
    bool grouped = settings->verb->bit & (VERB_SCAN | VERB_GROUPS | VERB_TUNE | VERB_REPORT);
    if (scheme->id == DOPPEL_SCHEME_WINNOW32 && (grouped || settings->code))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "scheme 'winnow32' tells passages, which make no groups and have no one "
                           "code; it is for hash, compare, add and find FILE");
    return DOPPEL_OK;
}

/* Which options are for which kinds, and what these are called. */
static const struct options_of_kinds {
    unsigned kinds; /* their bits */
    const char *called;
    const char *options[8];
} options_of_kinds[] = {
    {1u << DOPPEL_KIND_IMAGE,
     "images",
     {"views", "orientations", "no-orientations", "bursts", "companions"}},
    {1u << DOPPEL_KIND_TEXT,
     "texts",
     {"text-format", "ocr", "ocr-languages", "preset", "unit", "shingle", "min-words"}},
    {1u << DOPPEL_KIND_AUDIO | 1u << DOPPEL_KIND_VIDEO,
     "recordings and videos",
     {"same-speed", "max-seconds"}},
    {1u << DOPPEL_KIND_VIDEO, "videos", {"fast", "no-audio", "thorough", "refine", "thumbnails"}},
    {1u << DOPPEL_KIND_IMAGE | 1u << DOPPEL_KIND_AUDIO | 1u << DOPPEL_KIND_VIDEO,
     "images, recordings and videos",
     {"near-misses"}},
};

enum doppel_status check_options_of_kind(const struct settings *settings,
                                         struct doppel_error *error)
{
    const bool audio = settings->pcm_text || settings->playlist || settings->repeats;
    const enum doppel_kind kind = settings->scheme ? settings->scheme->kind
                                  : settings->kind ? settings->kind
                                  : settings->code ? DOPPEL_KIND_IMAGE
                                  : audio          ? DOPPEL_KIND_AUDIO
                                                   : DOPPEL_KIND_UNKNOWN;
    for (size_t i = 0; kind && i < sizeof options_of_kinds / sizeof *options_of_kinds; i++) {
        const struct options_of_kinds *row = &options_of_kinds[i];
        const char *option = row->kinds >> kind & 1 ? NULL : option_given(settings, row->options);
        if (option)
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "'--%s' is for %s", option, row->called);
    }
    return DOPPEL_OK;
}

/* What would do nothing for the one scheme that is wanted. */
static enum doppel_status check_options_of_scheme(const struct settings *settings,
                                                  struct doppel_error *error)
{
    const bool one = settings->scheme_given || settings->kind || settings->code;
    const struct doppel_scheme *scheme = settings->scheme;
    const bool has_rate = scheme->id == DOPPEL_SCHEME_PHASH64 || scheme_is_attached(scheme->id);
    if (settings->check == CHECK_PIXELS && settings->min_similarity >= 0)
        return doppel_fail(
            error, DOPPEL_E_ARGUMENT,
            "'--check pixels' does not go with a least similarity, which is of codes "
            "alone: leave out one of both");
    if (one && settings->check != CHECK_DEFAULT && scheme->id != DOPPEL_SCHEME_PHASH64)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--check' is for images by 'phash64', not for scheme '%s'",
                           scheme->name);
    if (one && settings->max_false_positives >= 0 && !has_rate && !settings->semantic &&
        settings->strictness != STRICTNESS_LOOSE && !is_of_records(settings))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--max-fp-rate' is for images, audio and videos%s; scheme '%s' has no "
                           "such rate, but '--min-similarity'",
                           scheme->kind == DOPPEL_KIND_TEXT ? ", and for texts with '--semantic'"
                                                            : "",
                           scheme->name);
    return DOPPEL_OK;
}

/* Each kind has a scheme. */
static const struct doppel_scheme *first_scheme(enum doppel_kind kind)
{
    size_t count;
    const struct doppel_scheme *scheme = doppel_schemes(&count);
    while (kind && scheme->kind != kind)
        scheme++;
    return scheme;
}

enum doppel_status check_scheme(struct settings *settings, struct doppel_error *error)
{
    const struct doppel_scheme *given = settings->scheme;
    const struct doppel_scheme *pdq = doppel_scheme_by_id(DOPPEL_SCHEME_PDQ);
    if (is_of_records(settings))
        settings->kind = DOPPEL_KIND_TEXT;
    if (given && settings->kind && given->kind != settings->kind)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "scheme '%s' is for %s, not for %s",
                           given->name, doppel_kind_name(given->kind),
                           doppel_kind_name(settings->kind));
    settings->scheme_given = given != NULL;
    bool one = given || settings->kind || settings->code;
    if (settings->code && !given && (!settings->kind || settings->kind == DOPPEL_KIND_IMAGE) &&
        is_code_of(settings->code, pdq))
        settings->scheme = pdq;
    if (!settings->scheme)
        settings->scheme = first_scheme(settings->kind);
    fill_by_kind(settings, one);
    const struct doppel_scheme *scheme = settings->scheme;
    if (check_scheme_of_verb(settings, error) || check_options_of_scheme(settings, error))
        return DOPPEL_E_ARGUMENT;
    if (settings->code && !is_code_of(settings->code, scheme))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--code' takes %u hex digits for scheme '%s', not '%s'",
                           scheme->code_bits / 4u, scheme->name, settings->code);
    if (settings->max_distance > scheme->code_bits)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "'--max-distance' is at most %u for scheme '%s', not %d",
                           scheme->code_bits, scheme->name, settings->max_distance);
    return DOPPEL_OK;
}
