/* The file of pictures that may match: made, read, checked. What is wrong with it makes it one that
 * is not there. */
#include "library/derived/pairs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/digest.h"
#include "core/files/write_all.h"

enum {
    FORMAT_OF_PAIRS = 1,
    FILES_A_SCHEME = 4, /* of other options each; those written last */

    /* The head: magic, format, scheme and its version, options, how many pictures and pairs. */
    MAGIC_BYTES = 8,
    AT_FORMAT = 8,
    AT_SCHEME = 12,
    AT_VERSION = 14,
    AT_OPTIONS = 16,
    AT_IMAGES = 24,
    AT_PAIRS = 32,
    PAIRS_HEAD_BYTES = 40,
    ENTRY_BYTES = 16, /* two numbers of 8 bytes, of pictures and pairs alike */
    SUM_BYTES = 8     /* at the end: the checksum of all before */
};
static const char pairs_magic[MAGIC_BYTES + 1] = "doppelmp";

struct met_key met_key_of(const struct doppel_scheme *scheme,
                          const struct doppel_match_options *options)
{
    char text[256];
    uint64_t similarity;
    memcpy(&similarity, &options->min_similarity, sizeof similarity);
    int length =
        snprintf(text, sizeof text, "%s %d %d %d %d %016llx %d %.17g %llu", doppel_version(),
                 (int)scheme->id, (int)options->image.views, options->image.orientations,
                 (int)options->max_distance, (unsigned long long)similarity, options->check_pixels,
                 options->max_rate, (unsigned long long)doppel_image_compared(options->compared));
    return (struct met_key){scheme, checksum64(text, (size_t)length)};
}

/* ---- what is in it ---- */

static uint8_t *pair_bytes(const struct met_images *met)
{
    return met->bytes + PAIRS_HEAD_BYTES + met->image_count * ENTRY_BYTES;
}

struct met_image met_image_at(const struct met_images *met, uint64_t at)
{
    const uint8_t *bytes = met->bytes + PAIRS_HEAD_BYTES + at * ENTRY_BYTES;
    return (struct met_image){get_u64(bytes), get_u64(bytes + 8)};
}

struct doppel_image_pair met_pair_at(const struct met_images *met, uint64_t at)
{
    const uint8_t *bytes = pair_bytes(met) + at * ENTRY_BYTES;
    return (struct doppel_image_pair){get_u64(bytes), get_u64(bytes + 8)};
}

static uint8_t *put_entry(uint8_t *out, uint64_t a, uint64_t b)
{
    put_u64(out, a);
    put_u64(out + 8, b);
    return out + ENTRY_BYTES;
}

static bool is_kept(const uint8_t *kept, uint64_t at)
{
    return kept[at / 8] >> at % 8 & 1;
}

bool met_keeps(const struct met_images *met, const uint8_t *kept, uint64_t id)
{
    uint64_t low = 0, high = met->image_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (met_image_at(met, middle).id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < met->image_count && met_image_at(met, low).id == id && is_kept(kept, low);
}

static bool keeps_pair(const struct met_images *met, const uint8_t *kept,
                       struct doppel_image_pair pair)
{
    return met_keeps(met, kept, pair.a) && met_keeps(met, kept, pair.b);
}

/* The former ones that stay, and the new ones, in order of id. @return behind them */
static uint8_t *put_images(const struct met_content *content, uint8_t *out)
{
    const met_image_array *images = content->images;
    size_t next = 0;
    for (uint64_t at = 0; at < content->former->image_count; at++) {
        const struct met_image old = met_image_at(content->former, at);
        if (!is_kept(content->kept, at))
            continue;
        for (; next < images->count && images->items[next].id < old.id; next++)
            out = put_entry(out, images->items[next].id, images->items[next].sum);
        out = put_entry(out, old.id, old.sum);
    }
    for (; next < images->count; next++)
        out = put_entry(out, images->items[next].id, images->items[next].sum);
    return out;
}

static uint8_t *put_pairs(const struct met_content *content, uint8_t *out)
{
    for (uint64_t i = 0; i < content->former->pair_count; i++) {
        const struct doppel_image_pair pair = met_pair_at(content->former, i);
        if (keeps_pair(content->former, content->kept, pair))
            out = put_entry(out, pair.a, pair.b);
    }
    for (size_t i = 0; i < content->pair_count; i++)
        out = put_entry(out, content->pairs[i].a, content->pairs[i].b);
    return out;
}

enum doppel_status met_images_make(const struct met_key *key, const struct met_content *content,
                                   struct met_images *out, struct doppel_error *error)
{
    const uint64_t most = content->former->image_count + content->images->count +
                          content->former->pair_count + content->pair_count;
    uint8_t *bytes = malloc(PAIRS_HEAD_BYTES + most * ENTRY_BYTES + SUM_BYTES);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for which pictures match");
    const uint8_t *images = bytes + PAIRS_HEAD_BYTES;
    uint8_t *pairs = put_images(content, bytes + PAIRS_HEAD_BYTES);
    uint8_t *end = put_pairs(content, pairs);
    struct met_images made = {.bytes = bytes,
                              .size = (size_t)(end - bytes) + SUM_BYTES,
                              .image_count = (uint64_t)(pairs - images) / ENTRY_BYTES,
                              .pair_count = (uint64_t)(end - pairs) / ENTRY_BYTES};
    memcpy(bytes, pairs_magic, MAGIC_BYTES);
    put_u32(bytes + AT_FORMAT, FORMAT_OF_PAIRS);
    put_u16(bytes + AT_SCHEME, (uint16_t)key->scheme->id);
    put_u16(bytes + AT_VERSION, key->scheme->version);
    put_u64(bytes + AT_OPTIONS, key->options);
    put_u64(bytes + AT_IMAGES, made.image_count);
    put_u64(bytes + AT_PAIRS, made.pair_count);
    put_u64(end, checksum64(bytes, made.size - SUM_BYTES));
    *out = made;
    return DOPPEL_OK;
}

/* ---- reading ---- */

static bool has_size_of_counts(const struct met_images *met)
{
    const uint64_t most = met->size / ENTRY_BYTES;
    return met->image_count <= most && met->pair_count <= most &&
           PAIRS_HEAD_BYTES + (met->image_count + met->pair_count) * ENTRY_BYTES + SUM_BYTES ==
               met->size;
}

static enum doppel_status read_met_head(struct met_images *met)
{
    if (met->size < PAIRS_HEAD_BYTES + SUM_BYTES ||
        memcmp(met->bytes, pairs_magic, MAGIC_BYTES) != 0)
        return DOPPEL_E_CORRUPT;
    if (get_u32(met->bytes + AT_FORMAT) != FORMAT_OF_PAIRS)
        return DOPPEL_E_VERSION;
    met->image_count = get_u64(met->bytes + AT_IMAGES);
    met->pair_count = get_u64(met->bytes + AT_PAIRS);
    if (!has_size_of_counts(met) || checksum64(met->bytes, met->size - SUM_BYTES) !=
                                        get_u64(met->bytes + met->size - SUM_BYTES))
        return DOPPEL_E_CORRUPT;
    return DOPPEL_OK;
}

static enum doppel_status map_met_images(const char *path, struct met_images *out)
{
    struct stat status;
    enum doppel_status state = DOPPEL_E_CORRUPT;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *out = (struct met_images){0};
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED)
            *out =
                (struct met_images){.bytes = bytes, .size = (size_t)status.st_size, .mapped = true};
    }
    if (fd >= 0)
        close(fd);
    if (out->bytes)
        state = read_met_head(out);
    if (state)
        met_images_free(out);
    return state;
}

void met_images_free(struct met_images *met)
{
    if (met->mapped)
        munmap(met->bytes, met->size);
    else
        free(met->bytes);
    *met = (struct met_images){0};
}

/* ---- its place ---- */

/* @return given (sqlite3_free); NULL without memory */
static char *pairs_folder(const char *directory, const struct doppel_scheme *scheme)
{
    return sqlite3_mprintf("%s/%s-pairs", directory, scheme->name);
}

static char *pairs_path(const char *directory, const struct met_key *key)
{
    return sqlite3_mprintf("%s/%s-pairs/%016llx.pairs", directory, key->scheme->name,
                           (sqlite3_uint64)key->options);
}

static bool is_of_key(const struct met_images *met, const struct met_key *key)
{
    return get_u16(met->bytes + AT_SCHEME) == key->scheme->id &&
           get_u16(met->bytes + AT_VERSION) == key->scheme->version &&
           get_u64(met->bytes + AT_OPTIONS) == key->options;
}

void met_images_open(const char *directory, const struct met_key *key, struct met_images *out)
{
    char *path = pairs_path(directory, key);
    *out = (struct met_images){0};
    if (path && !map_met_images(path, out) && !is_of_key(out, key))
        met_images_free(out);
    sqlite3_free(path);
}

/* ---- writing ---- */

static bool is_name_of_pairs(const char *name)
{
    return strspn(name, "0123456789abcdef") == 16 && strcmp(name + 16, ".pairs") == 0;
}

/* The file that was written before all others goes when there are too many. */
static void remove_oldest(const char *folder)
{
    struct stat status;
    char oldest[NAME_MAX + 1] = "";
    struct timespec first = {0};
    size_t count = 0;
    DIR *files = opendir(folder);
    for (struct dirent *entry; files && (entry = readdir(files));) {
        if (!is_name_of_pairs(entry->d_name) ||
            fstatat(dirfd(files), entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
            continue;
        const struct timespec *time = &status.st_mtim;
        if (!count++ || time->tv_sec < first.tv_sec ||
            (time->tv_sec == first.tv_sec && time->tv_nsec < first.tv_nsec)) {
            first = *time;
            snprintf(oldest, sizeof oldest, "%s", entry->d_name);
        }
    }
    if (count > FILES_A_SCHEME)
        (void)unlinkat(dirfd(files), oldest, 0);
    if (files)
        closedir(files);
}

/* It need not be on the disk before it has its name: a file that is not whole is none.
 * @return 0, or errno */
static int write_beside(const struct met_images *met, char *temporary, const char *path)
{
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return errno;
    int reason = write_all(fd, met->bytes, met->size) ? 0 : errno;
    if (close(fd) && !reason)
        reason = errno;
    if (!reason && rename(temporary, path))
        reason = errno;
    if (reason)
        (void)unlink(temporary);
    return reason;
}

enum doppel_status met_images_write(const char *directory, const struct met_key *key,
                                    const struct met_images *met, struct doppel_error *error)
{
    enum { PRIVATE_FOLDER = 0700 };
    char *folder = pairs_folder(directory, key->scheme), *path = pairs_path(directory, key);
    char *temporary = folder ? sqlite3_mprintf("%s/unfinished-XXXXXX", folder) : NULL;
    int reason = ENOMEM;
    if (path && temporary) {
        reason = mkdir(folder, PRIVATE_FOLDER) && errno != EEXIST ? errno : 0;
        if (!reason)
            reason = write_beside(met, temporary, path);
        if (!reason)
            remove_oldest(folder);
    }
    sqlite3_free(temporary);
    sqlite3_free(path);
    sqlite3_free(folder);
    if (!reason || reason == EACCES || reason == EPERM || reason == EROFS)
        return DOPPEL_OK;
    return doppel_fail(
        error, reason == ENOMEM ? DOPPEL_E_MEMORY : DOPPEL_E_IO,
        "%s: which pictures match cannot be kept, and 'groups' will compare them all "
        "again: %s",
        directory, strerror(reason));
}

/* ---- all of them ---- */

/* Ids of pictures ascend; both of a pair are among them. */
static bool is_consistent(const struct met_images *met)
{
    uint8_t *all = malloc(met->image_count / 8 + 1);
    bool good = all != NULL;
    if (all)
        memset(all, 0xff, met->image_count / 8 + 1);
    for (uint64_t i = 1; i < met->image_count && good; i++)
        good = met_image_at(met, i - 1).id < met_image_at(met, i).id;
    for (uint64_t i = 0; i < met->pair_count && good; i++)
        good = keeps_pair(met, all, met_pair_at(met, i));
    free(all);
    return good;
}

static enum doppel_status state_of_met(const struct met_images *met)
{
    const struct doppel_scheme *scheme =
        doppel_scheme_by_id((enum doppel_scheme_id)get_u16(met->bytes + AT_SCHEME));
    if (!scheme || scheme->version != get_u16(met->bytes + AT_VERSION))
        return DOPPEL_E_VERSION;
    return is_consistent(met) ? DOPPEL_OK : DOPPEL_E_CORRUPT;
}

static enum doppel_status visit_pairs_file(const char *folder, const char *name,
                                           met_images_visitor *visitor, void *context,
                                           struct doppel_error *error)
{
    struct met_images met;
    char *path = sqlite3_mprintf("%s/%s", folder, name);
    if (!path)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", folder);
    enum doppel_status state =
        is_name_of_pairs(name) ? map_met_images(path, &met) : DOPPEL_E_NOT_FOUND;
    if (!state) {
        state = state_of_met(&met);
        met_images_free(&met);
    }
    if (!visitor(context, path, state))
        (void)unlink(path);
    sqlite3_free(path);
    return DOPPEL_OK;
}

static enum doppel_status visit_pairs_folder(const char *folder, met_images_visitor *visitor,
                                             void *context, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    DIR *files = opendir(folder);
    for (struct dirent *entry; files && !status && (entry = readdir(files));)
        if (entry->d_name[0] != '.')
            status = visit_pairs_file(folder, entry->d_name, visitor, context, error);
    if (files)
        closedir(files);
    return status;
}

enum doppel_status met_images_each(const char *directory, met_images_visitor *visitor,
                                   void *context, struct doppel_error *error)
{
    static const enum doppel_scheme_id schemes[] = {DOPPEL_SCHEME_PHASH64, DOPPEL_SCHEME_PHASH256,
                                                    DOPPEL_SCHEME_IMAGEHASH, DOPPEL_SCHEME_PDQ};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes && !status; i++) {
        char *folder = pairs_folder(directory, doppel_scheme_by_id(schemes[i]));
        status = folder ? visit_pairs_folder(folder, visitor, context, error)
                        : doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", directory);
        sqlite3_free(folder);
    }
    return status;
}
