/* The fingerprint schemes: one table. */
#include <doppel/core.h>

#include <string.h>

static const char *const kind_names[] = {"unknown", "text", "image", "audio", "video"};

static const struct doppel_scheme schemes[] = {
    {DOPPEL_SCHEME_PHASH64, DOPPEL_KIND_IMAGE, 2, 64, "phash64", 16,
     "DCT pHash of the luma: full frame, trimmed and nine crops (default for images)"},
    {DOPPEL_SCHEME_PHASH256, DOPPEL_KIND_IMAGE, 2, 256, "phash256", 64,
     "the same at 256 bits, full frame: verification, strict use"},
    {DOPPEL_SCHEME_IMAGEHASH, DOPPEL_KIND_IMAGE, 1, 64, "imagehash", 8,
     "equal to Python imagehash phash()"},
    {DOPPEL_SCHEME_PDQ, DOPPEL_KIND_IMAGE, 1, 256, "pdq", 31, "PDQ, for lists made with it"},
    {DOPPEL_SCHEME_LOCAL, DOPPEL_KIND_IMAGE, 1, 128, "local", 30,
     "keypoints: parts of pictures in pictures, and where"},
    {DOPPEL_SCHEME_MINHASH128, DOPPEL_KIND_TEXT, 2, 2048, "minhash128", 38,
     "MinHash of the shingles: 128 lanes of 16 bits (default for texts)"},
    {DOPPEL_SCHEME_MINHASH256, DOPPEL_KIND_TEXT, 2, 4096, "minhash256", 77,
     "the same with 256 lanes: a smaller error"},
    {DOPPEL_SCHEME_SIMHASH64, DOPPEL_KIND_TEXT, 2, 64, "simhash64", 7,
     "SimHash of the same shingles"},
    {DOPPEL_SCHEME_WINNOW32, DOPPEL_KIND_TEXT, 1, 32, "winnow32", 0,
     "winnowed keys of four words in a row: passages that texts share"},
    {DOPPEL_SCHEME_DATASKETCH, DOPPEL_KIND_TEXT, 1, 4096, "datasketch", 0,
     "128 values equal to datasketch's MinHash of the shingles, to hash and compare"},
    {DOPPEL_SCHEME_PEAKS32, DOPPEL_KIND_AUDIO, 1, 32, "peaks32", 0,
     "pairs of spectrogram peaks: recordings, and parts of them (default for audio)"},
    {DOPPEL_SCHEME_CHROMAPRINT, DOPPEL_KIND_AUDIO, 1, 32, "chromaprint", 8,
     "AcoustID's Chromaprint of the first two minutes, equal to fpcalc -raw"},
    {DOPPEL_SCHEME_FRAMES64, DOPPEL_KIND_VIDEO, 1, 64, "frames64", 14,
     "DCT pHash of sampled frames: videos, parts of them, and where (default for video)"},
    {DOPPEL_SCHEME_VPDQ, DOPPEL_KIND_VIDEO, 1, 256, "vpdq", 31,
     "PDQ of a frame a second, for lists made with vPDQ"},
    {DOPPEL_SCHEME_FRAMES128, DOPPEL_KIND_VIDEO, 1, 128, "frames128", 30,
     "the keypoints of 'local' of sampled frames: parts of them, where and when"},
};

#define SCHEME_COUNT (sizeof schemes / sizeof *schemes)

const char *doppel_kind_name(enum doppel_kind kind)
{
    size_t index = (size_t)kind;
    return kind_names[index < sizeof kind_names / sizeof *kind_names ? index : 0];
}

enum doppel_kind doppel_kind_from_name(const char *name)
{
    for (size_t i = 1; name && i < sizeof kind_names / sizeof *kind_names; i++)
        if (strcmp(kind_names[i], name) == 0)
            return (enum doppel_kind)i;
    return DOPPEL_KIND_UNKNOWN;
}

const struct doppel_scheme *doppel_schemes(size_t *out_count)
{
    *out_count = SCHEME_COUNT;
    return schemes;
}

const struct doppel_scheme *doppel_scheme_by_id(enum doppel_scheme_id id)
{
    for (size_t i = 0; i < SCHEME_COUNT; i++)
        if (schemes[i].id == id)
            return &schemes[i];
    return NULL;
}

const struct doppel_scheme *doppel_scheme_by_name(const char *name)
{
    for (size_t i = 0; name && i < SCHEME_COUNT; i++)
        if (strcmp(schemes[i].name, name) == 0)
            return &schemes[i];
    return NULL;
}
