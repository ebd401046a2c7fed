/* How fast text is normalised, and read into a MinHash, against utf8proc on the whole texts: man
 * pages of nine languages, and English documents. CPU time of one thread, best of some rounds. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>
#include <zlib.h>

#include <doppel/text.h>

#include "bench.h"
#include "text/room.h"

enum { LIMIT = 4 << 20, FILE_BYTES = 1 << 20, ROUNDS = 7 };

struct texts {
    uint8_t *bytes;
    size_t starts[20000], count;
};

/* ---- texts ---- */

/* Half of the files are for those who tune. */
static bool is_kept(const char *name, unsigned half)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return (hash >> 16 & 1) == half;
}

static void add_file(struct texts *texts, const char *path)
{
    size_t at = texts->starts[texts->count];
    gzFile file = gzopen(path, "rb");
    int got = file ? gzread(file, texts->bytes + at, FILE_BYTES) : 0;
    if (file)
        gzclose(file);
    if (got >= 1024 && got < FILE_BYTES)
        texts->starts[++texts->count] = at + (size_t)got;
}

static void add_folder(struct texts *texts, const char *folder, unsigned half)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, name);
        bool full = texts->starts[texts->count] > LIMIT || texts->count > 19990;
        if (entries[i]->d_type == DT_DIR && name[0] != '.')
            add_folder(texts, path, half);
        else if (entries[i]->d_type == DT_REG && !full && is_kept(name, half))
            add_file(texts, path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* ---- what is measured ---- */

typedef size_t read_text(void *context, const uint8_t *bytes, size_t size);

static size_t normalise(void *context, const uint8_t *bytes, size_t size)
{
    struct text_block block;
    size_t words = 0;
    normaliser_begin(context, bytes, size);
    while (normaliser_next(context, &block))
        words += block.words;
    return words;
}

static bool count_word(void *context, const uint8_t *word, size_t size, uint32_t start,
                       uint32_t end)
{
    (void)word, (void)start, (void)end;
    *(size_t *)context += size;
    return true;
}

static size_t place(void *context, const uint8_t *bytes, size_t size)
{
    size_t sum = 0;
    normaliser_places(context, bytes, size, count_word, &sum, NULL);
    return sum;
}

static size_t minhash(void *context, const uint8_t *bytes, size_t size)
{
    struct doppel_text_result result;
    doppel_text_read(context, bytes, size, DOPPEL_TEXT_MINHASH, &result, NULL);
    return result.lanes[0];
}

static size_t whole(void *context, const uint8_t *bytes, size_t size)
{
    utf8proc_uint8_t *out = NULL;
    (void)context;
    utf8proc_ssize_t got = utf8proc_map(bytes, (utf8proc_ssize_t)size, &out,
                                        UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                            UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
    free(out);
    return (size_t)got;
}

/* Seconds for all texts, the best of `rounds`. */
static double measure(const struct texts *texts, read_text *read, void *context, int rounds)
{
    static volatile size_t sink;
    double best = 1e9;
    for (int round = 0; round < rounds; round++) {
        double begin = bench_now().cpu;
        for (size_t i = 0; i < texts->count; i++)
            sink += read(context, texts->bytes + texts->starts[i],
                         texts->starts[i + 1] - texts->starts[i]);
        double seconds = bench_now().cpu - begin;
        best = seconds < best ? seconds : best;
    }
    return best;
}

struct line {
    double bytes, normalise, minhash, place, whole;
};

static void print_line(const char *name, const struct line *line)
{
    printf("%-10s %6.1f MB %9.0f %9.0f %9.0f %9.0f %8.0f x\n", name, line->bytes / 1e6,
           line->bytes / line->normalise / 1e6, line->bytes / line->minhash / 1e6,
           line->bytes / line->place / 1e6, line->bytes / line->whole / 1e6,
           line->whole / line->normalise);
}

static struct line measure_texts(const struct texts *texts)
{
    struct normaliser *normaliser;
    struct doppel_text *text;
    struct doppel_text_options options = doppel_text_options_default();
    struct line line = {.bytes = (double)texts->starts[texts->count]};
    if (normaliser_new(&options, &normaliser, NULL) || doppel_text_new(&options, &text, NULL))
        abort();
    line.normalise = measure(texts, normalise, normaliser, ROUNDS);
    line.place = measure(texts, place, normaliser, ROUNDS);
    line.minhash = measure(texts, minhash, text, ROUNDS);
    line.whole = measure(texts, whole, NULL, 1);
    normaliser_free(normaliser);
    doppel_text_free(text);
    return line;
}

/* text_normalise [0|1]: which half of the files; 1 is reported, 0 is for tuning. */
int main(int count, char **arguments)
{
    static const char *const languages[] = {"de", "fr", "es",    "pl", "ru",
                                            "uk", "ja", "zh_CN", "ko"};
    static struct texts texts;
    struct line all = {0};
    unsigned half = count > 1 ? (unsigned)atoi(arguments[1]) : 1;
    texts.bytes = malloc(LIMIT + 2 * FILE_BYTES);
    if (!texts.bytes)
        return 1;
    printf("%-10s %9s %9s %9s %9s %9s %10s\n", "", "", "normalise", "+ OPH-128", "places",
           "utf8proc", "ratio");
    add_folder(&texts, "/usr/share/doc", half);
    struct line english = measure_texts(&texts);
    print_line("English", &english);
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "/usr/share/man/%s", languages[i]);
        texts.count = 0;
        add_folder(&texts, folder, half);
        if (!texts.count) {
            printf("%-10s no man pages here\n", languages[i]);
            continue;
        }
        struct line line = measure_texts(&texts);
        print_line(languages[i], &line);
        all.bytes += line.bytes;
        all.normalise += line.normalise;
        all.minhash += line.minhash;
        all.place += line.place;
        all.whole += line.whole;
    }
    if (all.bytes > 0)
        print_line("these", &all);
    free(texts.bytes);
    return 0;
}
