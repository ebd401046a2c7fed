/* Files of records that are no lines, as a stream of rows. */
#include "corpus/read/archive.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"

static const struct archive_format *const formats[] = {&warc_format, &parquet_format,
                                                       &arrow_format};

struct archive {
    const struct archive_format *format;
    void *state;
    struct corpus_source *source;
    struct row_layout *layout; /* until it is given */
    struct row_writer rows;    /* that are given now */
    size_t given;              /* bytes of them */
    struct doppel_error failure;
};

static const struct archive_format *format_of_bytes(const char *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i]->begins(bytes, size))
            return formats[i];
    return NULL;
}

bool archive_begins(const char *bytes, size_t size)
{
    return format_of_bytes(bytes, size) != NULL;
}

enum doppel_status archive_new(const struct archive_input *input, struct archive **out,
                               struct doppel_error *error)
{
    enum doppel_status status;
    struct archive *archive = calloc(1, sizeof *archive);
    if (!archive)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read a corpus");
    archive->format = format_of_bytes(input->begun, input->begun_size);
    archive->source = input->source;
    archive->rows.most = input->max_bytes;
    TRY(archive->format->open(input, &archive->state, &archive->layout, error));
    *out = archive;
    return DOPPEL_OK;
done:
    archive_free(archive);
    return status;
}

void archive_free(struct archive *archive)
{
    if (!archive)
        return;
    if (archive->state)
        archive->format->free(archive->state);
    row_layout_free(archive->layout);
    row_writer_free(&archive->rows);
    free(archive);
}

struct row_layout *archive_give_layout(struct archive *archive)
{
    struct row_layout *layout = archive->layout;
    archive->layout = NULL;
    return layout;
}

uint64_t archive_bytes_read(const struct archive *archive)
{
    return archive->format->bytes_read ? archive->format->bytes_read(archive->state)
                                       : source_bytes_read(archive->source);
}

/* The next rows, or the failure that stands behind the last ones. */
static enum doppel_status next_rows(struct archive *archive, struct doppel_error *error)
{
    struct doppel_error *failure = &archive->failure;
    archive->given = archive->rows.size = 0;
    if (!failure->status)
        failure->status = archive->format->rows(archive->state, &archive->rows, failure);
    if (archive->rows.failed)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a row");
    if (archive->rows.size || !failure->status)
        return DOPPEL_OK;
    return doppel_fail(error, failure->status, "%s", failure->message);
}

enum doppel_status archive_read(struct archive *archive, char *buffer, size_t size,
                                size_t *out_size, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    *out_size = 0;
    if (archive->given == archive->rows.size)
        TRY(next_rows(archive, error));
    size_t left = archive->rows.size - archive->given;
    *out_size = left < size ? left : size;
    if (*out_size)
        memcpy(buffer, archive->rows.bytes + archive->given, *out_size);
    archive->given += *out_size;
done:
    return status;
}
