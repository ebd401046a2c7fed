/**
 * doppel/audio.h: from samples to peaks of the spectrogram, and from peaks to keys. Uses core and
 * FFTW; needs no decoder.
 *
 * Source: Wang, "An Industrial-Strength Audio Search Algorithm" (2003).
 */
#ifndef DOPPEL_AUDIO_H
#define DOPPEL_AUDIO_H

#include <stdbool.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DOPPEL_AUDIO_RATE = 11025,      /**< samples a second, mono */
    DOPPEL_AUDIO_WINDOW = 1024,     /**< samples of a transform, Hann */
    DOPPEL_AUDIO_HOP = 256,         /**< samples from one transform to the next: 23.2 ms */
    DOPPEL_AUDIO_TIME_STEPS = 16,   /**< steps of a peak's time in a hop: 1.45 ms */
    DOPPEL_AUDIO_BIN_STEPS = 64,    /**< steps of a peak's frequency in a bin: .168 Hz */
    DOPPEL_AUDIO_ITEM_PEAKS = 40,   /**< strong peaks a second, at most: those of an item */
    DOPPEL_AUDIO_QUERY_PEAKS = 80,  /**< peaks a second, at most: those of a query */
    DOPPEL_AUDIO_FAINT_PEAKS = 240, /**< further ones a second, at most, of a clip */
    DOPPEL_AUDIO_CLIP_SECONDS = 12, /**< of a clip, at most */
    DOPPEL_AUDIO_KEY_BITS = 25
};

/** A local maximum of the spectrogram. */
struct doppel_audio_peak {
    uint32_t time;      /**< start of its window, in steps of 1/16 hop from the first sample */
    uint16_t frequency; /**< in steps of 1/64 bin of 10.77 Hz; below 2^15 */
    bool strong;        /**< one of the 40 that stand out most in its second */
    bool faint;         /**< none of the 80: of a clip, to be looked for in noise */
};

/** Seconds from the first sample to the middle of the window of a time, and the other way round
 * (rounded, not below 0). Thread-safe. */
DOPPEL_API double doppel_audio_seconds(double time);
DOPPEL_API double doppel_audio_time(double seconds);

/* ---- samples to peaks ---- */

/** An analysis in progress: of one thread at a time; several may run at once. Constant memory but
 * for the peaks that nobody drained. */
struct doppel_audio;

/** @param out given (doppel_audio_free). DOPPEL_OK; DOPPEL_E_MEMORY. Thread-safe: the plan of the
 * transform is made behind a lock, once, and shared. */
DOPPEL_API enum doppel_status doppel_audio_new(struct doppel_audio **out,
                                               struct doppel_error *error);
DOPPEL_API void doppel_audio_free(struct doppel_audio *audio);

/** Before the first samples of a recording: should it be no longer than a clip, its faint peaks are
 * wanted, too. A reset forgets it. DOPPEL_OK; DOPPEL_E_MEMORY. */
DOPPEL_API enum doppel_status doppel_audio_expect_clip(struct doppel_audio *audio,
                                                       struct doppel_error *error);

/**
 * Go on with the next samples, mono at DOPPEL_AUDIO_RATE, any number of them: the peaks are the
 * same however the samples are cut into calls. They may have any level and offset (the peaks do
 * not change when all samples are multiplied by a power of two, as long as they stay between 2^-40
 * and 2^50); what is not finite counts as 0. DOPPEL_OK; DOPPEL_E_MEMORY; DOPPEL_E_LIMIT (longer
 * than times can tell: 72 days without a drain).
 */
DOPPEL_API enum doppel_status doppel_audio_push(struct doppel_audio *audio, const float *samples,
                                                size_t count, struct doppel_error *error);

/** No samples come any more: the peaks of the last seconds are reported, too. Then only
 * doppel_audio_peaks, _reset and _free make sense. */
DOPPEL_API enum doppel_status doppel_audio_finish(struct doppel_audio *audio,
                                                  struct doppel_error *error);

/** Peaks known and not drained, by time, then frequency; borrowed until the next call. They lag
 * behind the samples by up to about two seconds. */
DOPPEL_API const struct doppel_audio_peak *doppel_audio_peaks(const struct doppel_audio *audio,
                                                              size_t *out_count);

/** Forget the peaks that are known; those to come go on counting time from the first sample. */
DOPPEL_API void doppel_audio_drain(struct doppel_audio *audio);

/** Start again with another recording. */
DOPPEL_API void doppel_audio_reset(struct doppel_audio *audio);

/* ---- what is kept of a recording ---- */

/** A recording as its peaks: what scheme peaks32 has instead of codes, which are derived from it.
 */
struct doppel_audio_track {
    struct doppel_audio_peak *peaks; /**< by time, then frequency */
    size_t count;
    uint64_t duration_ms; /**< of the samples */
    uint64_t damaged_ms;  /**< when the file broke off or was damaged, and what came before was
                             used: where; else 0 */
    struct doppel_audio_tags tags;
};

DOPPEL_API void doppel_audio_track_free(struct doppel_audio_track *track);

/** The portable form (docs/formats.md), some 3.1 bytes a peak, in blocks that can be read alone.
 * @param strong_only only the strong peaks: what a library keeps of an item */
DOPPEL_API size_t doppel_audio_track_size(const struct doppel_audio_track *track, bool strong_only);
DOPPEL_API void doppel_audio_track_write(const struct doppel_audio_track *track, bool strong_only,
                                         uint8_t *out);

/** Read it; nothing in it is trusted. @param out given (doppel_audio_track_free); untouched on
 * failure. DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY. Thread-safe. */
DOPPEL_API enum doppel_status doppel_audio_track_read(const uint8_t *data, size_t size,
                                                      struct doppel_audio_track *out,
                                                      struct doppel_error *error);

/** Only the peaks with from <= time < to, at a cost that grows with these. As _read. */
DOPPEL_API enum doppel_status doppel_audio_track_read_range(const uint8_t *data, size_t size,
                                                            uint32_t from, uint32_t to,
                                                            struct doppel_audio_track *out,
                                                            struct doppel_error *error);

/** How long it is, where it is damaged, and its tags, no peaks: from its first
 * DOPPEL_AUDIO_HEAD_BYTES, or more; all, where it has fewer. DOPPEL_OK; DOPPEL_E_CORRUPT.
 * Thread-safe. */
enum { DOPPEL_AUDIO_HEAD_BYTES = 32 + 3 * (DOPPEL_TAG_BYTES + 1) };
DOPPEL_API enum doppel_status doppel_audio_track_head(const uint8_t *data, size_t size,
                                                      struct doppel_audio_track *out,
                                                      struct doppel_error *error);

/* ---- peaks to keys ---- */

/** Which pairs of peaks make keys, and how. */
struct doppel_audio_zone {
    uint32_t fan_out; /**< pairs of one peak, at most: the next ones in the zone */
    bool strong_only; /**< only strong peaks make pairs */
    float time_scale; /**< times are multiplied by it; 1 of an item */
    float frequency_scale;
    uint32_t faint_fan_out[2]; /**< further pairs, of which one or both peaks are faint; 0: none */
};

/** Of items: fan-out 6, strong peaks, scales 1. Of queries: fan-out 10, all peaks but faint ones,
 * scales 1. Of clips: 5 further pairs with one faint peak, 10 with two. */
DOPPEL_API struct doppel_audio_zone doppel_audio_item_zone(void);
DOPPEL_API struct doppel_audio_zone doppel_audio_query_zone(void);
DOPPEL_API struct doppel_audio_zone doppel_audio_clip_zone(void);

/** Pairs of one peak, at most. Thread-safe. */
DOPPEL_API uint32_t doppel_audio_zone_pairs(const struct doppel_audio_zone *zone);

/** A key of two peaks: (f1, f2 - f1, t2 - t1), frequencies in half bins, the time between them in
 * hops, 2 to 63. */
struct doppel_audio_key {
    uint32_t key;   /**< below 2^DOPPEL_AUDIO_KEY_BITS */
    uint32_t hop;   /**< of the first peak, scaled and rounded */
    uint32_t peak;  /**< number of the first peak */
    uint32_t faint; /**< how many of the two peaks are */
};

/**
 * The keys of peaks, ordered by the first peak.
 * Of very many peaks at one time, which no analysis makes, each is paired with the next 1024 at
 * most.
 * @param out room for `capacity` keys; count * doppel_audio_zone_pairs are always enough. NULL: all
 * are counted
 * @return how many were written, or counted. Thread-safe.
 */
DOPPEL_API size_t doppel_audio_keys(const struct doppel_audio_peak *peaks, size_t count,
                                    const struct doppel_audio_zone *zone,
                                    struct doppel_audio_key *out, size_t capacity);

/* ---- AcoustID's fingerprints, as text ---- */

/** From one code of scheme chromaprint to the next: 1365 samples. */
#define DOPPEL_CHROMAPRINT_STEP_MS (1365 * 1000.0 / DOPPEL_AUDIO_RATE)

/** Whether this is how what fpcalc prints begins: 12 bytes tell. Thread-safe. */
DOPPEL_API bool doppel_chromaprint_is_text(const char *head, size_t size);

/**
 * Read what `fpcalc -raw` prints, with or without -signed: lines, of which that which begins with
 * FINGERPRINT= counts, and DURATION=; or the numbers alone, separated by commas.
 * @param text borrowed; need not end in a NUL. @param out given (doppel_fingerprint_free): codes of
 * 32 bits at positions in ms. @param out_duration_ms 0: it is not said; may be NULL
 * @return DOPPEL_OK; DOPPEL_E_FORMAT; DOPPEL_E_MEMORY. Thread-safe.
 */
DOPPEL_API enum doppel_status doppel_chromaprint_parse(const char *text, size_t size,
                                                       struct doppel_fingerprint *out,
                                                       uint64_t *out_duration_ms,
                                                       struct doppel_error *error);

/** A fingerprint of `count` codes as scheme chromaprint has it. @param out given. DOPPEL_OK;
 * DOPPEL_E_FLAT (no codes); DOPPEL_E_MEMORY; DOPPEL_E_ARGUMENT (too many). Thread-safe. */
DOPPEL_API enum doppel_status doppel_chromaprint_fingerprint(const uint32_t *codes, size_t count,
                                                             struct doppel_fingerprint *out,
                                                             struct doppel_error *error);

#ifdef __cplusplus
}
#endif
#endif
