/* Which member of a group is kept: by criteria, in the order that a policy gives them. */
#include <doppel/library.h>

#include <string.h>

static const char *const names[DOPPEL_KEEP_CRITERIA] = {
    "authority", "resolution", "duration", "size", "date", "depth", "name"};

const char *doppel_keep_name(enum doppel_keep criterion)
{
    size_t index = (size_t)criterion;
    return index < DOPPEL_KEEP_CRITERIA ? names[index] : "order";
}

/* ---- policies ---- */

struct doppel_keep_policy doppel_keep_policy_default(void)
{
    struct doppel_keep_policy policy = {.count = DOPPEL_KEEP_CRITERIA};
    for (uint8_t i = 0; i < policy.count; i++)
        policy.criteria[i] = i;
    return policy;
}

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* Also by the words that others have for it. */
static uint8_t criterion_of(const char *text, size_t length)
{
    static const struct {
        const char *word;
        uint8_t criterion;
    } words[] = {{"biggest", DOPPEL_KEEP_SIZE},
                 {"largest", DOPPEL_KEEP_SIZE},
                 {"oldest", DOPPEL_KEEP_DATE},
                 {"longest", DOPPEL_KEEP_DURATION}};
    uint8_t i = 0;
    for (size_t j = 0; j < sizeof words / sizeof *words; j++)
        if (is_name(words[j].word, text, length))
            return words[j].criterion;
    while (i < DOPPEL_KEEP_CRITERIA && !is_name(names[i], text, length))
        i++;
    return i;
}

enum doppel_status doppel_keep_policy_parse(const char *text, struct doppel_keep_policy *out,
                                            struct doppel_error *error)
{
    struct doppel_keep_policy policy = {0};
    for (const char *from = text;; from++) {
        size_t length = strcspn(from, ",");
        uint8_t criterion = criterion_of(from, length);
        if (criterion == DOPPEL_KEEP_CRITERIA)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "'%.*s' is nothing to keep by; there are authority, resolution, "
                               "duration, size, date, depth and name",
                               (int)(length < 40 ? length : 40), from);
        if (memchr(policy.criteria, criterion, policy.count))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "'%s' is there twice", names[criterion]);
        policy.criteria[policy.count++] = criterion;
        from += length;
        if (!*from)
            break;
    }
    *out = policy;
    return DOPPEL_OK;
}

/* ---- comparing ---- */

static int more_first(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int larger_first(int64_t a, int64_t b)
{
    return a > b ? -1 : a < b;
}

static size_t count_slashes(const char *path)
{
    size_t count = 0;
    for (; *path; path++)
        count += *path == '/';
    return count;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static uint64_t content_pixels(const struct doppel_candidate *candidate)
{
    return candidate->content_pixels ? candidate->content_pixels
                                     : (uint64_t)candidate->width * candidate->height;
}

/* What the signs of a copy are called, the first that tells two images apart decides. */
enum image_sign {
    CROPPED,
    MORE_PIXELS,
    UPSCALED,
    FRAMED,
    TURNED,
    OVERLAID,
    BLURRED,
    COMPRESSED,
    IMAGE_SIGNS
};

static const char *const sign_names[IMAGE_SIGNS] = {
    "crop", "resolution", "upscaled", "frame", "orientation", "overlay", "blur", "compression"};

static int compare_sign(enum image_sign sign, const struct doppel_candidate *a,
                        const struct doppel_candidate *b)
{
    switch (sign) {
    case CROPPED:
        return a->cropped - b->cropped;
    case MORE_PIXELS:
        return more_first(content_pixels(a), content_pixels(b));
    case UPSCALED:
        return a->upscaled - b->upscaled;
    case FRAMED:
        return a->framed - b->framed;
    case TURNED:
        return a->turned - b->turned;
    case OVERLAID:
        return a->overlaid - b->overlaid;
    case BLURRED:
        return a->blurred - b->blurred;
    default:
        return a->quality != b->quality ? more_first(a->quality, b->quality)
                                        : a->wasted_quality - b->wasted_quality;
    }
}

/* @param out_sign the one that decided, IMAGE_SIGNS: none */
static int compare_images(const struct doppel_candidate *a, const struct doppel_candidate *b,
                          enum image_sign *out_sign)
{
    int order = 0;
    unsigned sign = 0;
    while (sign < IMAGE_SIGNS && !(order = compare_sign((enum image_sign)sign, a, b)))
        sign++;
    *out_sign = (enum image_sign)sign;
    return order;
}

/* When it was taken, as a file's date; a damaged library may say any number. */
static int64_t date_of_candidate(const struct doppel_candidate *candidate)
{
    const int64_t second = 1000000000, most = INT64_MAX / second, taken_s = candidate->taken_s;
    bool known = taken_s && taken_s < most && taken_s > -most;
    return known ? taken_s * second : candidate->mtime_ns;
}

/* Of those taken at the same time the older file. */
static int compare_dates(const struct doppel_candidate *a, const struct doppel_candidate *b)
{
    int64_t first = date_of_candidate(a), other = date_of_candidate(b);
    return first != other ? larger_first(other, first) : larger_first(b->mtime_ns, a->mtime_ns);
}

static int compare_by(enum doppel_keep criterion, const struct doppel_candidate *a,
                      const struct doppel_candidate *b)
{
    enum image_sign sign;
    switch (criterion) {
    case DOPPEL_KEEP_AUTHORITY:
        return larger_first(a->authority, b->authority);
    case DOPPEL_KEEP_RESOLUTION:
        return compare_images(a, b, &sign);
    case DOPPEL_KEEP_DURATION:
        return more_first(a->duration_ms, b->duration_ms);
    case DOPPEL_KEEP_SIZE:
        return larger_first(a->size, b->size);
    case DOPPEL_KEEP_DATE:
        return compare_dates(a, b);
    case DOPPEL_KEEP_DEPTH:
        return more_first(count_slashes(b->path), count_slashes(a->path));
    case DOPPEL_KEEP_NAME: /* "photo.jpg" rather than "photo (1).jpg" or "photo copy.jpg" */
        return more_first(strlen(base_name(b->path)), strlen(base_name(a->path)));
    default:
        return 0;
    }
}

int doppel_keep_compare(const struct doppel_keep_policy *policy, const struct doppel_candidate *a,
                        const struct doppel_candidate *b, enum doppel_keep *out_by)
{
    int order = 0;
    size_t i = 0;
    while (i < policy->count && !(order = compare_by(policy->criteria[i], a, b)))
        i++;
    if (out_by)
        *out_by = order ? policy->criteria[i] : DOPPEL_KEEP_CRITERIA;
    return order ? order : strcmp(a->path, b->path);
}

const char *doppel_keep_reason(const struct doppel_keep_policy *policy,
                               const struct doppel_candidate *a, const struct doppel_candidate *b)
{
    enum doppel_keep by;
    enum image_sign sign = IMAGE_SIGNS;
    doppel_keep_compare(policy, a, b, &by);
    if (by == DOPPEL_KEEP_RESOLUTION)
        compare_images(a, b, &sign);
    return sign < IMAGE_SIGNS ? sign_names[sign] : doppel_keep_name(by);
}
