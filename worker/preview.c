/* What a file is shown by: a still, the envelope of a recording, the words of a text. */
#include "worker/worker_text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

enum {
    MAX_WAVE_BUCKETS = 4096,
    MAX_PLAIN_BYTES = 1 << 20,
    /* So much is read to have that many bytes of plain text: tags and scripts are left out. */
    SOURCE_BYTES_A_BYTE = 8,
};

/* ---- the envelope of a recording ---- */

struct envelope_bucket {
    float least, most;
};

/* Buckets grow as the audio does: two become one when there are too many. */
struct wave {
    struct progress_page *progress;
    struct envelope_bucket *buckets;
    size_t count, room;
    size_t samples, filled; /* of a bucket; of the last one */
};

static void halve_wave(struct wave *wave)
{
    for (size_t i = 0; i < wave->count / 2; i++) {
        const struct envelope_bucket *a = &wave->buckets[2 * i], *b = &wave->buckets[2 * i + 1];
        wave->buckets[i] =
            (struct envelope_bucket){fminf(a->least, b->least), fmaxf(a->most, b->most)};
    }
    wave->count /= 2;
    wave->samples *= 2;
}

static void take_sample(struct wave *wave, float sample)
{
    if (wave->filled == 0) {
        if (wave->count == wave->room)
            halve_wave(wave);
        wave->buckets[wave->count++] = (struct envelope_bucket){sample, sample};
    }
    struct envelope_bucket *last = &wave->buckets[wave->count - 1];
    last->least = fminf(last->least, sample);
    last->most = fmaxf(last->most, sample);
    wave->filled = (wave->filled + 1) % wave->samples;
}

static bool take_samples(void *context, const struct doppel_samples *samples)
{
    struct wave *wave = context;
    progress_work(wave->progress, samples->count * 1000 / DOPPEL_AUDIO_RATE);
    for (size_t i = 0; i < samples->count; i++)
        take_sample(wave, samples->data ? samples->data[i] : 0);
    return true;
}

static uint8_t signed_byte(float sample)
{
    float bounded = fminf(fmaxf(sample, -1), 1);
    return (uint8_t)(int8_t)lrintf(bounded * 127);
}

static enum doppel_status write_wave(const struct wave *wave, uint64_t duration_ms,
                                     struct doppel_outcome *out)
{
    size_t size = DOPPEL_WAVE_HEAD_BYTES + 2 * wave->count;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory for an envelope");
    put_u32(bytes, duration_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)duration_ms);
    put_u32(bytes + 4, (uint32_t)wave->count);
    for (size_t i = 0; i < wave->count; i++) {
        bytes[DOPPEL_WAVE_HEAD_BYTES + 2 * i] = signed_byte(wave->buckets[i].least);
        bytes[DOPPEL_WAVE_HEAD_BYTES + 2 * i + 1] = signed_byte(wave->buckets[i].most);
    }
    out->attachment = bytes;
    out->attachment_size = size;
    return DOPPEL_OK;
}

static enum doppel_status draw_wave(struct workshop *workshop, int fd,
                                    const struct doppel_order *order, struct doppel_outcome *out)
{
    struct doppel_samples_options options = samples_options(&workshop->limits, order);
    struct doppel_samples_info info = {0};
    struct wave wave = {.progress = workshop->progress, .samples = 64};
    wave.room = order->look_size & ~(size_t)1; /* an even number, which can be halved */
    if (wave.room < 2 || wave.room > MAX_WAVE_BUCKETS)
        return doppel_fail(&out->error, DOPPEL_E_ARGUMENT, "an envelope of %u buckets",
                           order->look_size);
    wave.buckets = malloc(wave.room * sizeof *wave.buckets);
    enum doppel_status status =
        wave.buckets
            ? doppel_media_read_samples(fd, &options, take_samples, &wave, &info, &out->error)
            : doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory for an envelope");
    if (status == DOPPEL_OK)
        status = write_wave(&wave, info.duration_ms, out);
    free(wave.buckets);
    out->kind = DOPPEL_KIND_AUDIO;
    return status;
}

/* ---- the words of a text ---- */

/* Each page but the first begins with a form feed. @return bytes of `out` that were used */
static size_t copy_page_texts(const struct document *document, const char *text, size_t size,
                              uint8_t *out)
{
    size_t from = 0, used = 0;
    for (size_t page = 1; page < document->page_count && document->pages[page] <= size; page++) {
        memcpy(out + used, text + from, document->pages[page] - from);
        used += document->pages[page] - from;
        from = document->pages[page];
        out[used++] = '\f';
    }
    if (size > from)
        memcpy(out + used, text + from, size - from);
    return used + size - from;
}

/* Of its beginning. */
static enum doppel_status copy_plain(const struct worker_text *source,
                                     const struct doppel_order *order, struct doppel_outcome *out)
{
    struct doppel_text *text = NULL;
    struct doppel_text_options options = doppel_text_options_default();
    const char *plain = NULL;
    size_t plain_size = 0;
    size_t most = (size_t)order->look_size * SOURCE_BYTES_A_BYTE;
    size_t size = source->size < most ? source->size : most;
    options.format = source->format;
    enum doppel_status status;
    TRY(doppel_text_new(&options, &text, &out->error));
    TRY(doppel_text_plain(text, source->bytes, size, &plain, &plain_size, &out->error));
    plain_size = plain_size < order->look_size ? plain_size : order->look_size;
    if (!(out->attachment = malloc(plain_size + source->document.page_count + 1)))
        TRY(doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory for a text"));
    out->attachment_size = copy_page_texts(&source->document, plain, plain_size, out->attachment);
done:
    doppel_text_free(text);
    return status;
}

static enum doppel_status read_text_preview(struct workshop *workshop, int fd,
                                            const struct doppel_order *order,
                                            struct doppel_outcome *out)
{
    struct worker_text source = {.enough_bytes = order->look_size};
    out->kind = DOPPEL_KIND_TEXT;
    if (order->look_size > MAX_PLAIN_BYTES)
        return doppel_fail(&out->error, DOPPEL_E_ARGUMENT, "a text of %u bytes", order->look_size);
    enum doppel_status status = worker_text_open(
        workshop, fd, (enum doppel_text_format)order->text_format, &source, &out->error);
    if (status == DOPPEL_E_EMPTY) { /* that is all there is to see */
        out->error = (struct doppel_error){0};
        source.bytes = "";
        status = DOPPEL_OK;
    }
    if (!status)
        status = copy_plain(&source, order, out);
    worker_text_close(&source);
    return status;
}

/* ---- a page of a document ---- */

static_assert((int)DOCUMENT_PAGE_HEAD_BYTES == (int)DOPPEL_PAGE_HEAD_BYTES &&
                  (int)DOCUMENT_PAGE_WORD_BYTES == (int)DOPPEL_PAGE_WORD_BYTES,
              "a page is answered as it was drawn");

static enum doppel_status draw_page(int fd, const struct doppel_order *order,
                                    struct doppel_outcome *out)
{
    struct document_page page = {.number = order->look_page, .pixels = order->look_size};
    out->kind = DOPPEL_KIND_TEXT;
    (void)probe_file(fd, &page.format);
    return document_draw_page(fd, &page, &out->attachment, &out->attachment_size, &out->error);
}

/* ---- */

enum doppel_status make_preview(struct workshop *workshop, int fd, const struct doppel_order *order,
                                struct doppel_outcome *out)
{
    struct doppel_media_limits limits = image_limits(&workshop->limits);
    switch ((enum doppel_preview)order->look) {
    case DOPPEL_LOOK_STILL:
        out->kind = DOPPEL_KIND_IMAGE;
        return doppel_media_read_still(fd, &limits, order->look_size, &out->attachment,
                                       &out->attachment_size, &out->error);
    case DOPPEL_LOOK_WAVE:
        return draw_wave(workshop, fd, order, out);
    case DOPPEL_LOOK_PLAIN:
        return read_text_preview(workshop, fd, order, out);
    case DOPPEL_LOOK_PAGE:
        return draw_page(fd, order, out);
    default:
        return doppel_fail(&out->error, DOPPEL_E_ARGUMENT, "no such look: %u", order->look);
    }
}
