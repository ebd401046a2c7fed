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

/* ---- what images show ---- */

/* A frame is found to a row of a plane of about 192, on both sides: what differs by less is equal.
 */
static const double SAME_CONTENT = .96;

void doppel_candidates_compare_contents(struct doppel_candidate *candidates, const double *shares,
                                        size_t count)
{
    uint64_t most = 0;
    double widest = 0;
    for (size_t i = 0; i < count; i++) {
        struct doppel_candidate *candidate = &candidates[i];
        candidate->content_pixels =
            (uint64_t)(shares[i] * (double)candidate->width * (double)candidate->height);
        most = candidate->content_pixels > most ? candidate->content_pixels : most;
        widest = shares[i] > widest ? shares[i] : widest;
    }
    for (size_t i = 0; i < count; i++) {
        if ((double)candidates[i].content_pixels > SAME_CONTENT * (double)most)
            candidates[i].content_pixels = most;
        candidates[i].framed = shares[i] < SAME_CONTENT * widest;
    }
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

static int compare_images(const struct doppel_candidate *a, const struct doppel_candidate *b)
{
    int order = more_first(content_pixels(a), content_pixels(b));
    if (!order)
        order = a->framed - b->framed;
    return order ? order : a->turned - b->turned;
}

static int compare_by(enum doppel_keep criterion, const struct doppel_candidate *a,
                      const struct doppel_candidate *b)
{
    switch (criterion) {
    case DOPPEL_KEEP_AUTHORITY:
        return larger_first(a->authority, b->authority);
    case DOPPEL_KEEP_RESOLUTION:
        return compare_images(a, b);
    case DOPPEL_KEEP_DURATION:
        return more_first(a->duration_ms, b->duration_ms);
    case DOPPEL_KEEP_SIZE:
        return larger_first(a->size, b->size);
    case DOPPEL_KEEP_DATE:
        return larger_first(b->mtime_ns, a->mtime_ns);
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
