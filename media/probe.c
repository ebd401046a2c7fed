/* What is this file? Told from its first bytes, never from its name. */
#include <string.h>

#include "core/bytes.h"
#include "media/probe.h"

const char *doppel_format_name(enum doppel_format format)
{
    static const char *const names[] = {
        [DOPPEL_FORMAT_UNKNOWN] = "unknown", [DOPPEL_FORMAT_JPEG] = "JPEG",
        [DOPPEL_FORMAT_PNG] = "PNG",         [DOPPEL_FORMAT_GIF] = "GIF",
        [DOPPEL_FORMAT_WEBP] = "WebP",       [DOPPEL_FORMAT_BMP] = "BMP",
        [DOPPEL_FORMAT_TIFF] = "TIFF",       [DOPPEL_FORMAT_TGA] = "TGA",
        [DOPPEL_FORMAT_HEIC] = "HEIC",       [DOPPEL_FORMAT_AVIF] = "AVIF",
        [DOPPEL_FORMAT_JXL] = "JPEG XL",     [DOPPEL_FORMAT_RAW] = "RAW",
        [DOPPEL_FORMAT_PDF] = "PDF",         [DOPPEL_FORMAT_DOCX] = "DOCX",
        [DOPPEL_FORMAT_PPTX] = "PPTX",       [DOPPEL_FORMAT_XLSX] = "XLSX",
        [DOPPEL_FORMAT_ODT] = "ODT",         [DOPPEL_FORMAT_ODP] = "ODP",
        [DOPPEL_FORMAT_ODS] = "ODS",         [DOPPEL_FORMAT_EPUB] = "EPUB",
        [DOPPEL_FORMAT_RTF] = "RTF",         [DOPPEL_FORMAT_MAIL] = "mail",
        [DOPPEL_FORMAT_TIFF_PAGES] = "TIFF",
    };
    size_t index = (size_t)format;
    return names[index < sizeof names / sizeof *names ? index : 0];
}

bool head_has(const struct file_head *head, size_t offset, const char *bytes, size_t size)
{
    return head->size >= size && offset <= head->size - size &&
           !memcmp(head->data + offset, bytes, size);
}

/* ---- signatures at fixed places ---- */

struct signature {
    const char *bytes;
    uint8_t size, offset;
    enum doppel_kind kind;
    enum doppel_format format;
};

#define BYTES(text) text, sizeof(text) - 1
#define IMAGE(format) DOPPEL_KIND_IMAGE, DOPPEL_FORMAT_##format
#define OTHER(kind) DOPPEL_KIND_##kind, DOPPEL_FORMAT_UNKNOWN

static const struct signature signatures[] = {
    {BYTES("\xff\xd8\xff"), 0, IMAGE(JPEG)},
    {BYTES("\x89PNG\r\n\x1a\n"), 0, IMAGE(PNG)},
    {BYTES("GIF87a"), 0, IMAGE(GIF)},
    {BYTES("GIF89a"), 0, IMAGE(GIF)},
    {BYTES("WEBPVP8"), 8, IMAGE(WEBP)},
    {BYTES("II*\0"), 0, IMAGE(TIFF)},
    {BYTES("MM\0*"), 0, IMAGE(TIFF)},
    {BYTES("II+\0\x08\0"), 0, IMAGE(TIFF)},
    {BYTES("MM\0+\0\x08"), 0, IMAGE(TIFF)},
    {BYTES("\xff\x0a"), 0, IMAGE(JXL)},
    {BYTES("\0\0\0\x0cJXL \r\n\x87\n"), 0, IMAGE(JXL)},
    {BYTES("%PDF-"), 0, DOPPEL_KIND_TEXT, DOPPEL_FORMAT_PDF},
    {BYTES("{\\rtf"), 0, DOPPEL_KIND_TEXT, DOPPEL_FORMAT_RTF},
    {BYTES("fLaC"), 0, OTHER(AUDIO)},
    {BYTES("wvpk"), 0, OTHER(AUDIO)},
    {BYTES("caff\0\1"), 0, OTHER(AUDIO)},
    {BYTES(".snd\0"), 0, OTHER(AUDIO)},
    {BYTES("#!AMR"), 0, OTHER(AUDIO)},
    {BYTES("TTA1\1\0"), 0, OTHER(AUDIO)},
    {BYTES("tBaK\0"), 0, OTHER(AUDIO)},
    {BYTES("MPCKSH"), 0, OTHER(AUDIO)},
    {BYTES("DSD \x1c\0"), 0, OTHER(AUDIO)},
    {BYTES(".ra\xfd"), 0, OTHER(AUDIO)},
    {BYTES("\x7f\xfe\x80\x01"), 0, OTHER(AUDIO)}, /* DTS */
    /* Wave64: GUIDs that begin with "riff" and "wave". */
    {BYTES("riff\x2e\x91\xcf\x11"), 0, OTHER(AUDIO)},
    {BYTES("FLV\x01"), 0, OTHER(VIDEO)},
    {BYTES(".RMF\0"), 0, OTHER(VIDEO)},
    {BYTES("\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01"), 0, OTHER(VIDEO)}, /* MXF */
    {BYTES("nut/multimedia container\0"), 0, OTHER(VIDEO)},
    {BYTES("\0\0\x01\xba"), 0, OTHER(VIDEO)},
    {BYTES("\0\0\x01\xb3"), 0, OTHER(VIDEO)},
    {BYTES("YUV4MPEG2 "), 0, OTHER(VIDEO)},
    {BYTES("DKIF\0\0\x20\0"), 0, OTHER(VIDEO)}, /* IVF */
    {BYTES("\0\0\0\1\x67"), 0, OTHER(VIDEO)},   /* H.264: a sequence begins */
    {BYTES("\0\0\0\1\x40\1"), 0, OTHER(VIDEO)}, /* HEVC: a parameter set */
    /* QuickTime before it had a file type box. */
    {BYTES("moov"), 4, OTHER(VIDEO)},
    {BYTES("mdat"), 4, OTHER(VIDEO)},
    {BYTES("wide"), 4, OTHER(VIDEO)},
};

static enum doppel_kind by_signature(const struct file_head *head, enum doppel_format *format)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const struct signature *s = &signatures[i];
        if (head_has(head, s->offset, s->bytes, s->size)) {
            *format = s->format;
            return s->kind;
        }
    }
    return DOPPEL_KIND_UNKNOWN;
}

/* ---- formats that need a closer look ---- */

static enum doppel_kind by_riff(const struct file_head *head, enum doppel_format *format)
{
    (void)format;
    if (head_has(head, 0, BYTES("FORM")))
        return head_has(head, 8, BYTES("AIF")) ? DOPPEL_KIND_AUDIO : DOPPEL_KIND_UNKNOWN;
    if (!head_has(head, 0, BYTES("RIFF")) && !head_has(head, 0, BYTES("RF64")) &&
        !head_has(head, 0, BYTES("BW64")))
        return DOPPEL_KIND_UNKNOWN;
    if (head_has(head, 8, BYTES("WAVE")))
        return DOPPEL_KIND_AUDIO;
    return head_has(head, 8, BYTES("AVI ")) ? DOPPEL_KIND_VIDEO : DOPPEL_KIND_UNKNOWN;
}

/* "BM" is two letters: the size of the header after the file header is the proof. */
static enum doppel_kind by_bmp(const struct file_head *head, enum doppel_format *format)
{
    static const uint8_t header_sizes[] = {12, 16, 40, 52, 56, 64, 108, 124};
    if (!head_has(head, 0, BYTES("BM")) || head->size < 18)
        return DOPPEL_KIND_UNKNOWN;
    uint32_t size = get_u32(head->data + 14);
    for (size_t i = 0; i < sizeof header_sizes; i++) {
        if (size == header_sizes[i]) {
            *format = DOPPEL_FORMAT_BMP;
            return DOPPEL_KIND_IMAGE;
        }
    }
    return DOPPEL_KIND_UNKNOWN;
}

/* Source: Truevision TGA 2.0, and what readers take. No magic number: every field must be audio. */
static enum doppel_kind by_tga(const struct file_head *head, enum doppel_format *format)
{
    const uint8_t *h = head->data;
    if (head->size <= 18)
        return DOPPEL_KIND_UNKNOWN;
    bool has_map = h[1] == 1, mapped = (h[2] & ~8) == 1, colour = (h[2] & ~8) == 2;
    bool grey = (h[2] & ~8) == 3;
    if (h[1] > 1 || !(mapped || colour || grey) || (mapped && !has_map))
        return DOPPEL_KIND_UNKNOWN;
    unsigned map_length = get_u16(h + 5), map_bits = h[7], bits = h[16], alpha_bits = h[17] & 15;
    bool map_audio =
        has_map ? map_length >= 1 && map_length <= 256 && get_u16(h + 3) + map_length <= 256 &&
                      (map_bits == 15 || map_bits == 16 || map_bits == 24 || map_bits == 32)
                : !h[3] && !h[4] && !h[5] && !h[6] && !h[7];
    bool bits_audio = colour ? bits == 15 || bits == 16 || bits == 24 || bits == 32
                             : bits == 8 || (grey && bits == 16);
    bool size_audio = get_u16(h + 12) && get_u16(h + 14);
    bool flags_audio = !(h[17] & 0xc0) && (alpha_bits <= 1 || alpha_bits == 8);
    if (!map_audio || !bits_audio || !size_audio || !flags_audio)
        return DOPPEL_KIND_UNKNOWN;
    *format = DOPPEL_FORMAT_TGA;
    return DOPPEL_KIND_IMAGE;
}

enum doppel_kind doppel_media_probe(const uint8_t *data, size_t size,
                                    enum doppel_format *out_format)
{
    /* In order: the ones with a magic number, then by plausibility, the weakest last. */
    typedef enum doppel_kind probe(const struct file_head *head, enum doppel_format *format);
    static probe *const probes[] = {
        probe_raw,   by_signature,   probe_zip,  by_riff, probe_bmff,
        probe_ogg,   probe_matroska, probe_asf,  by_bmp,  probe_transport_stream,
        probe_audio, probe_mail,     probe_text, by_tga};
    struct file_head head = {data, size};
    enum doppel_format format = DOPPEL_FORMAT_UNKNOWN;
    enum doppel_kind kind = DOPPEL_KIND_UNKNOWN;
    for (size_t i = 0; i < sizeof probes / sizeof *probes && !kind; i++)
        kind = probes[i](&head, &format);
    if (out_format)
        *out_format = format;
    return kind;
}
