/* passage_library TEXTS FOLDER: make FOLDER/library of so many made texts of some 300 words each,
 * winnow32, unless it is there; each third shares a passage with the one before it. And
 * FOLDER/one.txt, with a passage of a text in the middle. tests/bench/ask_texts.py asks it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/library.h>
#include <doppel/text.h>

#include "bench.h"

enum { WORDS = 300, SHARED = 40, VOCABULARY = 200000, A_COMMIT = 2000 };

static uint64_t mixed(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Of a text: words that are written often are so by a power law. */
static unsigned word_of(uint64_t text, uint64_t place)
{
    if (text % 3 == 2 && place >= 100 && place < 100 + SHARED)
        text--;
    double share = (double)(mixed(text * 1000003 + place + 1) >> 11) * 0x1p-53;
    return (unsigned)(VOCABULARY * share * share * share);
}

static size_t write_text(uint64_t text, char *out)
{
    size_t size = 0;
    for (uint64_t i = 0; i < WORDS; i++)
        size += (size_t)sprintf(out + size, "w%u ", word_of(text, i));
    return size;
}

static bool add_text(struct doppel_library *library, struct doppel_text *reader, uint64_t number)
{
    static char bytes[WORDS * 12];
    const struct doppel_text_options options = doppel_text_options_default();
    struct doppel_text_result result;
    struct doppel_record record = {.kind = DOPPEL_KIND_TEXT, .scheme = DOPPEL_SCHEME_WINNOW32};
    struct doppel_file_stamp stamp = {.inode = number + 1, .mtime_ns = 1};
    enum doppel_added added;
    char path[64];
    uint64_t id;
    size_t size = write_text(number, bytes);
    if (doppel_text_read(reader, bytes, size, DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_PASSAGES, &result,
                         NULL) ||
        doppel_text_fingerprint(record.scheme, &options, &result, &record.fingerprint, NULL))
        return false;
    record.version = record.fingerprint.version;
    record.digest = doppel_digest_bytes(bytes, size);
    record.attachment_size = doppel_text_attachment_size(&result);
    record.attachment = malloc(record.attachment_size);
    snprintf(path, sizeof path, "/made/%llu/%llu.txt", (unsigned long long)number / 1000,
             (unsigned long long)number);
    bool good = record.attachment != NULL;
    if (good)
        doppel_text_attachment_write(&result, record.attachment);
    good = good && !doppel_library_add(library, path, &stamp, &record, &added, &id, NULL);
    doppel_record_free(&record);
    return good;
}

static bool make_texts(const char *folder, uint64_t count)
{
    const struct doppel_library_options create = {.create = true};
    struct doppel_library *library;
    struct doppel_text *reader;
    char path[4096];
    bool good = true;
    snprintf(path, sizeof path, "%s/library", folder);
    if (doppel_library_open(path, &create, &library, NULL))
        return false;
    if (doppel_text_new(NULL, &reader, NULL)) {
        doppel_library_close(library);
        return false;
    }
    double begun = bench_seconds(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < count && good; i++) {
        good = add_text(library, reader, i);
        if (i % A_COMMIT == A_COMMIT - 1)
            good = good && !doppel_library_commit(library, NULL);
    }
    good = good && !doppel_library_commit(library, NULL);
    doppel_text_free(reader);
    doppel_library_close(library);
    printf("%llu texts of %d words: made in %.1f s\n", (unsigned long long)count, WORDS,
           bench_seconds(CLOCK_MONOTONIC) - begun);
    return good;
}

/* Words of its own, and a passage of the text in the middle. */
static bool write_query(const char *folder, uint64_t count)
{
    char path[4096], bytes[WORDS * 12];
    snprintf(path, sizeof path, "%s/one.txt", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    write_text(count + 9, bytes);
    fputs(bytes, file);
    for (uint64_t i = 0; i < SHARED; i++)
        fprintf(file, "w%u ", word_of(count / 2, 200 + i));
    return fclose(file) == 0;
}

int main(int count, char **arguments)
{
    char path[4096];
    if (count != 3)
        return fprintf(stderr, "usage: passage_library TEXTS FOLDER\n"), 2;
    const uint64_t texts = strtoull(arguments[1], NULL, 10);
    snprintf(path, sizeof path, "%s/library/catalogue.db", arguments[2]);
    FILE *there = fopen(path, "r");
    if (there)
        fclose(there);
    return (there || make_texts(arguments[2], texts)) && write_query(arguments[2], texts) ? 0 : 1;
}
