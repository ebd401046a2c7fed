/* What becomes of source code: other names, another layout, other comments. */
#include "changes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool starts_name(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t name_size(const char *text)
{
    size_t size = 0;
    while (in_name(text[size]))
        size++;
    return size;
}

/* Lower-case words of up to 6 letters are mostly keywords, and stay. */
static bool is_keyword_like(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!islower((unsigned char)name[i]))
            return false;
    return size <= 6;
}

/* A share of the names, each one everywhere. */
static void rename_some(const struct document *document, double amount,
                        struct change_source *source, struct draft *out)
{
    uint64_t salt = next_random(&source->seed);
    for (size_t at = 0; at < document->size;) {
        const char *text = document->text + at;
        size_t size = starts_name(*text) ? name_size(text) : 1;
        uint64_t seed = hash_bytes(text, size) ^ salt;
        bool renamed = starts_name(*text) && !is_keyword_like(text, size) &&
                       (double)(next_random(&seed) >> 11) * 0x1p-53 < amount;
        draft_add(out, text, size);
        if (renamed) {
            char suffix = (char)('a' + next_random(&seed) % 26);
            draft_add(out, &suffix, 1);
        }
        at += size;
    }
}

/* Other indentation, blank lines gone, spaces around operators. */
static void reformat(const struct document *document, double amount, struct change_source *source,
                     struct draft *out)
{
    (void)amount, (void)source;
    for (size_t i = 0; i < document->size; i++) {
        char c = document->text[i], before = i ? document->text[i - 1] : '\n';
        if (c == '\n' && before == '\n')
            continue;
        if (c == ' ' && before == '\n')
            draft_add(out, "\t", 1);
        else if (strchr("(){}=+*<>,;", c) && c)
            draft_add(out, (char[]){' ', c, ' '}, 3);
        else if (c != ' ' || before != ' ')
            draft_add(out, &c, 1);
    }
}

/* Where the comment at `text` ends; 0: none begins there. */
static size_t comment_size(const char *text, bool hashes)
{
    if (strncmp(text, "/*", 2) == 0) {
        const char *end = strstr(text + 2, "*/");
        return end ? (size_t)(end - text) + 2 : strlen(text);
    }
    if (strncmp(text, "//", 2) == 0 || (hashes && *text == '#'))
        return strcspn(text, "\n");
    return 0;
}

/* Comments gone. */
static void uncomment(const struct document *document, double amount, struct change_source *source,
                      struct draft *out)
{
    size_t length = strlen(document->path);
    bool hashes = length > 3 && strcmp(document->path + length - 3, ".py") == 0;
    (void)amount, (void)source;
    for (size_t at = 0; at < document->size;) {
        size_t size = comment_size(document->text + at, hashes);
        if (!size)
            draft_add(out, document->text + at++, 1);
        at += size;
    }
}

const struct change code_changes[] = {
    {"reformatted", reformat, 0},
    {"comments gone", uncomment, 0},
    {"5 % of names other", rename_some, 0.05},
    {"10 % of names other", rename_some, 0.1},
    {"20 % of names other", rename_some, 0.2},
};

const size_t code_change_count = sizeof code_changes / sizeof *code_changes;
