/* Archives of NumPy's arrays: which array is wanted, and its bytes, unpacked where they are packed.
 * Source: PKWARE's APPNOTE 6.3.10, sections 4.3 and 4.5.3 (Zip64); numpy.savez. */
#include <string.h>
#include <zlib.h>

#include "core/bytes.h"
#include "core/try.h"
#include "embed/brought/brought.h"

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    LONGEST_COMMENT = 65535,
    STORED = 0,
    DEFLATED = 8,
    OUT_BYTES = 1 << 16
};

static const uint32_t end_mark = 0x06054b50, end64_mark = 0x06064b50, locator_mark = 0x07064b50,
                      entry_mark = 0x02014b50, local_mark = 0x04034b50;

/* A part of the file. */
struct npz_part {
    const uint8_t *at;
    size_t size;
};

struct npz_entry {
    const char *name;
    size_t name_size;
    unsigned method;
    bool encrypted;
    uint32_t checksum;
    uint64_t packed, size, place;
};

static bool archive_part(const struct vector_map *file, uint64_t place, uint64_t size,
                         struct npz_part *out)
{
    if (place > file->size || size > file->size - place)
        return false;
    *out = (struct npz_part){file->bytes + place, (size_t)size};
    return true;
}

/* ---- the directory ---- */

/* The end of the archive, behind which there is but a comment; NULL: there is none. */
static const uint8_t *find_end(const struct vector_map *file)
{
    for (size_t back = END_BYTES; back <= END_BYTES + LONGEST_COMMENT && back <= file->size;
         back++) {
        const uint8_t *at = file->bytes + file->size - back;
        if (get_u32(at) == end_mark && get_u16(at + 20) == back - END_BYTES)
            return at;
    }
    return NULL;
}

static bool find_directory(const struct vector_map *file, struct npz_part *out)
{
    struct npz_part part;
    const uint8_t *end = find_end(file);
    if (!end)
        return false;
    const size_t place = (size_t)(end - file->bytes);
    if (place >= LOCATOR_BYTES && get_u32(end - LOCATOR_BYTES) == locator_mark)
        return archive_part(file, get_u64(end - LOCATOR_BYTES + 8), END64_BYTES, &part) &&
               get_u32(part.at) == end64_mark &&
               archive_part(file, get_u64(part.at + 48), get_u64(part.at + 40), out);
    return archive_part(file, get_u32(end + 16), get_u32(end + 12), out);
}

/* A number that has 64 bits where its 32 are all set. @return false: these are missing */
static bool take_wide(struct npz_part *extra, uint64_t *value)
{
    if (*value != UINT32_MAX)
        return true;
    if (extra->size < 8)
        return false;
    *value = get_u64(extra->at);
    extra->at += 8;
    extra->size -= 8;
    return true;
}

static bool take_zip64(struct npz_part extra, struct npz_entry *entry)
{
    struct npz_part wide = {0};
    while (extra.size >= 4) {
        const size_t size = get_u16(extra.at + 2);
        if (size > extra.size - 4)
            return false;
        if (get_u16(extra.at) == 1)
            wide = (struct npz_part){extra.at + 4, size};
        extra.at += 4 + size;
        extra.size -= 4 + size;
    }
    return take_wide(&wide, &entry->size) && take_wide(&wide, &entry->packed) &&
           take_wide(&wide, &entry->place);
}

/* The entry that comes next. @return false: it is damaged */
static bool take_archive_entry(struct npz_part *directory, struct npz_entry *out)
{
    const uint8_t *at = directory->at;
    if (directory->size < ENTRY_BYTES || get_u32(at) != entry_mark)
        return false;
    const size_t name = get_u16(at + 28), extra = get_u16(at + 30);
    const size_t size = ENTRY_BYTES + name + extra + get_u16(at + 32);
    if (size > directory->size)
        return false;
    *out = (struct npz_entry){.name = (const char *)at + ENTRY_BYTES,
                              .name_size = name,
                              .method = get_u16(at + 10),
                              .encrypted = get_u16(at + 8) & 1,
                              .checksum = get_u32(at + 16),
                              .packed = get_u32(at + 20),
                              .size = get_u32(at + 24),
                              .place = get_u32(at + 42)};
    directory->at += size;
    directory->size -= size;
    return take_zip64((struct npz_part){at + ENTRY_BYTES + name, extra}, out);
}

/* ---- which array ---- */

static bool is_array(const struct npz_entry *entry)
{
    return entry->name_size > 4 && memcmp(entry->name + entry->name_size - 4, ".npy", 4) == 0;
}

/* By its name, with or without ".npy"; NULL: any. */
static bool is_wanted(const struct npz_entry *entry, const char *name)
{
    const size_t size = name ? strlen(name) : 0;
    return is_array(entry) &&
           (!name || (size == entry->name_size && memcmp(entry->name, name, size) == 0) ||
            (size == entry->name_size - 4 && memcmp(entry->name, name, size) == 0));
}

static enum doppel_status choose_array(const struct vector_input *input, struct npz_part directory,
                                       struct npz_entry *out, struct doppel_error *error)
{
    struct npz_entry entry;
    size_t found = 0;
    while (directory.size) {
        if (!take_archive_entry(&directory, &entry))
            return doppel_fail(error, DOPPEL_E_CORRUPT,
                               "%s: the directory of the archive is damaged", input->path);
        if (!is_wanted(&entry, input->tensor))
            continue;
        if (found++)
            return doppel_fail(error, DOPPEL_E_ARGUMENT,
                               "%s: has several arrays, '%.*s' and '%.*s' among them: say which",
                               input->path, (int)(out->name_size < 60 ? out->name_size : 60),
                               out->name, (int)(entry.name_size < 60 ? entry.name_size : 60),
                               entry.name);
        *out = entry;
    }
    if (!found)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND, "%s: has no array '%s'", input->path,
                           input->tensor ? input->tensor : "*.npy");
    return DOPPEL_OK;
}

/* ---- its bytes ---- */

static bool find_packed(const struct vector_map *file, const struct npz_entry *entry,
                        struct npz_part *out)
{
    struct npz_part local;
    if (!archive_part(file, entry->place, LOCAL_BYTES, &local) || get_u32(local.at) != local_mark)
        return false;
    const uint64_t begin =
        entry->place + LOCAL_BYTES + get_u16(local.at + 26) + get_u16(local.at + 28);
    return archive_part(file, begin, entry->packed, out) &&
           (entry->method != STORED || entry->packed == entry->size);
}

static enum doppel_status inflate_part(const struct vector_input *input, z_stream *stream,
                                       struct npz_part packed, const struct npz_entry *entry,
                                       struct vector_spool *spool, struct doppel_error *error)
{
    uint8_t out[OUT_BYTES];
    uLong checksum = 0;
    int result = Z_OK;
    while (result == Z_OK) {
        if (!stream->avail_in) {
            stream->avail_in = packed.size < OUT_BYTES ? (uInt)packed.size : OUT_BYTES;
            stream->next_in = (Bytef *)packed.at;
            packed.at += stream->avail_in;
            packed.size -= stream->avail_in;
        }
        stream->next_out = out;
        stream->avail_out = sizeof out;
        result = inflate(stream, Z_NO_FLUSH);
        const size_t size = sizeof out - stream->avail_out;
        if (doppel_run_cancelled(input->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        if (size > entry->size - spool->size)
            break;
        checksum = crc32(checksum, out, (uInt)size);
        enum doppel_status status = vector_spool_put(spool, out, size, error);
        if (status)
            return status;
    }
    if (result != Z_STREAM_END || spool->size != entry->size || checksum != entry->checksum)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: '%.*s' cannot be unpacked: it is damaged",
                           input->path, (int)entry->name_size, entry->name);
    return DOPPEL_OK;
}

/* Unpack it into a file that takes the place of the archive. */
static enum doppel_status unpack_array(const struct vector_input *input, struct npz_part packed,
                                       const struct npz_entry *entry,
                                       struct doppel_vector_file *file, struct doppel_error *error)
{
    struct vector_spool spool = {0};
    struct vector_map unpacked = {0};
    z_stream stream = {0};
    enum doppel_status status;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to unpack %s", input->path);
    TRY(vector_spool_open(input->run, &spool, error));
    TRY(inflate_part(input, &stream, packed, entry, &spool, error));
    TRY(vector_spool_map(&spool, &unpacked, error));
    vector_map_free(&file->source);
    file->source = unpacked;
done:
    vector_spool_close(&spool);
    (void)inflateEnd(&stream);
    return status;
}

enum doppel_status read_npz(const struct vector_input *input, struct doppel_vector_file *file,
                            struct doppel_error *error)
{
    struct npz_part directory = {0}, packed = {0};
    struct npz_entry entry;
    enum doppel_status status;
    if (!find_directory(&file->source, &directory))
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT,
                        "%s: the directory of the archive is missing; it is cut short",
                        input->path));
    TRY(choose_array(input, directory, &entry, error));
    if (!find_packed(&file->source, &entry, &packed))
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "%s: '%.*s' lies outside of the archive",
                        input->path, (int)entry.name_size, entry.name));
    if (entry.encrypted || (entry.method != STORED && entry.method != DEFLATED))
        TRY(doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                        "%s: '%.*s' is %s; numpy.savez and savez_compressed do otherwise",
                        input->path, (int)entry.name_size, entry.name,
                        entry.encrypted ? "encrypted" : "packed by another method"));
    if (entry.method == DEFLATED) {
        TRY(unpack_array(input, packed, &entry, file, error));
        packed = (struct npz_part){file->source.bytes, file->source.size};
    }
    TRY(read_npy(input, packed.at, packed.size, file, error));
done:
    return status;
}
