/* Twelve subjects, each a function from a point to a colour. */
#include "draw.h"

#include <math.h>
#include <stdlib.h>

/* ---- building blocks ---- */

struct colour {
    double red, green, blue;
};

/* The point that is asked for: y 0..1 from the top, x likewise times the aspect of 4:3. */
struct point {
    double x, y;
    uint32_t seed;
};

static const double ASPECT = 4.0 / 3.0;

static double lattice(int32_t x, int32_t y, uint32_t seed)
{
    uint32_t h = (uint32_t)x * 0x8da6b343u ^ (uint32_t)y * 0xd8163841u ^ seed * 0xcb1ab31fu;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (double)(h ^ h >> 15) / 4294967295.0;
}

static double mix(double a, double b, double t)
{
    return a + (b - a) * t;
}

static double smooth(double t)
{
    return t * t * (3 - 2 * t);
}

/* 0 below `from`, 1 above `to`. */
static double ramp(double from, double to, double value)
{
    double t = (value - from) / (to - from);
    return smooth(t < 0 ? 0 : t > 1 ? 1 : t);
}

static double noise(double x, double y, uint32_t seed)
{
    double left = floor(x), top = floor(y);
    int32_t i = (int32_t)left, j = (int32_t)top;
    double u = smooth(x - left), v = smooth(y - top);
    return mix(mix(lattice(i, j, seed), lattice(i + 1, j, seed), u),
               mix(lattice(i, j + 1, seed), lattice(i + 1, j + 1, seed), u), v);
}

/* Noise upon noise, each octave twice as fine and half as strong; 0..1. */
static double clouds(double x, double y, uint32_t seed)
{
    double sum = 0, weight = 0.5;
    for (uint32_t octave = 0; octave < 5; octave++) {
        sum += weight * noise(x, y, seed + octave);
        x *= 2;
        y *= 2;
        weight /= 2;
    }
    return sum / 0.96875;
}

/* A number that is the same all over a picture: its `n`th choice. */
static double choice(uint32_t seed, int32_t n, double from, double to)
{
    return mix(from, to, lattice(n, 7919, seed));
}

static struct colour blend(struct colour a, struct colour b, double t)
{
    return (struct colour){mix(a.red, b.red, t), mix(a.green, b.green, t), mix(a.blue, b.blue, t)};
}

static struct colour scale(struct colour a, double by)
{
    return (struct colour){a.red * by, a.green * by, a.blue * by};
}

static struct colour grey(double value)
{
    return (struct colour){value, value, value};
}

/* Distance of p to the segment from a to b. */
static double segment(double px, double py, double ax, double ay, double bx, double by)
{
    double dx = bx - ax, dy = by - ay;
    double t = ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy + 1e-12);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(px - ax - t * dx, py - ay - t * dy);
}

/* ---- subjects ---- */

static struct colour mountains(struct point p)
{
    double sun_x = choice(p.seed, 1, 0.1, 1.2), sun_y = choice(p.seed, 2, 0.1, 0.35);
    double glow = exp(-9 * hypot(p.x - sun_x, p.y - sun_y));
    struct colour sky = blend((struct colour){0.2, 0.3, 0.6}, (struct colour){1, 0.7, 0.4}, p.y);
    struct colour seen = blend(sky, (struct colour){1, 1, 0.85}, glow);
    if (hypot(p.x - sun_x, p.y - sun_y) < 0.07)
        seen = (struct colour){1, 0.98, 0.8};
    for (uint32_t ridge = 0; ridge < 4; ridge++) {
        double base = 0.35 + 0.16 * ridge;
        double top = base - 0.45 * (clouds(p.x * (2 + ridge), 0.5, p.seed + 40 * ridge) - 0.35);
        double rock = clouds(p.x * 14, p.y * 14, p.seed + ridge);
        if (p.y > top)
            seen = scale((struct colour){0.35, 0.42, 0.5}, (0.5 + rock) * (1 - 0.2 * ridge));
    }
    return seen;
}

static struct colour clock_face(struct point p)
{
    double cx = choice(p.seed, 1, 0.5, 0.83), cy = choice(p.seed, 2, 0.45, 0.55);
    double dx = p.x - cx, dy = p.y - cy, radius = hypot(dx, dy);
    struct colour wall = scale((struct colour){0.55, 0.35, 0.25},
                               0.5 + clouds(p.x * 3, p.y * 60, p.seed)); /* wood */
    if (radius > 0.42)
        return wall;
    if (radius > 0.38)
        return grey(0.15 + 0.5 * ramp(-0.3, 0.3, dx + dy));
    double angle = atan2(dx, -dy) / 6.283185307179586;
    double hour = choice(p.seed, 3, 0, 1), minute = fmod(hour * 12, 1);
    double tick = fabs(remainder(angle * 12, 1)) / 12;
    if (radius > 0.31 && tick * radius < 0.0018 * (1 + (radius < 0.36)))
        return grey(0.1);
    double short_hand = segment(dx, dy, 0, 0, 0.2 * sin(hour * 6.2832), -0.2 * cos(hour * 6.2832));
    double long_hand =
        segment(dx, dy, 0, 0, 0.3 * sin(minute * 6.2832), -0.3 * cos(minute * 6.2832));
    if (short_hand < 0.018 || long_hand < 0.01)
        return (struct colour){0.1, 0.1, 0.2};
    return grey(0.97 - 0.25 * radius);
}

static struct colour chart(struct point p)
{
    double left = 0.12, bottom = 0.88, step = 0.095;
    struct colour paper = grey(0.97);
    if (p.x < left || p.y > bottom)
        return fabs(p.x - left) < 0.004 || fabs(p.y - bottom) < 0.004 ? grey(0.1) : paper;
    int32_t bar = (int32_t)floor((p.x - left) / step);
    double within = (p.x - left) / step - bar;
    double height = 0.75 * lattice(bar, 5, p.seed) + 0.03;
    double curve = 0.15 + 0.5 * clouds(p.x * 2.5, 3.3, p.seed + 9);
    if (fabs(p.y - curve) < 0.009)
        return (struct colour){0.8, 0.1, 0.1};
    if (within > 0.15 && within < 0.85 && bottom - p.y < height)
        return blend((struct colour){0.1, 0.3, 0.6}, (struct colour){0.9, 0.6, 0.2},
                     lattice(bar, 6, p.seed));
    return fabs(remainder(p.y - bottom, 0.15)) < 0.002 ? grey(0.7) : paper;
}

static struct colour marble(struct point p)
{
    double warp_x = clouds(p.x * 3, p.y * 3, p.seed),
           warp_y = clouds(p.x * 3, p.y * 3, p.seed + 77);
    double vein = clouds(p.x * 2 + 3 * warp_x, p.y * 2 + 3 * warp_y, p.seed + 33);
    double fine = fabs(sin(14 * vein + 5 * p.x));
    return blend((struct colour){0.12, 0.2, 0.17}, (struct colour){0.92, 0.9, 0.82},
                 0.25 * fine + 0.9 * ramp(0.3, 0.7, vein));
}

static struct colour document(struct point p)
{
    struct colour paper = grey(0.98), ink = grey(0.12);
    double line_height = 0.032;
    int32_t line = (int32_t)floor(p.y / line_height);
    double within = p.y / line_height - line;
    double box_x = choice(p.seed, 1, 0.15, 0.7), box_y = choice(p.seed, 2, 0.3, 0.55);
    if (p.x > box_x && p.x < box_x + 0.45 && p.y > box_y && p.y < box_y + 0.28)
        return mountains((struct point){(p.x - box_x) * 2.9, (p.y - box_y) * 3.5, p.seed + 5});
    bool heading = line == 2 || line == 3;
    double end = heading ? 0.8 : lattice(line, 1, p.seed) < 0.2 ? 0.6 : 1.23;
    bool blank = lattice(line, 2, p.seed) < 0.15 || line < 2 || line > 28;
    if (p.x < 0.1 || p.x > end || (blank && !heading) || (within > 0.72 && !heading))
        return paper;
    double letter = heading ? 0.02 : 0.0085;
    int32_t column = (int32_t)floor(p.x / letter);
    if (lattice(column, heading ? 2 : line, p.seed + 3) < 0.18)
        return paper; /* between words */
    double stroke = noise(p.x / letter * 3, p.y / letter * 2.2, p.seed + 4);
    return stroke > 0.5 ? ink : paper;
}

static struct colour city(struct point p)
{
    struct colour seen =
        blend((struct colour){0.05, 0.07, 0.2}, (struct colour){0.7, 0.35, 0.4}, ramp(0, 0.9, p.y));
    for (int32_t row = 0; row < 3; row++) {
        double width = 0.09 + 0.03 * row, shifted = p.x + 0.37 * row;
        int32_t house = (int32_t)floor(shifted / width);
        double top = 0.25 + 0.2 * row + 0.4 * (lattice(house, row, p.seed) - 0.4);
        if (p.y < top)
            continue;
        double across = (shifted - house * width) / width * 6, up = (p.y - top) / 0.028;
        bool window =
            fabs(across - floor(across) - 0.5) < 0.28 && fabs(up - floor(up) - 0.5) < 0.28;
        bool lit =
            lattice((int32_t)floor(across) + 13 * house, (int32_t)floor(up), p.seed + 8) < 0.4;
        double wall = 0.12 + 0.14 * lattice(house, row + 10, p.seed);
        seen = window && lit ? (struct colour){1, 0.85, 0.5} : grey(window ? wall * 0.5 : wall);
    }
    return seen;
}

static struct colour julia(struct point p)
{
    double angle = choice(p.seed, 1, 0.6, 3.0);
    double cr = 0.7885 * cos(angle), ci = 0.7885 * sin(angle);
    double zr = (p.x - ASPECT / 2) * 2.6, zi = (p.y - 0.5) * 2.6;
    int steps = 0;
    while (steps < 90 && zr * zr + zi * zi < 16) {
        double next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
        steps++;
    }
    double t = sqrt(steps / 90.0);
    return (struct colour){ramp(0, 0.9, t), ramp(0.2, 1, t), 0.25 + 0.6 * ramp(0.1, 0.5, t)};
}

static struct colour planet(struct point p)
{
    double stars = lattice((int32_t)(p.x * 300), (int32_t)(p.y * 300), p.seed) > 0.993;
    double milk = clouds(p.x * 4 + p.y * 3, p.y * 4 - p.x * 2, p.seed + 3);
    struct colour sky = blend(grey(stars), (struct colour){0.5, 0.4, 0.7}, ramp(0.45, 0.9, milk));
    double radius = choice(p.seed, 1, 0.2, 0.34);
    double dx = (p.x - choice(p.seed, 2, 0.4, 0.95)) / radius;
    double dy = (p.y - choice(p.seed, 3, 0.4, 0.6)) / radius;
    double ring = hypot(dx, dy * 4 + dx);
    bool front = dy * 4 + dx > 0;
    if (ring > 1.35 && ring < 1.8 && (front || hypot(dx, dy) > 1))
        return scale((struct colour){0.9, 0.8, 0.6}, 0.5 + 0.5 * noise(ring * 30, 0, p.seed));
    if (hypot(dx, dy) > 1)
        return sky;
    double light = 0.15 + 0.85 * ramp(-0.4, 1.1, sqrt(1 - dx * dx - dy * dy) - 0.7 * dx - 0.3 * dy);
    double bands = clouds(dx + 2 * clouds(dx * 2, dy * 5, p.seed), dy * 7, p.seed + 1);
    return scale(blend((struct colour){0.9, 0.55, 0.3}, (struct colour){1, 0.95, 0.8}, bands),
                 light);
}

static struct colour tiles_and_balls(struct point p)
{
    for (int32_t ball = 0; ball < 4; ball++) {
        double radius = choice(p.seed, 10 + ball, 0.07, 0.19);
        double dx = (p.x - choice(p.seed, 20 + ball, 0.1, 1.2)) / radius;
        double dy = (p.y - choice(p.seed, 30 + ball, 0.35, 0.8)) / radius;
        if (dx * dx + dy * dy > 1)
            continue;
        double light = sqrt(1 - dx * dx - dy * dy) * 0.5 - 0.45 * dx - 0.45 * dy;
        struct colour paint = {choice(p.seed, 40 + ball, 0.2, 1), choice(p.seed, 50 + ball, 0.2, 1),
                               choice(p.seed, 60 + ball, 0.2, 1)};
        return blend(scale(paint, 0.25 + 0.75 * ramp(-0.3, 1, light)), grey(1),
                     ramp(0.85, 1, light));
    }
    double horizon = choice(p.seed, 3, 0.3, 0.45);
    if (p.y < horizon)
        return blend((struct colour){0.3, 0.5, 0.9}, grey(0.95), clouds(p.x * 4, p.y * 9, p.seed));
    double depth = 0.25 / (p.y - horizon + 0.02);
    double across = (p.x - choice(p.seed, 4, 0.2, 1.1)) * depth * 4;
    bool dark = ((int32_t)floor(across) + (int32_t)floor(depth * 3)) & 1;
    return grey(dark ? 0.15 : 0.85);
}

static struct colour tree(struct point p)
{
    struct colour seen =
        p.y < 0.8 ? blend((struct colour){0.55, 0.75, 0.95}, grey(1), p.y)
                  : scale((struct colour){0.4, 0.6, 0.2}, 0.5 + clouds(p.x * 30, p.y * 20, p.seed));
    double foot = choice(p.seed, 1, 0.4, 0.9);
    if (segment(p.x, p.y, foot, 0.9, foot, 0.45) < 0.012 + 0.05 * (p.y - 0.45))
        seen = scale((struct colour){0.35, 0.25, 0.15}, 0.5 + noise(p.x * 80, p.y * 9, p.seed));
    for (int32_t clump = 0; clump < 14; clump++) {
        double x = foot + choice(p.seed, 100 + clump, -0.32, 0.32);
        double y = 0.38 + choice(p.seed, 200 + clump, -0.26, 0.14);
        double edge = hypot(p.x - x, p.y - y) + 0.08 * clouds(p.x * 20, p.y * 20, p.seed);
        if (edge < 0.13)
            seen = scale((struct colour){0.25, 0.55, 0.2},
                         0.35 + 0.9 * clouds(p.x * 26, p.y * 26, p.seed + 7) - 2 * (p.y - y));
    }
    return seen;
}

static struct colour sea(struct point p)
{
    double horizon = choice(p.seed, 1, 0.35, 0.55), boat = choice(p.seed, 2, 0.25, 1.0);
    double size = choice(p.seed, 3, 0.6, 1.1), dx = (p.x - boat) / size;
    double dy = (p.y - horizon - 0.08) / size;
    if (dy < 0 && dy > -0.36 && dx > 0.01 && dx < 0.2 * (1 + dy / 0.36))
        return grey(0.97);
    if (dy < -0.03 && dy > -0.3 && dx < -0.005 && dx > -0.14 * (1 + dy / 0.3))
        return (struct colour){0.8, 0.2, 0.15};
    if (dy > 0.01 && dy < 0.06 && fabs(dx) < 0.2 - dy)
        return (struct colour){0.25, 0.15, 0.1};
    if (p.y < horizon)
        return blend((struct colour){0.35, 0.6, 0.9}, grey(1),
                     ramp(0.4, 0.75, clouds(p.x * 2.5, p.y * 6, p.seed)));
    double depth = 1 / (p.y - horizon + 0.06);
    double wave = clouds(p.x * depth * 1.2, depth * 5, p.seed + 2);
    return blend((struct colour){0.02, 0.2, 0.35}, (struct colour){0.7, 0.9, 0.95},
                 ramp(0.35, 0.85, wave));
}

static struct colour mosaic(struct point p)
{
    double gx = p.x * 7, gy = p.y * 7, nearest = 9, second = 9, tone = 0;
    int32_t column = (int32_t)floor(gx), row = (int32_t)floor(gy);
    for (int32_t j = row - 1; j <= row + 1; j++)
        for (int32_t i = column - 1; i <= column + 1; i++) {
            double away = hypot(gx - i - lattice(i, j, p.seed), gy - j - lattice(i, j, p.seed + 1));
            if (away < nearest)
                tone = lattice(i, j, p.seed + 2);
            second = away < nearest ? nearest : away < second ? away : second;
            nearest = away < nearest ? away : nearest;
        }
    if (second - nearest < 0.06)
        return grey(0.08);
    struct colour glass = {tone, lattice((int32_t)(tone * 1e6), 1, p.seed), 1 - tone};
    return scale(glass, 0.7 + 0.4 * clouds(p.x * 9, p.y * 9, p.seed + 3));
}

/* ---- drawing ---- */

static const struct {
    const char *name;
    struct colour (*at)(struct point);
} SUBJECTS[DRAW_SUBJECTS] = {
    {"mountains", mountains},   {"clock", clock_face}, {"chart", chart}, {"marble", marble},
    {"document", document},     {"city", city},        {"julia", julia}, {"planet", planet},
    {"tiles", tiles_and_balls}, {"tree", tree},        {"sea", sea},     {"mosaic", mosaic},
};

const char *draw_name(unsigned subject)
{
    return SUBJECTS[subject % DRAW_SUBJECTS].name;
}

static uint8_t to_byte(double value)
{
    return (uint8_t)(value <= 0 ? 0 : value >= 1 ? 255 : value * 255 + 0.5);
}

struct image draw_image(unsigned subject, uint32_t seed, uint32_t width, uint32_t height)
{
    struct image image = {width, height, malloc((size_t)width * height * 3)};
    uint8_t *out = image.pixels;
    for (uint32_t y = 0; out && y < height; y++)
        for (uint32_t x = 0; x < width; x++, out += 3) {
            struct point p = {ASPECT * (x + 0.5) / width, (y + 0.5) / height,
                              seed * 1009 + subject};
            struct colour colour = SUBJECTS[subject % DRAW_SUBJECTS].at(p);
            out[0] = to_byte(colour.red);
            out[1] = to_byte(colour.green);
            out[2] = to_byte(colour.blue);
        }
    return image;
}

void image_free(struct image *image)
{
    free(image->pixels);
    image->pixels = NULL;
}
