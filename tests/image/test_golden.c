/* Codes of drawn planes: our own as published in docs/methods.md, imagehash as computed by SciPy
 * 1.10 and Pillow 9.4, PDQ as computed by its reference implementation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/image.h>

#include "planes.h"

static const struct {
    unsigned pattern;
    uint32_t width, height;
    const char *phash256, *imagehash, *pdq;
    uint8_t pdq_quality;
} golden[] = {
    {0, 200, 150, "95542815fffea000ca9480475e6d555dddbbc55ec822359b55875bef2d48a045",
     "8d0d1d1d39f3e286", "aeb05d679adc9523a24c6eb04d67494f9adcd2b09523b567a34caa5caa58aad8", 100},
    {1, 200, 150, "460abd2c6ef72030fc8d4becf65997dd3c79f3a995be67f8355de5ebeba95357",
     "a50f5a1059f158f7", "acaf0545ac2d47572c0d47570c0dc7e70c0dc7f70d0d07e7ad0df80412adfbf8", 100},
    {2, 200, 150, "c875e4c1044000005c437849f90fcd3edf0a269c04ec0d176f3627af3e9abac9",
     "860705010f7fdfdc", "b953225363d3c7969e1e3cdee4defd9bf81840989bf833f841b0c780ffc01810", 100},
    {0, 64, 64, "1f8000c32183c0180b4080060060c03340080064e00103200003186381e00cc0",
     "aa73a621af33b548", "ccdddefd0240ccfd10005008800c5300acddccdd556cf0ceeeddccffc0efe8fd", 29},
    {1, 64, 64, "01ccff23e2f6e51ffb81d3eca16b937556b7ed689892ab7ab2bdcb78ac7211c1",
     "ebc99bd698d290c2", "738cd6b5718cd6b5518cd6b5518cd6b5518cd6b5918c26b5ed8c2935ec6c2949", 44},
    {2, 64, 64, "e3768ba9e701ac90199346ceb69c0b2c33fd3cd0057791e547c8459ec5818d89",
     "a91e334f4c539e25", "4925b34dda599262649ac925926d64999a6374d2cd3cba6565991c79b3e69f34", 100},
    {0, 32, 32, "6f9b303b399ffcfcc330c04e4af0b03bce87b77ac56d0590501727d7076a38ae",
     "aa2afe28fa21817b", "f402d3d2bd00f5322fc42fd0d40bad0050ef50ef3d403fc2d0afb08fd0bff0af", 3},
    {1, 32, 32, "00000c000060030300000180000000c030000000000060000000c00000000000",
     "d580008000800080", "8e44ff8890a0a3d85004bef90d10d318b78e39d7609697fc0ee73789deca61df", 22},
    {0, 31, 47, "a5f8f37fcf16fcbc27dd6a058f78840e8c3626f7c348071900580ce8d9fd269d",
     "aa59fa7a8006fa66", "53342c4a54afaf0050ff2acf42bf354ad4022bcd50bf50ffbd0052ff542faf40", 13},
    {1, 31, 47, "16420c0011e033031c8021e604048cc3ff0081833800e0b44103cc09e1008c8c",
     "d580008000800080", "66e7303e1e5f8fe0cf009a07cfc35e90e4803e2d02fe3ffc1e916000e7e4de1b", 21},
    {2, 31, 47, "cb9365668d8379646dd4d9c1a79c0e2ddc6644cd7a6d08b869c803de9ce606b6",
     "827d52add22d52ad", "b4a54b5ab4a54b5a94a54a5ab4a54b5ab4a54b5ab4a54b5ab4a54b5ab4a54b5f", 66},
    {0, 513, 300, "0000000000000000fffffffffffe6a9000011018fdffffff0000000000000000",
     "83030303070fffff", "3f807f01fc00f05ff05fc1ffc3ff87fb87e88fe00fc01f801f803f803f003e80", 100},
    {1, 513, 300, "5b7a57e6cbb595987d4d7fe7f25ff54f656c518ebeeee75d5bcfeae893abc1fb",
     "aa00aaff555f0555", "01550355095503d5a9ff03d5095503f5f955abff095503ffa95503ff56aafc00", 100},
    {2, 513, 300, "00000000000000000d02400104000000cc04bfe4986628006d302a3f05107003",
     "8303030b073ffeee", "3e849fff9ea37fc7fffffe80ffdefa10fe002a12de000a0a0a50d600e800fc00", 100},
    {0, 300, 1100, "d1752a2a000000008a9635220090300ae949280f06118aa6a65aa9827006fa1a",
     "870f070f0f075f0f", "6c706e706cf064786ef064f86cf84cc0f3fe6ff8dfc07f007ce04c704ce06c70", 100},
    {1, 300, 1100, "d9172c6209221141f7abb77afbfb2ba8a5bb46f9d5d6d3d392878d6cf6e60beb",
     "aba9a3a9a3a983a9", "a01f0ab5801f2ab5801f2ab5001faab5ffe0554affe0554affe0554affe0554a", 100},
    {2, 300, 1100, "5414200000000000b08e1404411a922a4c002801801814488630274e08007000",
     "811b5f031f1f0b1f", "fe383f380ef8f250fe08f272f7c0cdf00380e7c0e3c8f7fce3808d88c0d0efc8", 100},
    {0, 40, 32, "f1dea0d39c8df8d8a7ca6273dc7242256e4270f00ec311ccea392445e764a464",
     "aa35bd74d528a835", "84c39bab64c184c17b287ba9a45675298356835675297d2a86d7a7579ad69756", 3},
    {1, 40, 32, "e1818c332078c39b0330819819e000f0303c0e6006007b030cc0e0601e606030",
     "ffd5aad4a8d4a0c0", "aaaa5555aaaa5555aaaa5555aaaa5555aaaa5555aaaa5555aaaa5555aaaa5555", 27},
    {2, 40, 32, "1fe607ce19a3b07c689152e7866cfc0320dcbb0842cb7da93cfca1e01b3e7139",
     "aa6ad52a55aa55aa", "5aaa5555aaaa5555aaaa5555aaa5556aaa5556aaad554aaa95552aaa5555aaab", 65},
    {0, 32, 90, "8c955859f23ca570bc007962937e46291a9a9e4ac4b4236cce6410875e5b2913",
     "a9225dd522dda25d", "59a2a65556aac936b65d59a2a65558aaa916a65d59a2a65d59aaa755a65d59a2", 100},
    {1, 32, 90, "f1803fe31ff8cf9ff3a00fa7f1f807dfb004fc7f4616617f88cfc027a66ffca7",
     "ffd5a0c8b4e892c4", "2ccc5b3bb444eb1356ee4d31aa444cb3556eaad1aaa4554b5556aaa9aaba5555", 40},
    {2, 32, 90, "6199f43df9a2e4403bc05319e59cd60810fc3cebb865a0fccdf83bbe3ed40332",
     "882b164d9ab5ead3", "12bb25644ba9965a6cd6d9a9b344569aad325265a48bdbd6372c4a59b4b45b6a", 100},
};
enum { GOLDEN = sizeof golden / sizeof *golden };

static int level(unsigned pattern, int x, int y)
{
    switch (pattern) {
    case 0:
        return (x * x + 3 * y * y) / 64 % 256;
    case 1:
        return abs((5 * x + 2 * y) % 510 - 255);
    default:
        return (x * y / 8 + 60 * ((x / 37 + y / 23) % 3)) % 256;
    }
}

static struct doppel_plane draw_pattern(unsigned pattern, uint32_t width, uint32_t height)
{
    struct doppel_plane plane = make_plane(width, height);
    for (int y = 0; y < (int)height; y++)
        for (int x = 0; x < (int)width; x++)
            set(&plane, (size_t)x, (size_t)y, level(pattern, x, y));
    return plane;
}

static void assert_code(const struct doppel_code *code, uint32_t bits, const char *expected)
{
    char hex[65];
    doppel_code_to_hex(code, bits, hex);
    assert_string_equal(hex, expected);
}

static void test_golden_codes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < GOLDEN; i++) {
        struct doppel_plane plane =
            draw_pattern(golden[i].pattern, golden[i].width, golden[i].height);
        struct doppel_code code = doppel_image_phash(&plane);
        assert_code(&code, 256, golden[i].phash256);
        assert_int_equal(doppel_image_imagehash(&plane, &code, NULL), DOPPEL_OK);
        assert_code(&code, 64, golden[i].imagehash);
        uint8_t quality;
        assert_int_equal(doppel_image_pdq(&plane, &code, &quality, NULL), DOPPEL_OK);
        assert_code(&code, 256, golden[i].pdq);
        assert_int_equal(quality, golden[i].pdq_quality);
        free_plane(&plane);
    }
}

/* What Python prints for a plane of one level: only the mean is above the median. */
static void test_flat_planes(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {3, 900}, {4, 4}, {32, 32}, {300, 200}, {700, 2}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct doppel_plane plane = make_plane(sizes[i][0], sizes[i][1]);
        memset(samples_of(&plane), 90, (size_t)plane.width * plane.height);
        struct doppel_code code;
        uint8_t quality = 99;
        assert_int_equal(doppel_image_imagehash(&plane, &code, NULL), DOPPEL_OK);
        assert_code(&code, 64, "8000000000000000");
        assert_int_equal(doppel_image_pdq(&plane, &code, &quality, NULL), DOPPEL_OK);
        assert_int_equal(quality, 0);
        free_plane(&plane);
    }
}

static void test_empty_planes_are_refused(void **state)
{
    (void)state;
    const struct doppel_plane plane = {(const uint8_t *)"", 0, 0, 0};
    struct doppel_code code = {{1, 2, 3, 4}}, before = code;
    uint8_t quality = 7;
    struct doppel_error error;
    assert_int_equal(doppel_image_imagehash(&plane, &code, &error), DOPPEL_E_ARGUMENT);
    assert_int_equal(doppel_image_pdq(&plane, &code, &quality, &error), DOPPEL_E_ARGUMENT);
    assert_memory_equal(&code, &before, sizeof code);
    assert_int_equal(quality, 7);
}

static void test_stride_is_honoured(void **state)
{
    (void)state;
    struct doppel_plane wide = draw_scene(300, 200, 5);
    const struct doppel_plane part = {wide.data + 10, 120, 200, wide.stride};
    struct doppel_plane copy = make_plane(120, 200);
    for (size_t y = 0; y < 200; y++)
        for (size_t x = 0; x < 120; x++)
            set(&copy, x, y, get(&part, x, y));
    struct doppel_code a, b;
    uint8_t quality_a, quality_b;
    assert_int_equal(doppel_image_imagehash(&part, &a, NULL), DOPPEL_OK);
    assert_int_equal(doppel_image_imagehash(&copy, &b, NULL), DOPPEL_OK);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(doppel_image_pdq(&part, &a, &quality_a, NULL), DOPPEL_OK);
    assert_int_equal(doppel_image_pdq(&copy, &b, &quality_b, NULL), DOPPEL_OK);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(quality_a, quality_b);
    free_plane(&wide);
    free_plane(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_codes),
        cmocka_unit_test(test_flat_planes),
        cmocka_unit_test(test_empty_planes_are_refused),
        cmocka_unit_test(test_stride_is_honoured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
