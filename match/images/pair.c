/* Two fingerprints to one match: by the calibrated views of pictures, or by plain distance. */
#include "match/images/pair.h"

#include <math.h>
#include <stddef.h>

const char *doppel_relation_name(enum doppel_relation relation)
{
    static const char *const names[] = {"same",     "contains", "contained",
                                        "overlaps", "shared",   "burst"};
    size_t index = (size_t)relation;
    return index < sizeof names / sizeof *names ? names[index] : "unknown";
}

const char *doppel_verified_name(enum doppel_verified verified)
{
    static const char *const names[] = {"exact", "signature", "codes", "alignment"};
    size_t index = (size_t)verified;
    return index < sizeof names / sizeof *names ? names[index] : "unknown";
}

struct doppel_match_options doppel_match_options_default(void)
{
    return (struct doppel_match_options){
        .image = doppel_image_verify_options_default(), .max_distance = -1, .min_similarity = -1};
}

/* ---- rates ----
 *
 * Of a pair the rate is what the calibration says; of a query it is the chance that one pair or
 * more of so many come out as near. */

enum { COMPARED_LEAST = 128, COMPARED_MOST_BITS = 60 };

/* Of so many pictures all are compared by a sweep, which reaches as far as this. */
enum { COMPARED_MANY = 1 << 16 };
static const double check_rate_of_many = 1e-7;

/* Whatever is asked for: a pair that more come near than this says nothing. */
static const double most_pair_rate = 1e-2;

uint64_t doppel_image_compared(uint64_t pictures)
{
    uint64_t compared = COMPARED_LEAST;
    while (compared < pictures && compared < UINT64_C(1) << COMPARED_MOST_BITS)
        compared *= 2;
    return compared;
}

double doppel_match_pair_rate(const struct doppel_match_options *options)
{
    double rate = options->max_rate > 0 ? options->max_rate : DOPPEL_IMAGE_QUERY_RATE;
    return fmin(most_pair_rate, rate / (double)doppel_image_compared(options->compared));
}

double doppel_match_check_rate(const struct doppel_match_options *options)
{
    const uint64_t compared = doppel_image_compared(options->compared);
    const double rate = compared < COMPARED_MANY
                            ? DOPPEL_IMAGE_BORDERLINE_FPR * sqrt(COMPARED_LEAST / (double)compared)
                            : check_rate_of_many;
    return fmax(doppel_match_pair_rate(options), rate);
}

static double query_rate_of(double pair_rate, const struct doppel_match_options *options)
{
    return -expm1(-pair_rate * (double)doppel_image_compared(options->compared));
}

static bool is_pair_within(const struct doppel_match *match, double rate)
{
    return match->pair_rate >= 0 && match->pair_rate <= rate;
}

/* ---- the description of a match ---- */

/* An orientation undone: of the turned ones the mirrorings change places. */
static unsigned inverse_orientation(unsigned orientation)
{
    if (!(orientation & 4))
        return orientation;
    return 4 | (orientation & 1) << 1 | (orientation & 2) >> 1;
}

/* What was done to the query, when `orientation` takes it back: mirrored left to right, then
 * turned clockwise. */
static void describe_orientation(unsigned orientation, struct doppel_match *match)
{
    static const struct {
        bool mirrored;
        uint16_t rotated;
    } done[DOPPEL_IMAGE_ORIENTATIONS] = {{false, 0},  {true, 0},   {true, 180},  {false, 180},
                                         {true, 270}, {false, 90}, {false, 270}, {true, 90}};
    unsigned inverse = inverse_orientation(orientation);
    match->transform.mirrored = done[inverse].mirrored;
    match->transform.rotated = done[inverse].rotated;
}

static void describe_rate(double rate, struct doppel_match *match)
{
    match->false_positive_rate = rate;
    match->score = rate > 0 ? -log10(rate) : 0;
}

static void describe_pair_rate(double rate, const struct doppel_match_options *options,
                               struct doppel_match *match)
{
    match->pair_rate = rate;
    describe_rate(query_rate_of(rate, options), match);
}

static bool is_crop(unsigned view)
{
    return view >= DOPPEL_VIEW_CENTRE;
}

/* A crop of the query that looks like the whole item: the query contains the item. */
static void describe_views(unsigned query_view, unsigned item_view, struct doppel_match *match)
{
    bool query_cropped = is_crop(query_view), item_cropped = is_crop(item_view);
    match->transform.cropped = query_cropped || item_cropped;
    match->transform.trimmed = (!query_cropped && query_view != DOPPEL_VIEW_FULL) ||
                               (!item_cropped && item_view != DOPPEL_VIEW_FULL);
    if (query_cropped && item_cropped)
        match->relation = DOPPEL_RELATION_OVERLAPS;
    else if (query_cropped)
        match->relation = DOPPEL_RELATION_CONTAINS;
    else if (item_cropped)
        match->relation = DOPPEL_RELATION_CONTAINED;
}

/* ---- by calibrated views ---- */

/* Judged both ways, since query and item differ in the views they show; the roles stay the
 * caller's. */
static struct doppel_image_verdict verify_match_item(const struct doppel_match_item *query,
                                                     const struct doppel_match_item *item,
                                                     const struct doppel_match_options *options)
{
    struct doppel_image_verdict forth =
        doppel_image_verify(query->fingerprint, item->fingerprint, &options->image);
    struct doppel_image_verdict back =
        doppel_image_verify(item->fingerprint, query->fingerprint, &options->image);
    double similarity = fmax(forth.similarity, back.similarity);
    forth.similarity = back.similarity = similarity;
    if (forth.false_positive_rate <= back.false_positive_rate)
        return forth;
    uint8_t view = back.query_view;
    back.query_view = back.item_view;
    back.item_view = view;
    back.orientation = (uint8_t)inverse_orientation(back.orientation);
    return back;
}

static void match_views(const struct doppel_match_item *query, const struct doppel_match_item *item,
                        const struct doppel_match_options *options, struct doppel_match *match)
{
    struct doppel_image_verdict verdict = verify_match_item(query, item, options);
    doppel_image_weigh(query->quality < item->quality ? query->quality : item->quality, &verdict);
    match->distance = verdict.distance64;
    match->similarity = verdict.similarity;
    describe_pair_rate(verdict.false_positive_rate, options, match);
    describe_views(verdict.query_view, verdict.item_view, match);
    describe_orientation(verdict.orientation, match);
}

/* ---- by plain distance ---- */

/* Unrelated codes differ in half of their bits. */
static double plain_similarity(uint32_t distance, uint32_t bits)
{
    double similarity = 1 - distance / (bits / 2.0);
    return similarity > 0 ? similarity : 0;
}

/* Two codes as near as some orientation brings them; kept when nearer than what `match` has.
 * Every orientation counts where orientations do. */
static bool match_nearer(const struct doppel_code *query, const struct doppel_code *item,
                         unsigned orientations, struct doppel_match *match)
{
    bool nearer = false;
    for (unsigned orientation = 0; orientation < orientations; orientation++) {
        struct doppel_code code = orientation ? doppel_image_orient(query, orientation) : *query;
        uint32_t distance = doppel_code_distance(&code, item, match->bits);
        if (distance >= match->distance)
            continue;
        match->distance = distance;
        describe_orientation(orientation, match);
        nearer = true;
    }
    return nearer;
}

static void match_codes(const struct doppel_match_item *query, const struct doppel_match_item *item,
                        const struct doppel_match_options *options, struct doppel_match *match)
{
    match->distance = UINT32_MAX;
    match_nearer(&query->fingerprint->codes[0], &item->fingerprint->codes[0],
                 plain_orientations(match->scheme, options), match);
    match->similarity = plain_similarity(match->distance, match->bits);
}

static bool is_shown_in_other(uint32_t view, enum doppel_image_views views)
{
    return view == DOPPEL_VIEW_FULL || views == DOPPEL_VIEWS_ALL ||
           (views == DOPPEL_VIEWS_TRIM && view < DOPPEL_VIEW_CENTRE);
}

/* A 64-bit code that came without its 256 bits, as people type them: the nearest of all views. */
static void match_bare(const struct doppel_match_item *query, const struct doppel_match_item *item,
                       const struct doppel_match_options *options, struct doppel_match *match)
{
    const struct doppel_fingerprint *a = query->fingerprint, *b = item->fingerprint;
    unsigned orientations = options->image.orientations ? DOPPEL_IMAGE_ORIENTATIONS : 1;
    uint32_t query_view = DOPPEL_VIEW_FULL, item_view = DOPPEL_VIEW_FULL;
    match->distance = UINT32_MAX;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++)
            if (is_shown_in_other(a->positions[i], options->image.views) &&
                is_shown_in_other(b->positions[j], options->image.views) &&
                match_nearer(&a->codes[i], &b->codes[j], orientations, match)) {
                query_view = a->positions[i];
                item_view = b->positions[j];
            }
    match->similarity = plain_similarity(match->distance, match->bits);
    describe_views(query_view, item_view, match);
}

uint32_t similarity_radius(double min_similarity, uint32_t bits)
{
    uint32_t radius = bits;
    while (radius && plain_similarity(radius, bits) < min_similarity)
        radius--;
    return radius;
}

unsigned plain_orientations(enum doppel_scheme_id scheme,
                            const struct doppel_match_options *options)
{
    bool oriented = scheme == DOPPEL_SCHEME_PHASH256 && options->image.orientations;
    return oriented ? DOPPEL_IMAGE_ORIENTATIONS : 1;
}

/* ---- limits ---- */

bool wants_pixels(const struct doppel_match_options *options)
{
    return options->check_pixels && options->min_similarity < 0;
}

/* Without a similarity the rate decides, whatever the distance; all will do if the least similarity
 * is wanted. */
bool gate_of_options(const struct doppel_match_options *options, struct doppel_image_gate *out)
{
    const bool by_rate = options->min_similarity < 0;
    const double rate = wants_pixels(options) ? doppel_match_check_rate(options)
                        : by_rate             ? doppel_match_pair_rate(options)
                                              : 0;
    if (!by_rate && options->min_similarity <= 0)
        return false;
    *out = doppel_image_gate_make(&options->image, rate, by_rate ? 2 : options->min_similarity);
    return true;
}

bool doppel_match_by_codes(const struct doppel_match *match,
                           const struct doppel_match_options *options)
{
    if (options->max_distance >= 0 && match->distance > (uint32_t)options->max_distance)
        return false;
    if (options->min_similarity >= 0)
        return match->similarity >= options->min_similarity;
    if (match->scheme == DOPPEL_SCHEME_PHASH64 && match->false_positive_rate >= 0)
        return is_pair_within(match, doppel_match_pair_rate(options));
    if (options->max_distance >= 0)
        return true;
    return match->distance <= (match->scheme == DOPPEL_SCHEME_PHASH64
                                   ? BARE_MAX_DISTANCE
                                   : doppel_scheme_by_id(match->scheme)->max_distance);
}

/* Whether pixels may say more than the codes of a pair that is near, or less. */
static bool is_unsure(const struct doppel_match *match, const struct doppel_match_options *options)
{
    const double sure = pow(doppel_match_pair_rate(options), 1 / DOPPEL_IMAGE_UNSEEN_POWER);
    return match->scheme == DOPPEL_SCHEME_PHASH64 && match->verified == DOPPEL_VERIFIED_CODES &&
           wants_pixels(options) && is_pair_within(match, doppel_match_check_rate(options)) &&
           !is_pair_within(match, sure);
}

static void begin_pair_match(const struct doppel_scheme *scheme, enum doppel_scheme_id id,
                             struct doppel_match *match)
{
    *match =
        (struct doppel_match){.verified = DOPPEL_VERIFIED_CODES, .scheme = id, .pair_rate = -1};
    describe_rate(-1, match);
    if (scheme) {
        match->kind = scheme->kind;
        match->bits = scheme->code_bits;
    }
}

bool match_at_distance(const struct doppel_scheme *scheme, uint32_t distance, unsigned orientation,
                       const struct doppel_match_options *options, struct doppel_match *out)
{
    begin_pair_match(scheme, scheme->id, out);
    out->distance = distance;
    out->similarity = plain_similarity(distance, out->bits);
    describe_orientation(orientation, out);
    return doppel_match_by_codes(out, options);
}

bool doppel_match_pair(const struct doppel_match_item *query, const struct doppel_match_item *item,
                       const struct doppel_match_options *options, struct doppel_match *out_match)
{
    const struct doppel_fingerprint *a = query->fingerprint, *b = item->fingerprint;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(a->scheme);
    begin_pair_match(scheme, a->scheme, out_match);
    if (!scheme || a->scheme != b->scheme || a->version != b->version || !a->count || !b->count)
        return false;
    bool bare = a->code_bits < 256 || b->code_bits < 256;
    if (scheme->id == DOPPEL_SCHEME_PHASH64 && bare)
        match_bare(query, item, options, out_match);
    else if (scheme->id == DOPPEL_SCHEME_PHASH64)
        match_views(query, item, options, out_match);
    else
        match_codes(query, item, options, out_match);
    if (!is_distinctive(query) || !is_distinctive(item) ||
        (out_match->pair_rate >= 1 && (!is_looked_up(query) || !is_looked_up(item)))) {
        out_match->pair_rate = -1;
        describe_rate(-1, out_match);
        return false;
    }
    return doppel_match_by_codes(out_match, options) &&
           !(is_looked_up(query) && is_looked_up(item) && is_unsure(out_match, options));
}

bool is_looked_up(const struct doppel_match_item *item)
{
    return item->quality >= DOPPEL_IMAGE_MIN_QUALITY;
}

bool is_distinctive(const struct doppel_match_item *item)
{
    const struct doppel_fingerprint *fingerprint = item->fingerprint;
    return is_looked_up(item) ||
           (item->quality >= DOPPEL_IMAGE_STRICT_QUALITY &&
            fingerprint->scheme == DOPPEL_SCHEME_PHASH64 && fingerprint->code_bits == 256);
}

/* ---- pixels ---- */

bool doppel_match_borderline(const struct doppel_match *match,
                             const struct doppel_match_options *options)
{
    const int32_t most = options->max_distance;
    return is_unsure(match, options) && (most < 0 || match->distance <= (uint32_t)most);
}

struct doppel_image_verdict doppel_match_verdict(const struct doppel_match *match)
{
    return (struct doppel_image_verdict){.distance64 = match->distance,
                                         .false_positive_rate = match->pair_rate,
                                         .similarity = match->similarity};
}

bool doppel_match_from_pixels(const struct doppel_image_verdict *verdict,
                              const struct doppel_match_options *options,
                              struct doppel_match *match)
{
    match->similarity = verdict->similarity;
    describe_pair_rate(verdict->false_positive_rate, options, match);
    if (!is_pair_within(match, doppel_match_pair_rate(options)))
        return false;
    match->verified = DOPPEL_VERIFIED_ALIGNMENT;
    return true;
}
