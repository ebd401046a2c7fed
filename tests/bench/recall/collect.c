/* Walks the folders; makes, writes, reads and fingerprints the edits in parallel. */
#include "collect.h"

#include <fcntl.h>
#include <fts.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doppel/media.h>

#include "edits.h"

/* ---- the list ---- */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct subject *)a)->path, ((const struct subject *)b)->path);
}

static uint64_t name_hash(const char *name)
{
    return random_seeded(0, name, "half").state;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = name_hash(((const struct subject *)a)->name);
    uint64_t y = name_hash(((const struct subject *)b)->name);
    return x < y ? -1 : x > y;
}

static void add_subject(struct collection *list, const char *path)
{
    list->subjects = realloc(list->subjects, (list->count + 1) * sizeof *list->subjects);
    struct subject *subject = &list->subjects[list->count++];
    *subject = (struct subject){.path = strdup(path)};
    const char *slash = strrchr(subject->path, '/');
    subject->name = slash ? slash + 1 : subject->path;
    subject->held = name_hash(subject->name) >> 40 & 1;
}

static void walk(char *const *folders, struct collection *list)
{
    FTS *tree = fts_open(folders, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; tree && (entry = fts_read(tree));)
        if (entry->fts_info == FTS_F)
            add_subject(list, entry->fts_path);
    if (tree)
        fts_close(tree);
}

static void keep_some(struct collection *list, size_t limit)
{
    if (limit == 0 || list->count <= limit)
        return;
    qsort(list->subjects, list->count, sizeof *list->subjects, by_hash);
    while (list->count > limit)
        free(list->subjects[--list->count].path);
}

/* ---- the work ---- */

static bool features_of(int fd, struct doppel_image_features *out)
{
    struct doppel_luma luma;
    if (fd < 0 || doppel_media_read_luma(fd, NULL, &luma, NULL) != DOPPEL_OK)
        return false;
    bool ok = doppel_image_features(&luma.plane, out, NULL) == DOPPEL_OK;
    doppel_luma_free(&luma);
    return ok;
}

static bool features_of_file(const char *path, struct doppel_image_features *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = features_of(fd, out);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool features_of_image(const struct image *image, const struct encoding *encoding,
                       struct doppel_image_features *out)
{
    struct bytes bytes = image_encode(image, encoding);
    int fd = memfd_create("edit", MFD_CLOEXEC);
    bool ok = fd >= 0 && bytes.size > 0 && write(fd, bytes.data, bytes.size) == (ssize_t)bytes.size;
    ok = ok && features_of(fd, out);
    if (fd >= 0)
        close(fd);
    free(bytes.data);
    return ok;
}

static void save_sample(const struct image *image, int edit, const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%02d-%s.png", folder, edit, edits[edit].name);
    image_save_png(image, path);
}

/* An edit that cannot be read keeps an empty fingerprint: it counts as not found. */
static void make_edits(struct subject *subject, const struct image *image, uint64_t seed,
                       const char *samples)
{
    for (int i = 0; i < edit_count; i++) {
        struct random random = random_seeded(seed, subject->name, edits[i].name);
        struct encoding encoding = {ENCODE_JPEG, 82 + random_below(&random, 13)};
        struct image edited = edits[i].apply(image, &random, &encoding);
        if (!features_of_image(&edited, &encoding, &subject->edits[i]))
            fprintf(stderr, "%s: edit %s cannot be read\n", subject->path, edits[i].name);
        if (samples)
            save_sample(&edited, i, samples);
        image_free(&edited);
    }
}

static void make_alike(struct subject *subject, const struct image *image, uint64_t seed)
{
    for (int i = 0; i < alike_count; i++) {
        struct random random = random_seeded(seed, "alike", alike_edits[i].name);
        struct encoding encoding = {ENCODE_JPEG, 90};
        struct image edited = alike_edits[i].apply(image, &random, &encoding);
        features_of_image(&edited, &encoding, &subject->alike[i]);
        image_free(&edited);
    }
}

static void process(struct subject *subject, const struct collect_options *options,
                    const char *samples)
{
    if (!features_of_file(subject->path, &subject->original))
        return;
    subject->gated = subject->original.quality < DOPPEL_IMAGE_MIN_QUALITY;
    if (options->originals_only) {
        subject->readable = true;
        return;
    }
    struct image image = image_load(subject->path, COLLECT_MAX_SIDE);
    if (image.pixels && image.width >= COLLECT_MIN_SIDE && image.height >= COLLECT_MIN_SIDE) {
        subject->readable = true;
        subject->edits = calloc((size_t)edit_count, sizeof *subject->edits);
        subject->alike = calloc((size_t)alike_count, sizeof *subject->alike);
        make_edits(subject, &image, options->seed, samples);
        make_alike(subject, &image, options->seed);
    }
    image_free(&image);
}

struct crew {
    struct collection *list;
    const struct collect_options *options;
    atomic_size_t next;
};

static void *work(void *context)
{
    struct crew *crew = context;
    for (size_t i; (i = atomic_fetch_add(&crew->next, 1)) < crew->list->count;) {
        process(&crew->list->subjects[i], crew->options, i == 0 ? crew->options->samples : NULL);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r%zu of %zu originals ", i + 1, crew->list->count);
    }
    return NULL;
}

struct collection collect(char *const *folders, const struct collect_options *options)
{
    struct collection list = {0};
    walk(folders, &list);
    keep_some(&list, options->limit);
    qsort(list.subjects, list.count, sizeof *list.subjects, by_path);
    struct crew crew = {.list = &list, .options = options};
    pthread_t threads[64];
    unsigned count = options->jobs < 64 ? options->jobs : 64;
    for (unsigned i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, &crew);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return list;
}

void collection_free(struct collection *collection)
{
    for (size_t i = 0; i < collection->count; i++) {
        struct subject *subject = &collection->subjects[i];
        for (int e = 0; subject->edits && e < edit_count; e++)
            doppel_fingerprint_free(&subject->edits[e].fingerprint);
        for (int e = 0; subject->alike && e < alike_count; e++)
            doppel_fingerprint_free(&subject->alike[e].fingerprint);
        free(subject->edits);
        free(subject->alike);
        doppel_fingerprint_free(&subject->original.fingerprint);
        free(subject->path);
    }
    free(collection->subjects);
    *collection = (struct collection){0};
}
