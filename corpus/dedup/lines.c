/* The lines of records, once more: by their place in a plain file, as they were kept of what can be
 * read only once, and with all before them of a compressed file. */
#include "corpus/dedup/lines.h"

#include <stdlib.h>

#include "core/try.h"
#include "corpus/read/temporary.h"

static enum doppel_status make_room_to_read(struct line_loader *lines, size_t size,
                                            struct doppel_error *error)
{
    if (size + PARSE_SLACK <= lines->capacity)
        return DOPPEL_OK;
    char *grown = realloc(lines->line, size + PARSE_SLACK);
    if (!grown)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    lines->line = grown;
    lines->capacity = size + PARSE_SLACK;
    return DOPPEL_OK;
}

static enum doppel_status read_plain_line(struct line_loader *lines, uint32_t number,
                                          const struct facts *facts, struct doppel_error *error)
{
    const struct dedup *dedup = lines->dedup;
    const struct reread_part part = {facts->place, facts->size, lines->line, false};
    return reader_rewind(dedup->reader, file_of(dedup, number), &part, error);
}

static enum doppel_status read_kept_line(struct line_loader *lines, const struct facts *facts,
                                         struct doppel_error *error)
{
    const struct dedup *dedup = lines->dedup;
    uint64_t shingles = facts->flags & FACT_KEPT ? facts->shingles * sizeof(uint32_t) : 0;
    return temporary_read(dedup->folder, dedup->kept, lines->line, facts->size,
                          facts->place + shingles, error);
}

/* ---- compressed files ---- */

static enum doppel_status open_again(struct line_loader *lines, uint32_t file,
                                     struct doppel_error *error)
{
    if (lines->again && lines->file == file)
        return DOPPEL_OK;
    line_block_free(&lines->block);
    reader_free(lines->again);
    lines->again = NULL;
    lines->file = file;
    return reader_again(lines->dedup->reader, file, &lines->again, error);
}

static bool block_has(const struct line_block *block, const struct facts *facts)
{
    return facts->place >= block->offset && facts->place - block->offset <= block->size &&
           facts->size <= block->size - (facts->place - block->offset);
}

/* Read on to the block that has the line. One that is in none is too long, or no line: it has no
 * bytes that could be had. */
static enum doppel_status find_again(struct line_loader *lines, const struct facts *facts,
                                     struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (!block_has(&lines->block, facts) && !status) {
        if (lines->block.size && facts->place < lines->block.offset + lines->block.size)
            return DOPPEL_OK;
        reader_take_back(lines->again, &lines->block);
        status = reader_next(lines->again, &lines->block, error);
        if (!status && lines->block.damage.status == DOPPEL_E_CHANGED) {
            *error = lines->block.damage;
            status = DOPPEL_E_CHANGED;
        }
    }
    return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
}

static enum doppel_status read_again_to(struct line_loader *lines, uint32_t number,
                                        const struct facts *facts, const char **out,
                                        struct doppel_error *error)
{
    enum doppel_status status;
    TRY(open_again(lines, file_of(lines->dedup, number), error));
    TRY(find_again(lines, facts, error));
    bool found = lines->block.memory && block_has(&lines->block, facts);
    *out = found ? lines->block.bytes + (facts->place - lines->block.offset) : NULL;
done:
    return status;
}

/* ---- any ---- */

/* Of the row of an archive: kept, by the reader that it came from, or read again, by its block. */
static const struct row_layout *layout_of_row(const struct line_loader *lines, uint32_t number,
                                              const struct facts *facts)
{
    return facts->flags & FACT_AGAIN
               ? lines->block.layout
               : reader_archive_layout(lines->dedup->reader, file_of(lines->dedup, number));
}

static enum doppel_status row_as_line(struct line_loader *lines, const struct row_layout *layout,
                                      const char **line, size_t *size, struct doppel_error *error)
{
    json_line_clear(&lines->json);
    rows_to_json(layout, *line, *size, &lines->json);
    if (lines->json.failed)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    *line = lines->json.bytes;
    *size = lines->json.size - 1;
    return DOPPEL_OK;
}

enum doppel_status lines_get(struct line_loader *lines, uint32_t number, const char **out,
                             size_t *out_size, struct doppel_error *error)
{
    const struct facts *facts = dedup_facts_of(lines->dedup, number);
    enum doppel_status status = DOPPEL_OK;
    const char *line = NULL;
    if (!facts->size) { /* it stands for a file that cannot be read, or its end */
        *out = NULL;
        return DOPPEL_OK;
    }
    if (facts->flags & FACT_AGAIN) {
        TRY(read_again_to(lines, number, facts, &line, error));
    } else if (facts->flags & (FACT_PLAIN | FACT_LINE)) {
        TRY(make_room_to_read(lines, facts->size, error));
        TRY(facts->flags & FACT_PLAIN ? read_plain_line(lines, number, facts, error)
                                      : read_kept_line(lines, facts, error));
        line = lines->line;
    }
    *out_size = facts->size;
    const struct row_layout *layout = layout_of_row(lines, number, facts);
    if (line && is_archive_layout(layout))
        TRY(row_as_line(lines, layout, &line, out_size, error));
    *out = line;
done:
    return status;
}

void lines_free(struct line_loader *lines)
{
    line_block_free(&lines->block);
    reader_free(lines->again);
    json_line_free(&lines->json);
    free(lines->line);
}
