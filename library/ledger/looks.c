/* What images of a group show beside each other, and which of them are copies as far as that can be
 * seen. The method and its reasons: docs/methods.md. */
#include "library/ledger/looks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/image.h>

/* ---- two images ---- */

static bool is_trimmed_view(uint8_t view)
{
    return view == DOPPEL_VIEW_TRIMMED || view == DOPPEL_VIEW_INTERFACE;
}

static bool is_part_view(uint8_t view)
{
    return view != DOPPEL_VIEW_FULL && !is_trimmed_view(view);
}

/* Judged both ways: some views are of queries alone. The orientation back: mirrorings undo
 * themselves, and trade places when a transposition comes before them. */
static struct doppel_image_verdict judge_both_ways(const struct doppel_fingerprint *query,
                                                   const struct doppel_fingerprint *item)
{
    struct doppel_image_verify_options options = doppel_image_verify_options_default();
    struct doppel_image_verdict verdict = doppel_image_verify(query, item, &options);
    struct doppel_image_verdict back = doppel_image_verify(item, query, &options);
    if (back.false_positive_rate >= verdict.false_positive_rate)
        return verdict;
    uint8_t turn = back.orientation, view = back.query_view;
    back.query_view = back.item_view;
    back.item_view = view;
    if (turn & 4)
        back.orientation = (uint8_t)(4 | (turn & 1) << 1 | (turn & 2) >> 1);
    return back;
}

/* A frame is found to a row of a plane of about 192, on both sides: what differs by less is equal.
 */
static const double same_content = .96;

/* An image, as large as its candidate says. */
struct sized_image {
    const struct doppel_image_features *features;
    const struct doppel_candidate *candidate;
};

/* The share of an image within its frame, beside another one that has none; 1: no frame is seen.
 * Where it is not the trimmed view it may be as large as the other one, in the middle. */
static double share_in_frame(const struct sized_image *image, const struct sized_image *other)
{
    double x = (double)other->candidate->width / image->candidate->width;
    double y = (double)other->candidate->height / image->candidate->height;
    const uint16_t left = (uint16_t)(32767.5 * (1 - fmin(1, x))),
                   top = (uint16_t)(32767.5 * (1 - fmin(1, y)));
    const uint16_t box[4] = {left, top, 65535 - left, 65535 - top};
    if (doppel_image_is_framed(image->features, NULL, other->features))
        return doppel_image_view_share(image->features, DOPPEL_VIEW_TRIMMED);
    return x <= 1 && y <= 1 && doppel_image_is_framed(image->features, box, other->features) ? x * y
                                                                                             : 1;
}

/* Two that meet upright: a frame around one of them, or something laid over one. */
static void look_at_planes(const struct sized_image *image, const struct sized_image *first,
                           bool wholes, struct doppel_image_look *look)
{
    double share = share_in_frame(image, first), first_share = share_in_frame(first, image);
    bool same_size = image->candidate->width == first->candidate->width &&
                     image->candidate->height == first->candidate->height;
    if (share < same_content || first_share < same_content) {
        look->part = false;
        look->share = share;
        look->first_share = share < same_content ? 1 : first_share;
    } else if (wholes || same_size) {
        look->overlay = doppel_image_overlay(first->features, image->features);
        look->part &= !look->overlay;
    }
}

/* The shares of what two images that meet by trimmed views show within their frames. What has the
 * same one, as a dark sky, is as if it had none, until another image shows that it has. */
static void look_at_trimmed(const struct doppel_image_features *image,
                            const struct doppel_image_features *first,
                            const struct doppel_image_verdict *verdict,
                            struct doppel_image_look *look)
{
    const double share = is_trimmed_view(verdict->query_view)
                             ? doppel_image_view_share(image, verdict->query_view)
                             : 1;
    const double first_share = is_trimmed_view(verdict->item_view)
                                   ? doppel_image_view_share(first, verdict->item_view)
                                   : 1;
    if (fmin(share, first_share) > same_content * fmax(share, first_share))
        return;
    look->share = share;
    look->first_share = first_share;
}

struct doppel_image_look doppel_image_look_make(const struct doppel_image_features *image,
                                                const struct doppel_candidate *candidate,
                                                const struct doppel_image_features *first,
                                                const struct doppel_candidate *first_candidate)
{
    const double most_rate = 1e-3;
    struct doppel_image_verdict verdict = judge_both_ways(&image->fingerprint, &first->fingerprint);
    struct doppel_image_look look = {
        .known = verdict.false_positive_rate <= most_rate,
        .part = is_part_view(verdict.query_view) || is_part_view(verdict.item_view),
        .share = 1,
        .trimmed = doppel_image_view_share(image, DOPPEL_VIEW_TRIMMED),
        .first_share = 1,
        .orientation = verdict.orientation,
        .origin = image->origin,
    };
    if (look.known && !look.part)
        look_at_trimmed(image, first, &verdict, &look);
    if (look.known && !verdict.orientation)
        look_at_planes(
            &(struct sized_image){image, candidate}, &(struct sized_image){first, first_candidate},
            verdict.query_view == DOPPEL_VIEW_FULL && verdict.item_view == DOPPEL_VIEW_FULL, &look);
    return look;
}

/* ---- frames ---- */

/* The share of an image within its frame. Those that meet a framed first by their whole have its
 * frame. */
static double content_share(const struct doppel_image_look *look, double first_share)
{
    bool framed = look->share == 1 && look->first_share == 1 && !look->part && first_share < 1;
    return framed ? look->trimmed : look->share;
}

/* @param otherwise where nothing is known of it */
static double shown_share(const struct doppel_image_look *looks, size_t i, double first_share,
                          double otherwise)
{
    if (!looks[i].known)
        return otherwise;
    double share = content_share(&looks[i], first_share);
    return i ? share : fmin(share, first_share);
}

/* Of what is not known nothing is seen for or against it: it is as the widest. */
static void compare_image_frames(struct doppel_candidate *candidates,
                                 const struct doppel_image_look *looks, size_t count)
{
    double first_share = 1;
    for (size_t i = 1; i < count; i++)
        if (looks[i].known && looks[i].first_share < first_share)
            first_share = looks[i].first_share;
    double widest = shown_share(looks, 0, first_share, first_share);
    for (size_t i = 1; i < count; i++)
        widest = fmax(widest, shown_share(looks, i, first_share, 0));
    for (size_t i = 0; i < count; i++) {
        candidates[i].share = shown_share(looks, i, first_share, i ? widest : first_share);
        candidates[i].framed = candidates[i].share < same_content * widest;
    }
}

/* ---- videos of which one shows more ---- */

/* Of an area: half of it at each pair of sides is what a fitted view may be off. */
static const double same_scene = .9;

static void compare_scenes(struct doppel_candidate *candidates,
                           const struct doppel_image_look *looks, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, looks[i].scene);
    for (size_t i = 0; i < count; i++)
        candidates[i].cropped = looks[i].scene > 0 && looks[i].scene < same_scene * most;
}

/* ---- dates ---- */

/* Files whose times are as near as that came together: their order says nothing. */
static const int64_t same_time_ns = INT64_C(60000000000);

/* What is older: where there are two dates taken, these; then the files'. */
static bool is_older(const struct doppel_candidate *a, const struct doppel_candidate *b)
{
    if (!a->taken_s != !b->taken_s)
        return a->taken_s != 0;
    if (a->taken_s != b->taken_s)
        return a->taken_s < b->taken_s;
    return a->mtime_ns < b->mtime_ns && b->mtime_ns - a->mtime_ns > same_time_ns;
}

/* ---- sharpness ---- */

enum { RINGS = 7, FIRST_RING = 3 };

/* ITU-T T.81, table K.1: means of the steps of frequencies 1 to 7 at quality 50. */
static const double ring_steps[RINGS] = {11.7, 13.4, 20.1, 38, 64.9, 84.5, 85};

static const double most_counted = .5; /* octaves by which one may be sharper at a frequency */

static bool is_measured(const struct doppel_image_look *look)
{
    static const uint8_t none[RINGS];
    return look->known && memcmp(look->origin.spectrum, none, sizeof none) != 0;
}

/* Of its table; without one 100. */
static uint8_t quality_now(const struct doppel_image_origin *origin)
{
    return origin->jpeg_quality ? origin->jpeg_quality : 100;
}

/* Of the worst compression that the image went through. */
static uint8_t worst_quality(const struct doppel_image_origin *origin)
{
    uint8_t now = quality_now(origin);
    return origin->earlier_quality && origin->earlier_quality < now ? origin->earlier_quality : now;
}

static double step_of_quality(uint8_t quality, int ring)
{
    double scale = quality >= 50 ? 2 - quality / 50. : 50. / quality;
    return fmax(1, ring_steps[ring - 1] * scale);
}

/* An image of the group, with what it shows. */
struct image_content {
    const struct doppel_candidate *candidate;
    const struct doppel_image_look *look;
    double share, pixels; /* within its frame */
};

static struct image_content image_content_of(const struct doppel_candidate *candidate,
                                             const struct doppel_image_look *look)
{
    double share = candidate->share;
    return (struct image_content){candidate, look, share,
                                  share * candidate->width * candidate->height};
}

/* How two images of the same content lie to each other, frequency by frequency. */
struct sharpness {
    double small[RINGS + 1], large[RINGS + 1]; /* octaves, by ring, above what compression eats */
    double floor[RINGS + 1];
};

/* Octaves of the mean magnitude at a ring. Where there is a frame, blocks are empty. */
static double octaves_at(const struct doppel_image_origin *origin, int ring, double share,
                         double floor)
{
    double mean = (exp2(origin->spectrum[ring - 1] / 16.) - 1) / 16 / share;
    return log2(mean + floor);
}

static struct sharpness compare_sharpness(const struct image_content *small,
                                          const struct image_content *large)
{
    const struct doppel_image_origin *of_small = &small->look->origin;
    const struct doppel_image_origin *of_large = &large->look->origin;
    struct sharpness both;
    uint8_t quality = worst_quality(of_small), other = worst_quality(of_large);
    for (int ring = 1; ring <= RINGS; ring++) {
        double floor = .04 + .002 * step_of_quality(quality < other ? quality : other, ring);
        both.floor[ring] = log2(floor);
        both.small[ring] = octaves_at(of_small, ring, small->share, floor);
        both.large[ring] = octaves_at(of_large, ring, large->share, floor);
    }
    return both;
}

/* What the small one has at a frequency between rings; above the last one nothing. */
static double between_rings(const struct sharpness *both, double ring)
{
    if (ring >= RINGS + .6)
        return both->floor[RINGS];
    ring = fmin(ring, RINGS);
    int below = ring < RINGS ? (int)ring : RINGS - 1;
    double part = log2(ring / below) / log2((below + 1.) / below);
    return both->small[below] + (both->small[below + 1] - both->small[below]) * part;
}

/* The octaves, from FIRST_RING to `last`, by which the large one lacks sharpness beside the small
 * one, pixel by pixel: pictures are alike on every scale, an enlargement is not. */
static double lacking_octaves(const struct sharpness *both, int last, double most)
{
    double lacking = 0;
    for (int ring = FIRST_RING; ring <= last; ring++)
        lacking += fmax(-most_counted, fmin(both->small[ring] - both->large[ring], most));
    return lacking;
}

/* The same that it would lack if it were the small one enlarged. Filters leave something above the
 * frequencies that the small one had. */
static double lacking_when_enlarged(const struct sharpness *both, int last, double scale)
{
    const double most = 3;
    double lacking = 0;
    for (int ring = FIRST_RING; ring <= last; ring++) {
        double enlarged = between_rings(both, ring * scale) + log2(scale);
        enlarged = fmax(both->floor[ring], fmin(enlarged, both->small[ring]));
        lacking += fmin(most, both->small[ring] - enlarged);
    }
    return lacking;
}

/* What a strong compression left out says nothing, and smooth pictures lack nothing when they are
 * enlarged. A drawing rendered larger has fewer edges a block, and so less of every frequency; an
 * enlargement lacks the high ones alone. Copies are younger, as far as dates are right: that moves
 * the limits, and decides nothing alone; what a younger one has around it adds to its high
 * frequencies. The highest ring is noise in what was saved with a table of steps. */
static bool is_upscaled_from(const struct image_content *large, const struct image_content *small)
{
    enum { LAST_RING = 6 };
    const double share = .46, by_date = .7, by_quality = .3, good_quality = 90, by_level = 1.5,
                 by_frame = 2, most = 1.8, clear = .3;
    bool older = is_older(small->candidate, large->candidate);
    double framed = older && large->candidate->framed && !small->candidate->framed ? by_frame : 0;
    double date = older ? -by_date : by_date;
    struct sharpness both = compare_sharpness(small, large);
    double enlarged = lacking_when_enlarged(&both, LAST_RING, sqrt(large->pixels / small->pixels));
    double lacking =
        lacking_octaves(&both, LAST_RING, most) - by_level * fmax(0, both.small[1] - both.large[1]);
    double least = share * enlarged + date - framed +
                   by_quality * fmax(0, good_quality - quality_now(&large->look->origin));
    bool smooth = both.small[RINGS] < both.floor[RINGS] + 1 || enlarged < 1 + by_date;
    return (older ? enlarged >= 1 - by_date - framed : !smooth) &&
           lacking > fmax(clear - framed, least);
}

static bool is_blurred_beside(const struct image_content *image, const struct image_content *other)
{
    const double most_lacking = 2.5;
    struct sharpness both = compare_sharpness(other, image);
    return lacking_octaves(&both, RINGS, HUGE_VAL) > most_lacking;
}

/* More members are compared with the first ones alone. */
enum { MOST_COMPARED = 512 };

static void compare_scales(struct doppel_candidate *candidates,
                           const struct doppel_image_look *looks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct image_content image = image_content_of(&candidates[i], &looks[i]);
        double least = image.pixels;
        for (size_t j = 0; j < count && j < MOST_COMPARED && is_measured(&looks[i]); j++) {
            struct image_content other = image_content_of(&candidates[j], &looks[j]);
            if (i == j || !is_measured(&looks[j]) || looks[i].part || looks[j].part)
                continue;
            if (other.pixels > same_content * image.pixels)
                candidates[i].blurred |=
                    other.pixels * same_content < image.pixels && is_blurred_beside(&image, &other);
            else if (other.pixels < least && is_upscaled_from(&image, &other))
                least = other.pixels;
        }
        candidates[i].upscaled = least < image.pixels;
        candidates[i].content_pixels = (uint64_t)least;
    }
}

/* ---- orientation, overlays, compression ---- */

/* How the one stands that is older than all that stand otherwise. @return false: there is none */
static bool find_oldest_orientation(const struct doppel_candidate *candidates,
                                    const struct doppel_image_look *looks, size_t count,
                                    unsigned *out)
{
    for (size_t i = 0; i < count; i++) {
        bool older = true;
        for (size_t j = 0; j < count && older; j++)
            older = looks[j].orientation == looks[i].orientation ||
                    is_older(&candidates[i], &candidates[j]);
        if (older) {
            *out = looks[i].orientation;
            return true;
        }
    }
    return false;
}

/* Those are turned that do not stand as more than half do; where that is no orientation, as the
 * oldest. */
static void compare_orientations(struct doppel_candidate *candidates,
                                 const struct doppel_image_look *looks, size_t count)
{
    size_t counts[DOPPEL_IMAGE_ORIENTATIONS] = {0};
    unsigned usual = DOPPEL_IMAGE_ORIENTATIONS;
    for (size_t i = 0; i < count; i++)
        counts[looks[i].orientation % DOPPEL_IMAGE_ORIENTATIONS]++;
    for (unsigned i = 0; i < DOPPEL_IMAGE_ORIENTATIONS; i++)
        usual = counts[i] > count / 2 ? i : usual;
    bool known = usual < DOPPEL_IMAGE_ORIENTATIONS ||
                 find_oldest_orientation(candidates, looks, count, &usual);
    for (size_t i = 0; i < count; i++)
        candidates[i].turned = known && looks[i].orientation != usual;
}

/* What lies over an image, or over the first: where that is not clear, over the younger one.
 * @return as `overlay` of struct doppel_image_look */
static int overlay_by_date(const struct doppel_candidate *image,
                           const struct doppel_image_look *look,
                           const struct doppel_candidate *first)
{
    if (abs(look->overlay) != 1)
        return look->overlay;
    return is_older(first, image) ? 1 : is_older(image, first) ? -1 : 0;
}

/* Those that show no difference to an overlaid first have it on them, too. */
static void compare_overlays(struct doppel_candidate *candidates,
                             const struct doppel_image_look *looks, size_t count)
{
    bool first = false;
    for (size_t i = 1; i < count; i++)
        first |= overlay_by_date(&candidates[i], &looks[i], candidates) < 0;
    for (size_t i = 0; i < count; i++)
        candidates[i].overlaid = overlay_by_date(&candidates[i], &looks[i], candidates) > 0 ||
                                 (first && looks[i].overlay == 0);
}

/* Of a ring. */
static double mean_magnitude(const struct doppel_image_origin *origin, int ring)
{
    return exp2(origin->spectrum[ring - 1] / 16.) - 1;
}

/* A good table with just as much in the file as a poor one's: the poor one was there before, since
 * it would have eaten some of it. */
static bool is_saved_again(const struct doppel_image_origin *image,
                           const struct doppel_image_origin *poorer)
{
    enum { LEAST_BETTER = 10, SECOND_RING = 2 };
    const double same_sum = .035;
    double sum = 0, other = 0;
    for (int ring = SECOND_RING; ring <= RINGS; ring++) {
        sum += mean_magnitude(image, ring);
        other += mean_magnitude(poorer, ring);
    }
    return quality_now(image) >= quality_now(poorer) + LEAST_BETTER &&
           fabs(sum - other) <= same_sum * sum;
}

/* The quality of an image beside the others of the same content: those that can be told. */
static uint8_t quality_beside(const struct doppel_candidate *candidates,
                              const struct doppel_image_look *looks, size_t count, size_t i)
{
    struct image_content image = image_content_of(&candidates[i], &looks[i]);
    uint8_t quality = worst_quality(&looks[i].origin);
    for (size_t j = 0; j < count && j < MOST_COMPARED; j++) {
        struct image_content other = image_content_of(&candidates[j], &looks[j]);
        if (is_measured(&looks[j]) && !looks[j].part && !looks[i].part &&
            looks[j].orientation == looks[i].orientation && image.pixels == other.pixels &&
            is_saved_again(&looks[i].origin, &looks[j].origin) &&
            worst_quality(&looks[j].origin) < quality)
            quality = worst_quality(&looks[j].origin);
    }
    return quality;
}

static void compare_qualities(struct doppel_candidate *candidates,
                              const struct doppel_image_look *looks, size_t count)
{
    const int same_quality = 4;
    int best = 0;
    for (size_t i = 0; i < count; i++) {
        candidates[i].quality =
            is_measured(&looks[i]) ? quality_beside(candidates, looks, count, i) : 0;
        best = candidates[i].quality > best ? candidates[i].quality : best;
    }
    for (size_t i = 0; i < count; i++) {
        bool good = candidates[i].quality && candidates[i].quality + same_quality >= best;
        uint8_t now = quality_now(&looks[i].origin);
        candidates[i].wasted_quality =
            good && candidates[i].quality < now ? (uint8_t)(now - candidates[i].quality) : 0;
        candidates[i].quality = good ? (uint8_t)best : candidates[i].quality;
    }
}

/* Where there are frames, what differs by so little is equal. */
static void level_contents(struct doppel_candidate *candidates, size_t count)
{
    uint64_t most = 0;
    bool framed = false;
    for (size_t i = 0; i < count; i++) {
        most = candidates[i].content_pixels > most ? candidates[i].content_pixels : most;
        framed |= candidates[i].share < 1;
    }
    for (size_t i = 0; i < count && framed; i++)
        if ((double)candidates[i].content_pixels > same_content * (double)most)
            candidates[i].content_pixels = most;
}

void doppel_candidates_compare_images(struct doppel_candidate *candidates,
                                      const struct doppel_image_look *looks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        candidates[i].taken_s = looks[i].origin.taken_s;
    compare_scenes(candidates, looks, count);
    compare_image_frames(candidates, looks, count);
    compare_scales(candidates, looks, count);
    level_contents(candidates, count);
    compare_orientations(candidates, looks, count);
    compare_overlays(candidates, looks, count);
    compare_qualities(candidates, looks, count);
}

/* ---- in a library ---- */

struct pictured {
    struct doppel_item item;
    struct doppel_image_features features; /* its fingerprint is the item's */
};

static bool load_picture(struct doppel_library *library, uint64_t id, struct pictured *out)
{
    if (doppel_library_get(library, id, true, &out->item, NULL))
        return false;
    const struct doppel_record *record = &out->item.record;
    return record->kind == DOPPEL_KIND_IMAGE && record->scheme == DOPPEL_SCHEME_PHASH64 &&
           record->fingerprint.code_bits == 256 &&
           doppel_record_image_features(record, &out->features);
}

void candidates_load_looks(struct doppel_library *library, const uint64_t ids[2],
                           struct doppel_candidate candidates[2])
{
    struct pictured a = {0}, b = {0};
    if (candidates[0].width && candidates[1].width && load_picture(library, ids[0], &a) &&
        load_picture(library, ids[1], &b)) {
        const struct doppel_image_look looks[] = {
            doppel_image_look_make(&a.features, candidates, &a.features, candidates),
            doppel_image_look_make(&b.features, &candidates[1], &a.features, candidates)};
        doppel_candidates_compare_images(candidates, looks, 2);
    }
    doppel_item_free(&a.item);
    doppel_item_free(&b.item);
}
