/* Reading what the parts of the stage "join" wrote, cell by cell. */
#include <stdlib.h>

#include "core/try.h"
#include "corpus/stages/stage_file.h"

struct joined_visit {
    const struct dedup *dedup; /* its bands */
    uint32_t records;
    joined_cell_visitor *visitor;
    void *context;
};

static bool visit_cells(const struct joined_visit *visit, const uint32_t *words, size_t count)
{
    size_t at = visit->dedup->bands;
    if (count < at)
        return false;
    for (uint32_t band = 0; band < visit->dedup->bands; band++)
        for (uint32_t i = 0; i < words[band]; i++, at += 2)
            if (count - at < 2 || words[at] >= visit->records || words[at + 1] >= words[at] ||
                !visit->visitor(visit->context, words[at], band, words[at + 1]))
                return false;
    return at == count;
}

static enum doppel_status visit_joined_part(const struct doppel_stages *stages,
                                            const struct joined_visit *visit,
                                            struct doppel_stage_part part,
                                            struct doppel_error *error)
{
    struct stage_file file;
    struct stage_bytes bytes = {0};
    size_t count;
    enum doppel_status status = stage_file_open(stages, DOPPEL_STAGE_JOIN, part, 0, &file, error);
    if (status)
        return status;
    if (file.head.records != visit->records ||
        file.head.sections != fences_of_part(part).to - fences_of_part(part).from)
        TRY(stage_file_is_odd(&file, error));
    for (uint32_t i = 0; i < file.head.sections; i++) {
        TRY(stage_file_read_rows(&file, i, sizeof(uint32_t), &bytes, &count, error));
        if (!visit_cells(visit, (const uint32_t *)(const void *)bytes.items, count))
            TRY(stage_file_is_odd(&file, error));
        chunked_let_go(&visit->dedup->cells);
    }
done:
    free(bytes.items);
    stage_file_close(&file);
    return status;
}

enum doppel_status joined_visit(const struct doppel_stages *stages, const struct dedup *dedup,
                                uint32_t records, joined_cell_visitor *visitor, void *context,
                                struct doppel_error *error)
{
    const struct joined_visit visit = {dedup, records, visitor, context};
    uint32_t parts;
    enum doppel_status status;
    TRY(stages_parts_of(stages, DOPPEL_STAGE_JOIN, &parts, error));
    for (uint32_t i = 0; i < parts; i++) {
        TRY(visit_joined_part(stages, &visit, (struct doppel_stage_part){i + 1, parts}, error));
        if (!dedup_goes_on(dedup, "parts read", i + 1, parts))
            TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted: the stage was not done"));
    }
done:
    return status;
}
