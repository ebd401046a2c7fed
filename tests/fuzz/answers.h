/* What the first byte of an input of fuzz_answers means. */
#ifndef DOPPEL_TESTS_FUZZ_ANSWERS_H
#define DOPPEL_TESTS_FUZZ_ANSWERS_H

#include <doppel/worker.h>

enum { ANSWER_SERIAL = 7 /* of the order that is answered */ };

enum answer_way {
    ANSWER_PHASH,
    ANSWER_PDQ,
    ANSWER_MINHASH,
    ANSWER_SIMHASH,
    ANSWER_WINNOW,
    ANSWER_PEAKS,
    ANSWER_CHROMAPRINT,
    ANSWER_FRAMES,
    ANSWER_VPDQ,
    ANSWER_CLOSE,
    ANSWER_THUMBNAIL,
    ANSWER_STILL,
    ANSWER_START, /* no answer: what a worker says first */
    ANSWER_HEARD, /* of a listener */
    ANSWER_WAYS
};

/* What is ordered, of those that are answered. */
static inline struct doppel_order answer_order(size_t way)
{
    static const enum doppel_scheme_id schemes[ANSWER_WAYS] = {
        [ANSWER_PHASH] = DOPPEL_SCHEME_PHASH64,
        [ANSWER_PDQ] = DOPPEL_SCHEME_PDQ,
        [ANSWER_MINHASH] = DOPPEL_SCHEME_MINHASH128,
        [ANSWER_SIMHASH] = DOPPEL_SCHEME_SIMHASH64,
        [ANSWER_WINNOW] = DOPPEL_SCHEME_WINNOW32,
        [ANSWER_PEAKS] = DOPPEL_SCHEME_PEAKS32,
        [ANSWER_CHROMAPRINT] = DOPPEL_SCHEME_CHROMAPRINT,
        [ANSWER_FRAMES] = DOPPEL_SCHEME_FRAMES64,
        [ANSWER_VPDQ] = DOPPEL_SCHEME_VPDQ,
        [ANSWER_CLOSE] = DOPPEL_SCHEME_FRAMES64,
        [ANSWER_THUMBNAIL] = DOPPEL_SCHEME_FRAMES64,
        [ANSWER_STILL] = DOPPEL_SCHEME_PHASH64,
    };
    return (struct doppel_order){
        .scheme = schemes[way],
        .version = doppel_scheme_by_id(schemes[way])->version,
        .video_task = way == ANSWER_CLOSE       ? DOPPEL_VIDEO_CLOSE
                      : way == ANSWER_THUMBNAIL ? DOPPEL_VIDEO_THUMBNAIL
                                                : DOPPEL_VIDEO_FINGERPRINT,
        .look = way == ANSWER_STILL ? DOPPEL_LOOK_STILL : DOPPEL_LOOK_NONE,
    };
}

/* How many came so far that they were kept: of what is good and has a fingerprint, all. */
extern unsigned long answers_kept;

#endif
