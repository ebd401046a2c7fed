/* What becomes of texts on their way. */
#include "changes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static bool happens(uint64_t *seed, double chance)
{
    return (double)(next_random(seed) >> 11) * 0x1p-53 < chance;
}

void draft_add(struct draft *draft, const char *text, size_t size)
{
    if (draft->size + size + 1 > draft->capacity) {
        draft->capacity = 2 * (draft->size + size) + 256;
        draft->text = realloc(draft->text, draft->capacity);
        if (!draft->text)
            abort();
    }
    memcpy(draft->text + draft->size, text, size);
    draft->size += size;
    draft->text[draft->size] = 0;
}

static void add_text(struct draft *draft, const char *text)
{
    draft_add(draft, text, strlen(text));
}

/* ---- the changes ---- */

static const struct document *any_document(struct change_source *source)
{
    return &source->documents->items[next_random(&source->seed) % source->documents->count];
}

/* Some words in a row of some document. */
static void add_strange_words(struct draft *draft, size_t words, struct change_source *source)
{
    const struct document *document = any_document(source);
    size_t start =
        words_end(document->text, document->size,
                  next_random(&source->seed) % (count_words(document->text, document->size) + 1));
    size_t size = words_end(document->text + start, document->size - start, words);
    draft_add(draft, document->text + start, size);
    add_text(draft, " ");
}

static void copy(const struct document *document, double amount, struct change_source *source,
                 struct draft *out)
{
    (void)amount, (void)source;
    draft_add(out, document->text, document->size);
}

static void dateline(const struct document *document, double amount, struct change_source *source,
                     struct draft *out)
{
    static const char *const places[] = {"PARIS", "NEW YORK", "RIO DE JANEIRO", "Nairobi", "Oslo"};
    char line[128];
    (void)amount;
    snprintf(
        line, sizeof line, "%s, %u March 20%02u (Agency %u) -- ",
        places[next_random(&source->seed) % 5], (unsigned)(next_random(&source->seed) % 31 + 1),
        (unsigned)(next_random(&source->seed) % 30), (unsigned)(next_random(&source->seed) % 100));
    add_text(out, line);
    draft_add(out, document->text, document->size);
    add_text(out, "\n\nReporting by ");
    add_strange_words(out, 2, source);
    add_text(out, "; editing by ");
    add_strange_words(out, 2, source);
}

/* 100 words before and after: those of one of 20 sites. */
static void boilerplate(const struct document *document, double amount,
                        struct change_source *source, struct draft *out)
{
    struct change_source site = {source->documents, next_random(&source->seed) % 20};
    (void)amount;
    for (int i = 0; i < 4; i++)
        add_strange_words(out, 25, &site);
    add_text(out, "\n\n");
    draft_add(out, document->text, document->size);
    add_text(out, "\n\n");
    for (int i = 0; i < 4; i++)
        add_strange_words(out, 25, &site);
}

static void add_escaped(struct draft *draft, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '<')
            add_text(draft, "&lt;");
        else if (text[i] == '&')
            add_text(draft, "&amp;");
        else if (text[i] == '\n' && i + 1 < size && text[i + 1] == '\n')
            add_text(draft, "</p>\n<p>");
        else
            draft_add(draft, &text[i], 1);
    }
}

static void add_menu(struct draft *draft, const char *element, struct change_source *site)
{
    struct draft words = {0};
    char tag[32];
    snprintf(tag, sizeof tag, "<%s><ul><li>", element);
    add_text(draft, tag);
    for (int i = 0; i < 4; i++)
        add_strange_words(&words, 25, site);
    add_escaped(draft, words.text, words.size);
    snprintf(tag, sizeof tag, "</li></ul></%s>\n", element);
    add_text(draft, tag);
    free(words.text);
}

/* A page of one of 20 sites: the text among 400 words of menus, and a script. */
static void page(const struct document *document, double amount, struct change_source *source,
                 struct draft *out)
{
    struct change_source site = {source->documents, next_random(&source->seed) % 20};
    (void)amount;
    add_text(out,
             "<!DOCTYPE html>\n<html><head><title>A page</title><style>p { color: red }</style>"
             "<script>var words = \"one two three four five six seven\";</script></head><body>");
    add_menu(out, "header", &site);
    add_menu(out, "nav", &site);
    add_text(out, "<article><p>");
    add_escaped(out, document->text, document->size);
    add_text(out, "</p></article>\n");
    add_menu(out, "aside", &site);
    add_menu(out, "footer", &site);
    add_text(out, "</body></html>\n");
}

static void truncate(const struct document *document, double amount, struct change_source *source,
                     struct draft *out)
{
    size_t words = count_words(document->text, document->size);
    (void)source;
    draft_add(out, document->text,
              words_end(document->text, document->size, (size_t)((double)words * (1 - amount))));
}

static size_t paragraph_end(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size && text[at] == '\n')
        at++;
    while (at < size && !(text[at] == '\n' && (at + 1 == size || text[at + 1] == '\n')))
        at++;
    while (at < size && text[at] == '\n')
        at++;
    return at;
}

/* Paragraphs of at least `amount` words (shorter ones stay with the next), in another order. */
static void reorder(const struct document *document, double amount, struct change_source *source,
                    struct draft *out)
{
    enum { MAX = 4096 };
    size_t starts[MAX + 1] = {0}, order[MAX], count = 0;
    for (size_t at = 0; at < document->size && count < MAX;) {
        at += paragraph_end(document->text + at, document->size - at);
        size_t size = at - starts[count];
        if (count_words(document->text + starts[count], size) >= amount || at == document->size)
            starts[++count] = at;
    }
    starts[count] = document->size;
    for (size_t i = 0; i < count; i++) {
        size_t j = next_random(&source->seed) % (i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (size_t i = 0; i < count; i++) {
        draft_add(out, document->text + starts[order[i]], starts[order[i] + 1] - starts[order[i]]);
        add_text(out, "\n\n");
    }
}

static void replace_words(const struct document *document, double amount,
                          struct change_source *source, struct draft *out)
{
    for (size_t at = 0; at < document->size;) {
        size_t size = words_end(document->text + at, document->size - at, 1);
        add_text(out, " ");
        if (happens(&source->seed, amount))
            add_strange_words(out, 1, source);
        else
            draft_add(out, document->text + at, size);
        at += size ? size : 1;
    }
}

static size_t sentence_end(const char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++)
        if ((text[i] == '.' && isspace((unsigned char)text[i + 1])) ||
            (text[i] == '\n' && text[i + 1] == '\n'))
            return i + 1;
    return size;
}

/* A share of the sentences comes from elsewhere. */
static void rewrite(const struct document *document, double amount, struct change_source *source,
                    struct draft *out)
{
    for (size_t at = 0; at < document->size;) {
        size_t size = sentence_end(document->text + at, document->size - at);
        size_t words = count_words(document->text + at, size);
        if (words && happens(&source->seed, amount))
            add_strange_words(out, words, source);
        else
            draft_add(out, document->text + at, size);
        at += size;
    }
}

/* A share of the letters and digits is misread, dropped or doubled. */
static void misread(const struct document *document, double amount, struct change_source *source,
                    struct draft *out)
{
    for (size_t i = 0; i < document->size; i++) {
        char c = document->text[i];
        if (!isalnum((unsigned char)c) || !happens(&source->seed, amount)) {
            draft_add(out, &c, 1);
            continue;
        }
        uint64_t how = next_random(&source->seed) % 10;
        char wrong = (char)('a' + next_random(&source->seed) % 26);
        if (how > 1)
            draft_add(out, &wrong, 1);
        else if (how == 1)
            draft_add(out, (char[]){c, wrong}, 2);
    }
}

const struct change changes[] = {
    {"copy", copy, 0},
    {"dateline", dateline, 0},
    {"boilerplate, 2x100 words", boilerplate, 0},
    {"paragraphs reordered", reorder, 0},
    {"paragraphs of 40+ reordered", reorder, 40},
    {"truncated by 30 %", truncate, 0.3},
    {"truncated by 50 %", truncate, 0.5},
    {"1 % of words replaced", replace_words, 0.01},
    {"5 % of words replaced", replace_words, 0.05},
    {"10 % of sentences other", rewrite, 0.1},
    {"20 % of sentences other", rewrite, 0.2},
    {"30 % of sentences other", rewrite, 0.3},
    {"1 % of characters wrong", misread, 0.01},
    {"3 % of characters wrong", misread, 0.03},
    {"5 % of characters wrong", misread, 0.05},
    {"7 % of characters wrong", misread, 0.07},
    {"8 % of characters wrong", misread, 0.08},
    {"10 % of characters wrong", misread, 0.1},
    {"an HTML page with menus", page, 0}, /* the last: see documents_with_copies */
};

const size_t change_count = sizeof changes / sizeof *changes;

struct documents documents_with_copies(const struct documents *documents)
{
    struct documents all = {calloc(2 * documents->count + 1, sizeof *all.items), 0, 0};
    struct change_source source = {documents, 1};
    if (!all.items)
        abort();
    for (size_t i = 0; i < documents->count; i++) {
        struct draft draft = {0};
        const struct change *change = &changes[1 + i % (change_count - 2)]; /* plain texts */
        change->apply(&documents->items[i], change->amount, &source, &draft);
        all.items[all.count++] = documents->items[i];
        all.items[all.count++] =
            (struct document){"", draft.text, draft.size, documents->items[i].family};
    }
    return all;
}

void documents_free_copies(struct documents *all)
{
    for (size_t i = 1; i < all->count; i += 2)
        free(all->items[i].text);
    free(all->items);
}
