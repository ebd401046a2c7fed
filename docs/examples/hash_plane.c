/* Hash a picture that is in memory already. Needs doppel-image alone:
 *
 *     cc hash_plane.c $(pkg-config --cflags --libs doppel-image) -o hash_plane
 */
#include <stdio.h>

#include <doppel/image.h>

enum { WIDTH = 320, HEIGHT = 240 };

static uint8_t pixels[HEIGHT][WIDTH];

/* A bright disc on a dark slope; `shift` moves it. */
static struct doppel_plane draw(int shift)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int dx = x - 120 - shift, dy = y - 90;
            int inside = dx * dx + dy * dy < 60 * 60;
            pixels[y][x] = (uint8_t)(inside ? 230 : x / 4 + y / 6);
        }
    struct doppel_plane plane = {&pixels[0][0], WIDTH, HEIGHT, WIDTH};
    return plane;
}

int main(void)
{
    struct doppel_plane plane = draw(0);
    struct doppel_code disc = doppel_image_phash(&plane);
    unsigned quality = doppel_image_quality(&plane);
    plane = draw(2);
    struct doppel_code moved = doppel_image_phash(&plane);
    plane = draw(120);
    struct doppel_code far_off = doppel_image_phash(&plane);

    char hex[17];
    doppel_code_to_hex(&disc, 64, hex);
    printf("phash64 %s, quality %u\n", hex, quality);
    printf("moved by 2 pixels:   %2u of 64 bits differ\n",
           (unsigned)doppel_code_distance(&disc, &moved, 64));
    printf("moved by 120 pixels: %2u of 64 bits differ\n",
           (unsigned)doppel_code_distance(&disc, &far_off, 64));
    return 0;
}
