/* Batches of Arrow: their bodies, of which the wanted buffers are read and unpacked. */
#include "corpus/read/arrow/batch.h"

#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "core/array.h"
#include "core/try.h"

enum { MOST_EMPTY_ROWS = 1 << 24 }; /* of columns without a byte */

enum { CODEC_LZ4 = 0, CODEC_ZSTD = 1, PLAIN = -1 };

enum doppel_status arrow_is_damaged(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CORRUPT, "the Arrow data is damaged; the rest is not read");
}

static enum doppel_status no_arrow_memory(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read Arrow");
}

/* ---- input ---- */

enum doppel_status arrow_input_read(struct arrow_input *input, void *bytes, size_t size,
                                    bool *out_ended, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    size_t left = input->end - input->at, done = left < size ? left : size;
    memcpy(bytes, input->begun + input->at, done);
    input->at += done;
    while (done < size) {
        size_t got = 0;
        TRY(source_read(input->source, (char *)bytes + done, size - done, &got, error));
        if (!got && !done && out_ended) {
            *out_ended = true;
            return DOPPEL_OK;
        }
        if (!got)
            return doppel_fail(error, DOPPEL_E_CORRUPT,
                               "the Arrow data is cut short; fetch it again (what was whole is "
                               "read)");
        done += got;
    }
done:
    return status;
}

enum doppel_status arrow_input_pass_over(struct arrow_input *input, uint64_t size,
                                         struct doppel_error *error)
{
    enum { PIECE = 1 << 14 };
    char bytes[PIECE];
    enum doppel_status status = DOPPEL_OK;
    for (size_t some; size; size -= some) {
        some = size < PIECE ? (size_t)size : PIECE;
        TRY(arrow_input_read(input, bytes, some, NULL, error));
    }
done:
    return status;
}

void arrow_input_free(struct arrow_input *input)
{
    free(input->begun);
    free(input->packed);
}

/* ---- buffers ---- */

/* Room for a buffer, of the bytes that all together may have. What it held is lost. */
static enum doppel_status make_arrow_room(struct arrow_input *input, uint8_t **bytes,
                                          size_t *capacity, uint64_t size,
                                          struct doppel_error *error)
{
    if (size <= *capacity && *bytes)
        return DOPPEL_OK;
    free(*bytes);
    *bytes = NULL;
    input->held -= *capacity;
    *capacity = 0;
    if (size > ARROW_MOST_BYTES - input->held)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "a batch of the Arrow data wants more than 1 GB; write smaller ones");
    *bytes = malloc(size ? size : 1);
    if (!*bytes)
        return no_arrow_memory(error);
    *capacity = size;
    input->held += size;
    return DOPPEL_OK;
}

static bool unpack_lz4(const uint8_t *from, size_t size, uint8_t *to, size_t to_size)
{
    LZ4F_dctx *context;
    size_t used = 0, made = 0, hint = 1;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return false;
    while (hint && used < size) {
        size_t in = size - used, out = to_size - made;
        hint = LZ4F_decompress(context, to + made, &out, from + used, &in, NULL);
        if (LZ4F_isError(hint) || (!in && !out))
            break;
        used += in;
        made += out;
    }
    LZ4F_freeDecompressionContext(context);
    return hint == 0 && made == to_size;
}

static bool unpack_arrow(int64_t codec, const uint8_t *from, size_t size, struct arrow_buffer *to)
{
    if (codec == CODEC_LZ4)
        return unpack_lz4(from, size, to->bytes, to->size);
    return ZSTD_decompress(to->bytes, to->size, from, size) == to->size;
}

/* A buffer whose bytes come next. */
static enum doppel_status read_arrow_buffer(struct arrow_input *input, int64_t codec, uint64_t size,
                                            struct arrow_buffer *out, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    uint8_t head[8];
    int64_t unpacked = -1;
    if (codec != PLAIN && size) {
        struct flatbuffer flat = {.bytes = head, .size = sizeof head};
        if (size < sizeof head)
            return arrow_is_damaged(error);
        TRY(arrow_input_read(input, head, sizeof head, NULL, error));
        unpacked = flat_number(&flat, 0, 8);
        size -= sizeof head;
        if (unpacked < -1)
            return arrow_is_damaged(error);
    }
    out->size = 0;
    if (unpacked == -1) {
        TRY(make_arrow_room(input, &out->bytes, &out->capacity, size, error));
        TRY(arrow_input_read(input, out->bytes, size, NULL, error));
        out->size = size;
        return DOPPEL_OK;
    }
    TRY(make_arrow_room(input, &out->bytes, &out->capacity, (uint64_t)unpacked, error));
    TRY(make_arrow_room(input, &input->packed, &input->packed_capacity, size, error));
    TRY(arrow_input_read(input, input->packed, size, NULL, error));
    out->size = (size_t)unpacked;
    if (!unpack_arrow(codec, input->packed, size, out)) {
        out->size = 0;
        return arrow_is_damaged(error);
    }
done:
    return status;
}

void arrow_values_free(struct batch_values *values)
{
    for (size_t i = 0; i < values->text_capacity; i++)
        free(values->texts[i].bytes);
    free(values->texts);
    free(values->present.bytes);
    free(values->values.bytes);
}

/* ---- a body ---- */

struct body_part {
    uint64_t at, size;
    struct arrow_buffer *to;
};

/* What a batch says of its body, and how far it was followed. */
struct body_plan {
    struct flatbuffer *flat;
    struct flat_vector nodes, buffers, views;
    size_t node, buffer, view;
    uint64_t rows;
    ARRAY(struct body_part) parts;
};

static bool plan_buffer(struct body_plan *plan, struct arrow_buffer *to)
{
    flat_place at = plan->buffers.at + 16 * plan->buffer;
    plan->flat->broken |= plan->buffer++ >= plan->buffers.count;
    const struct body_part part = {(uint64_t)flat_number(plan->flat, at, 8),
                                   (uint64_t)flat_number(plan->flat, at + 8, 8), to};
    to->size = 0;
    return plan->flat->broken || !part.size || array_push(&plan->parts, part);
}

static bool make_text_buffers(struct batch_values *values, size_t count)
{
    values->text_count = count;
    if (count <= values->text_capacity)
        return true;
    struct arrow_buffer *grown = realloc(values->texts, count * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + values->text_capacity, 0, (count - values->text_capacity) * sizeof *grown);
    values->texts = grown;
    values->text_capacity = count;
    return true;
}

static size_t next_view_count(struct body_plan *plan)
{
    int64_t count = flat_number(plan->flat, plan->views.at + 8 * plan->view, 8);
    plan->flat->broken |=
        plan->view++ >= plan->views.count || count < 0 || (uint64_t)count > plan->buffers.count;
    return plan->flat->broken ? 0 : (size_t)count;
}

/* The buffers of a column that is read. False: no memory */
static bool plan_values(struct body_plan *plan, const struct batch_wanted *wanted)
{
    flat_place at = plan->nodes.at + 16 * plan->node;
    struct batch_values *values = wanted->to;
    plan->flat->broken |= plan->node++ >= plan->nodes.count;
    values->count = (uint64_t)flat_number(plan->flat, at, 8);
    values->nulls = (uint64_t)flat_number(plan->flat, at + 8, 8);
    plan->flat->broken |= values->count != plan->rows;
    values->text_count = 0;
    if (wanted->type->kind == ARROW_NULLS)
        return true;
    size_t texts = wanted->type->kind == ARROW_TEXT     ? 1
                   : wanted->type->kind == ARROW_VIEWED ? next_view_count(plan)
                                                        : 0;
    bool good = plan_buffer(plan, &values->present) && plan_buffer(plan, &values->values) &&
                make_text_buffers(values, texts);
    for (size_t i = 0; good && i < texts; i++)
        good = plan_buffer(plan, &values->texts[i]);
    return good;
}

static void plan_past(struct body_plan *plan, const struct arrow_share *share)
{
    plan->node += share->nodes;
    plan->buffer += share->buffers;
    for (size_t i = 0; i < share->views; i++)
        plan->buffer += next_view_count(plan);
}

static int by_part_place(const void *a, const void *b)
{
    const struct body_part *one = a, *other = b;
    return (one->at > other->at) - (one->at < other->at);
}

/* In the order in which they come. */
static enum doppel_status read_parts(struct arrow_input *input, struct body_plan *plan,
                                     int64_t codec, uint64_t body_bytes, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    uint64_t at = 0;
    if (plan->parts.count)
        qsort(plan->parts.items, plan->parts.count, sizeof *plan->parts.items, by_part_place);
    for (size_t i = 0; i < plan->parts.count; i++) {
        const struct body_part *part = &plan->parts.items[i];
        if (part->at < at || part->at > body_bytes || part->size > body_bytes - part->at)
            return arrow_is_damaged(error);
        TRY(arrow_input_pass_over(input, part->at - at, error));
        TRY(read_arrow_buffer(input, codec, part->size, part->to, error));
        at = part->at + part->size;
    }
    TRY(arrow_input_pass_over(input, body_bytes - at, error));
done:
    return status;
}

enum doppel_status arrow_batch_read(struct arrow_input *input, const struct arrow_batch *batch,
                                    const struct batch_wanted *wanted, size_t count,
                                    uint64_t *out_rows, struct doppel_error *error)
{
    struct flatbuffer *flat = batch->flat;
    flat_place packing = flat_table(flat, batch->table, 3);
    int64_t codec = packing ? flat_field(flat, packing, 0, 1, CODEC_LZ4) : PLAIN;
    struct body_plan plan = {.flat = flat,
                             .nodes = flat_vector_of(flat, batch->table, 1, 16),
                             .buffers = flat_vector_of(flat, batch->table, 2, 16),
                             .views = flat_vector_of(flat, batch->table, 4, 8),
                             .rows = (uint64_t)flat_field(flat, batch->table, 0, 8, 0)};
    enum doppel_status status = DOPPEL_OK;
    bool good = true;
    for (size_t i = 0; i < count && good && !flat->broken; i++)
        if (wanted[i].type)
            good = plan_values(&plan, &wanted[i]);
        else
            plan_past(&plan, &wanted[i].share);
    if (!good)
        TRY(no_arrow_memory(error));
    if (flat->broken || plan.rows > (plan.parts.count ? INT64_MAX : MOST_EMPTY_ROWS))
        TRY(arrow_is_damaged(error));
    if (codec != PLAIN && codec != CODEC_LZ4 && codec != CODEC_ZSTD)
        TRY(doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                        "Arrow that is packed neither by LZ4 nor by zstd"));
    TRY(read_parts(input, &plan, codec, batch->body_bytes, error));
    *out_rows = plan.rows;
done:
    array_free(&plan.parts);
    return status;
}
