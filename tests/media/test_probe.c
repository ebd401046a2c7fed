/* What a file is, told from its first bytes. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static void made_files_are_known(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 70, 50);
    for (int format = DOPPEL_FORMAT_JPEG; format <= DOPPEL_FORMAT_JXL; format++) {
        struct file file = make_any((enum doppel_format)format, &scene);
        enum doppel_format told = DOPPEL_FORMAT_UNKNOWN;
        if (!file.data)
            continue;
        size_t size = file.size < 4096 ? file.size : 4096;
        assert_int_equal(doppel_media_probe(file.data, size, &told), DOPPEL_KIND_IMAGE);
        assert_int_equal(told, format);
        assert_string_not_equal(doppel_format_name(told), "unknown");
        file_free(&file);
    }
    scene_free(&scene);
}

struct sample {
    const char *bytes;
    size_t size;
    enum doppel_kind kind;
    enum doppel_format format;
};

#define SAMPLE(bytes, kind, format)                                                                \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, DOPPEL_KIND_##kind, DOPPEL_FORMAT_##format                       \
    }

static const struct sample samples[] = {
    SAMPLE("\0\0\0\x18"
           "ftypheic\0\0\0\0mif1heic",
           IMAGE, HEIC),
    SAMPLE("\0\0\0\x18"
           "ftypmif1\0\0\0\0mif1avif",
           IMAGE, AVIF),
    SAMPLE("\0\0\0\x18"
           "ftypmif1\0\0\0\0mif1heic",
           IMAGE, HEIC),
    SAMPLE("\0\0\0\x14"
           "ftypavis\0\0\0\0msf1",
           IMAGE, AVIF),
    SAMPLE("\0\0\0\x18"
           "ftypisom\0\0\2\0isomiso2",
           VIDEO, UNKNOWN),
    SAMPLE("\0\0\0\x14"
           "ftypqt  \0\0\2\0qt  ",
           VIDEO, UNKNOWN),
    SAMPLE("\0\0\0\x14"
           "ftypM4A \0\0\2\0isom",
           AUDIO, UNKNOWN),
    /* "avif" after the box is not a brand. */
    SAMPLE("\0\0\0\x14"
           "ftypisom\0\0\2\0isomavif",
           VIDEO, UNKNOWN),
    SAMPLE("\0\0\x10\0moov\0\0\0\0", VIDEO, UNKNOWN),
    SAMPLE("RIFF\x24\0\0\0WEBPVP8 ", IMAGE, WEBP),
    SAMPLE("RIFF\x24\0\0\0WAVEfmt ", AUDIO, UNKNOWN),
    SAMPLE("RIFF\x24\0\0\0AVI LIST", VIDEO, UNKNOWN),
    SAMPLE("RF64\xff\xff\xff\xffWAVEds64", AUDIO, UNKNOWN),
    SAMPLE("FORM\0\0\0\x24"
           "AIFFCOMM",
           AUDIO, UNKNOWN),
    SAMPLE("OggS\0\2\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\1\x1e\1vorbis", AUDIO, UNKNOWN),
    SAMPLE("OggS\0\2\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\1\x2a\x80theora", VIDEO, UNKNOWN),
    SAMPLE("\x1a\x45\xdf\xa3\x93\x42\x82\x88matroska\x86\x8fV_MPEG4/ISO/AVC", VIDEO, UNKNOWN),
    SAMPLE("\x1a\x45\xdf\xa3\x93\x42\x82\x84webm\x86\x86"
           "A_OPUS",
           AUDIO, UNKNOWN),
    SAMPLE("fLaC\0\0\0\x22", AUDIO, UNKNOWN),
    SAMPLE("ID3\3\0\0\0\0\0\0", AUDIO, UNKNOWN),
    SAMPLE("MAC \x96\x0f\0\0", AUDIO, UNKNOWN),
    SAMPLE("MP+\x07\0\0\0", AUDIO, UNKNOWN),
    SAMPLE("TTA1\1\0\2\0", AUDIO, UNKNOWN),
    SAMPLE("#!AMR\n<", AUDIO, UNKNOWN),
    SAMPLE("ID3 is a tag", TEXT, UNKNOWN),
    SAMPLE("MAC addresses", TEXT, UNKNOWN),
    SAMPLE("MP+ is a codec", TEXT, UNKNOWN),
    SAMPLE("TTA1 is one too", TEXT, UNKNOWN),
    SAMPLE("DSD is not PCM", TEXT, UNKNOWN),
    SAMPLE("\x0b\x77\0\0\x14\x40\0\0", UNKNOWN, UNKNOWN),
    SAMPLE("II*\0\x08\0\0\0", IMAGE, TIFF),
    SAMPLE("MM\0*\0\0\0\x08", IMAGE, TIFF),
    SAMPLE("\xff\x0a\x12\x34", IMAGE, JXL),
    SAMPLE("\0\0\0\x0cJXL \r\n\x87\n", IMAGE, JXL),
    SAMPLE("GIF88a\1\0\1\0\0\0\0", UNKNOWN, UNKNOWN),
    SAMPLE("BM is how this German mayor signs", TEXT, UNKNOWN),
    SAMPLE("plain text\r\n\twith a tab", TEXT, UNKNOWN),
    SAMPLE("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80", TEXT, UNKNOWN),
    SAMPLE("cut in a charact\xe2\x82", TEXT, UNKNOWN),
    SAMPLE("latin-1 na\xefve text", TEXT, UNKNOWN),
    SAMPLE("\xef\xee\xed\xec Cyrillic", UNKNOWN, UNKNOWN),
    SAMPLE("a red \x1b[31mword\x1b[0m among many others that are not", TEXT, UNKNOWN),
    SAMPLE("\xff\xfeU\0T\0F\0\n\0", TEXT, UNKNOWN),
    SAMPLE("\xfe\xff\0U\0T\0F\0\n", TEXT, UNKNOWN),
    SAMPLE("\xff\xfe\1\0\2\0", UNKNOWN, UNKNOWN),
    SAMPLE("\xff\xfe\0\0U\0\0\0", UNKNOWN, UNKNOWN),
    SAMPLE("\xff\xfe", UNKNOWN, UNKNOWN),
    SAMPLE("%PDF-1.7\n1 0 obj\n", TEXT, PDF),
    SAMPLE("{\\rtf1\\ansi x}", TEXT, RTF),
    SAMPLE("From: a@b\r\nDate: today\r\nSubject: x\r\n y\r\n\r\nwords", TEXT, MAIL),
    SAMPLE("From a@b Mon Jan  1\nFrom: a@b\nTo: c\nSubject: x\n\nwords", TEXT, MAIL),
    SAMPLE("From: a@b\nDate: today\nSubject x\n\nwords", TEXT, UNKNOWN),
    SAMPLE("Subject: a\nTo: b\nDate: of no sender\n\nwords", TEXT, UNKNOWN),
    SAMPLE("From here on\nall is text: and no mail\n", TEXT, UNKNOWN),
    SAMPLE("PK\3\4 is how a zip begins\n", UNKNOWN, UNKNOWN),
    SAMPLE("surrogate \xed\xa0\x80", UNKNOWN, UNKNOWN),
    SAMPLE("overlong \xc0\xaf", UNKNOWN, UNKNOWN),
    SAMPLE("overlong \xe0\x80\xaf", UNKNOWN, UNKNOWN),
    SAMPLE("beyond \xf4\x90\x80\x80", UNKNOWN, UNKNOWN),
    SAMPLE("a\0b", UNKNOWN, UNKNOWN),
    SAMPLE("escape \x1b[1m", UNKNOWN, UNKNOWN),
    SAMPLE("", UNKNOWN, UNKNOWN),
};

static void samples_are_told_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        enum doppel_format format = DOPPEL_FORMAT_JPEG;
        enum doppel_kind kind =
            doppel_media_probe((const uint8_t *)samples[i].bytes, samples[i].size, &format);
        if (kind != samples[i].kind || format != samples[i].format)
            fail_msg("sample %zu is taken for %s, %s", i, doppel_kind_name(kind),
                     doppel_format_name(format));
    }
}

/* Every frame of 417 bytes begins with the header of 128 kbit/s at 44.1 kHz. */
static void mp3_needs_two_frames(void **state)
{
    (void)state;
    uint8_t data[1000] = {0};
    memcpy(data, "\xff\xfb\x90\x64", 4);
    assert_int_equal(doppel_media_probe(data, sizeof data, NULL), DOPPEL_KIND_UNKNOWN);
    memcpy(data + 417, "\xff\xfb\x90\x64", 4);
    assert_int_equal(doppel_media_probe(data, sizeof data, NULL), DOPPEL_KIND_AUDIO);
}

static void transport_streams_have_a_beat(void **state)
{
    (void)state;
    uint8_t data[1000] = {0};
    for (size_t i = 0; i < 4; i++)
        data[i * 188] = 0x47;
    assert_int_equal(doppel_media_probe(data, sizeof data, NULL), DOPPEL_KIND_VIDEO);
    data[188] = 0x48;
    assert_int_equal(doppel_media_probe(data, sizeof data, NULL), DOPPEL_KIND_UNKNOWN);
}

/* A TGA has no magic number; noise must not be taken for one, nor for any other picture. */
static void noise_is_nothing(void **state)
{
    (void)state;
    uint8_t data[64];
    uint64_t seed = 1;
    unsigned images = 0;
    for (int round = 0; round < 1000000; round++) {
        for (size_t i = 0; i < sizeof data; i += 8) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint64_t word = seed ^ seed >> 29;
            memcpy(data + i, &word, 8);
        }
        images += doppel_media_probe(data, sizeof data, NULL) == DOPPEL_KIND_IMAGE;
    }
    /* FF 0A is a JPEG XL: 1 in 65 536 of noise. Of TGA hardly any. */
    assert_in_range(images, 0, 40);
}

/* No byte beyond those given is read: every prefix lies at the end of its own block. */
static void every_prefix_can_be_probed(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 70, 50);
    for (int format = DOPPEL_FORMAT_JPEG; format <= DOPPEL_FORMAT_JXL; format++) {
        struct file file = make_any((enum doppel_format)format, &scene);
        for (size_t size = 0; size < file.size && size < 100; size++) {
            uint8_t *prefix = malloc(size ? size : 1);
            memcpy(prefix, file.data, size);
            enum doppel_format told;
            doppel_media_probe(prefix, size, &told);
            if (size >= 32)
                assert_int_equal(told, format);
            free(prefix);
        }
        file_free(&file);
    }
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_files_are_known), cmocka_unit_test(samples_are_told_apart),
        cmocka_unit_test(mp3_needs_two_frames), cmocka_unit_test(transport_streams_have_a_beat),
        cmocka_unit_test(noise_is_nothing),     cmocka_unit_test(every_prefix_can_be_probed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
