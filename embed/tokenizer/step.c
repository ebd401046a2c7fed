/* Steps of a tokenizer on disk: kind, flags, two sizes of 16 bits, and the bytes of two texts. */
#include "embed/tokenizer/step.h"

#include "core/array.h"
#include "core/bytes.h"

enum { STEP_HEAD = 6 };

bool text_step_write(const struct text_step *step, struct embed_text *out)
{
    uint8_t head[STEP_HEAD] = {(uint8_t)step->kind, (uint8_t)step->flags};
    put_u16(head + 2, (uint16_t)step->text_size);
    put_u16(head + 4, (uint16_t)step->content_size);
    embed_text_append(out, (const char *)head, sizeof head);
    embed_text_append(out, step->text, step->text_size);
    embed_text_append(out, step->content, step->content_size);
    return !out->failed;
}

static bool kind_is_known(uint8_t kind)
{
    return kind <= STEP_PRECOMPILED || (kind >= STEP_SPLIT_BERT && kind <= STEP_METASPACE);
}

static bool text_step_is_good(const struct text_step *step)
{
    return kind_is_known((uint8_t)step->kind) && step->text_size <= STEP_MAX_TEXT &&
           step->content_size <= STEP_MAX_TEXT && (step->kind != STEP_REPLACE || step->text_size) &&
           (step->kind != STEP_METASPACE || step->content_size);
}

static bool read_text_step(const uint8_t *in, size_t size, size_t *at, struct text_step *out)
{
    if (size - *at < STEP_HEAD)
        return false;
    const uint8_t *head = in + *at;
    struct text_step step = {.kind = (enum step_kind)head[0],
                             .flags = head[1],
                             .text_size = get_u16(head + 2),
                             .content_size = get_u16(head + 4)};
    *at += STEP_HEAD;
    if (step.text_size > size - *at || step.content_size > size - *at - step.text_size)
        return false;
    step.text = (const char *)in + *at;
    step.content = step.text + step.text_size;
    *at += step.text_size + step.content_size;
    *out = step;
    return text_step_is_good(&step);
}

enum doppel_status text_steps_read(const uint8_t *in, size_t size, size_t *at, size_t most,
                                   struct text_step **out)
{
    ARRAY(struct text_step) steps = {0};
    for (;;) {
        struct text_step step;
        if (steps.count == most || !read_text_step(in, size, at, &step)) {
            array_free(&steps);
            return DOPPEL_E_CORRUPT;
        }
        if (!array_push(&steps, step)) {
            array_free(&steps);
            return DOPPEL_E_MEMORY;
        }
        if (step.kind == STEP_END)
            break;
    }
    *out = steps.items;
    return DOPPEL_OK;
}
