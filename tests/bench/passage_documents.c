/* Documents of unrelated Debian packages, as words. */
#include "passage_documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "debian_text.h"
#include "match/images.h"
#include "text/winnow.h"

enum { HEADER_WORDS = 40, PACKAGE_BYTES = 1 << 20 };

struct doppel_passage_text document_text(const struct document *document)
{
    return (struct doppel_passage_text){.words = document->words,
                                        .word_count = document->word_count,
                                        .keys = document->keys,
                                        .key_count = document->key_count};
}

void document_finish(struct document *document)
{
    for (uint32_t i = 0; i < document->word_count; i++) {
        document->words[i].start = i;
        document->words[i].end = i + 1;
    }
    document->key_count = winnow(document->words, document->word_count, document->keys);
}

/* FNV-1a of a name, a bit of it. */
static unsigned half_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash >> 16 & 1;
}

static bool has(const char *bytes, size_t size, const char *word)
{
    return memmem(bytes, size, word, strlen(word));
}

/* Licences are the same everywhere, and so are the headings of a changelog. */
static bool is_wanted(const char *bytes, size_t size, bool changelogs)
{
    return !has(bytes, size, "warrant") && !has(bytes, size, "WARRANT") &&
           !has(bytes, size, "icensed") && (changelogs || !has(bytes, size, "urgency="));
}

static void add_words(struct document *document, const struct doppel_text_result *result)
{
    for (uint64_t i = HEADER_WORDS; i < result->words && document->word_count < DOCUMENT_WORDS; i++)
        document->words[document->word_count++] = result->places[i];
}

/* Whether a package has words enough for a document. */
static bool load_package(struct documents *documents, struct doppel_text *workspace,
                         const char *package, bool changelogs)
{
    struct document *document = &documents->items[documents->count];
    struct debian_text text = {0};
    char folder[512];
    snprintf(folder, sizeof folder, "/usr/share/doc/%s", package);
    debian_text_find(&text, folder, PACKAGE_BYTES, 2);
    document->word_count = 0;
    for (size_t i = 0; i < text.count && document->word_count < DOCUMENT_WORDS; i++) {
        const char *bytes = text.bytes + text.starts[i];
        size_t size = text.starts[i + 1] - text.starts[i];
        struct doppel_text_result result;
        if (!is_wanted(bytes, size, changelogs))
            continue;
        double before = bench_now().cpu;
        if (doppel_text_read(workspace, bytes, size, DOPPEL_TEXT_PASSAGES, &result, NULL))
            abort();
        documents->read_seconds += bench_now().cpu - before;
        documents->read_bytes += size;
        add_words(document, &result);
    }
    debian_text_free(&text);
    document_finish(document);
    return document->word_count == DOCUMENT_WORDS;
}

void documents_load(struct documents *documents, unsigned keep, bool changelogs)
{
    char source[256], package[256], last[256] = "";
    struct doppel_text *workspace;
    FILE *list = popen("dpkg-query -W -f '${source:Package} ${Package}\\n' | LC_ALL=C sort", "r");
    *documents = (struct documents){.items = calloc(MOST_DOCUMENTS, sizeof(struct document))};
    if (!list || !documents->items || doppel_text_new(NULL, &workspace, NULL))
        abort();
    while (fscanf(list, "%255s %255s", source, package) == 2) {
        if (strcmp(source, last) == 0 || half_of(source) != keep ||
            documents->count == MOST_DOCUMENTS - 1)
            continue;
        if (load_package(documents, workspace, package, changelogs)) {
            documents->count++;
            memcpy(last, source, sizeof last);
        }
    }
    doppel_text_free(workspace);
    pclose(list);
}

void documents_free(struct documents *documents)
{
    free(documents->items);
    *documents = (struct documents){0};
}

static struct doppel_text_word any_word(const struct documents *documents, uint64_t *seed)
{
    return documents->items[random_word(seed) % documents->count]
        .words[random_word(seed) % DOCUMENT_WORDS];
}

static void copy(struct document *out, const struct document *from, uint32_t first, uint32_t end)
{
    memcpy(out->words + out->word_count, from->words + first, (end - first) * sizeof *out->words);
    out->word_count += end - first;
}

void plant_passage(const struct plant *plant, const struct documents *documents, uint64_t *seed,
                   struct document *out, uint32_t *out_planted)
{
    enum { REPLACED, INSERTED, DROPPED, KEPT };
    out->word_count = 0;
    copy(out, plant->to, 0, plant->to_first);
    for (uint32_t i = 0; i < plant->words; i++) {
        bool edited = (double)(random_word(seed) >> 11) * 0x1p-53 < plant->edits;
        unsigned how = edited ? (unsigned)(random_word(seed) % 3) : KEPT;
        if (how == REPLACED || how == INSERTED)
            out->words[out->word_count++] = any_word(documents, seed);
        if (how == INSERTED || how == KEPT)
            out->words[out->word_count++] = plant->from->words[plant->from_first + i];
    }
    *out_planted = out->word_count - plant->to_first;
    copy(out, plant->to, plant->to_first + plant->words, plant->to->word_count);
    document_finish(out);
}
