/* WordNet's first senses, and texts with words exchanged by them. */
#include "synonyms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/core.h>

#include "core/array.h"
#include "core/bytes.h"
#include "core/number_map.h"

enum { MOST_SYNONYMS = 24, MOST_WORD = 64, MOVED = 6 };

struct synonym_set {
    char *words[MOST_SYNONYMS];
    size_t count;
};

struct synonyms {
    struct number_map map; /* a word's key to its place + 1 */
    ARRAY(struct synonym_set) sets;
};

/* ---- WordNet ---- */

/* Given (free), with a NUL behind it; NULL: it cannot be read. */
static char *read_dictionary(const char *folder, const char *kind, const char *part)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, kind, part);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    char *bytes = malloc(size + 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, size, file) != size)
        abort();
    bytes[size] = '\0';
    fclose(file);
    return bytes;
}

static uint64_t key_of_word(const char *word)
{
    return get_u64(doppel_digest_bytes(word, strlen(word)).bytes) | 1;
}

static struct synonym_set *set_of_word(struct synonyms *synonyms, const char *word)
{
    const struct synonym_set empty = {.count = 0};
    if (!number_map_reserve(&synonyms->map, 1))
        abort();
    uint64_t *place = number_map_place(&synonyms->map, key_of_word(word));
    if (!*place) {
        if (!array_push(&synonyms->sets, empty))
            abort();
        *place = synonyms->sets.count;
    }
    return &synonyms->sets.items[*place - 1];
}

/* In lower case, without a marker as in `able(p)`. */
static void fold_word(char *word)
{
    word[strcspn(word, "(")] = '\0';
    for (; *word; word++)
        *word = (char)tolower((unsigned char)*word);
}

/* Words of a line of data: offset, file, kind, how many in hexadecimal, and each with a number. */
static void take_sense(struct synonym_set *set, const char *lemma, const char *line)
{
    unsigned count = 0;
    int used = 0;
    if (sscanf(line, "%*s %*s %*s %x%n", &count, &used) != 1)
        return;
    for (line += used; count--; line += used) {
        char word[MOST_WORD];
        if (sscanf(line, " %63s %*s%n", word, &used) != 1)
            return;
        fold_word(word);
        bool known = strcmp(word, lemma) == 0 || strchr(word, '_');
        for (size_t i = 0; i < set->count; i++)
            known |= strcmp(set->words[i], word) == 0;
        if (!known && set->count < MOST_SYNONYMS)
            set->words[set->count++] = strdup(word);
    }
}

/* A line of an index: word, kind, how many senses, how many pointers, these, two numbers, and the
 * places of the senses in the data, the most frequent first. */
static void take_lemma(struct synonyms *synonyms, const char *line, const char *data)
{
    char lemma[MOST_WORD];
    unsigned pointers;
    int used = 0;
    if (sscanf(line, "%63s %*s %*s %u%n", lemma, &pointers, &used) != 2 || strchr(lemma, '_'))
        return;
    for (unsigned i = 0; i < pointers + 2; i++) {
        line += used;
        sscanf(line, " %*s%n", &used);
    }
    take_sense(set_of_word(synonyms, lemma), lemma, data + strtoul(line + used, NULL, 10));
}

struct synonyms *synonyms_load(const char *folder)
{
    static const char *const parts[] = {"noun", "verb", "adj", "adv"};
    struct synonyms *synonyms = calloc(1, sizeof *synonyms);
    for (size_t i = 0; i < 4; i++) {
        char *index = read_dictionary(folder, "index", parts[i]);
        char *data = read_dictionary(folder, "data", parts[i]);
        if (!index || !data || !synonyms) {
            free(index);
            free(data);
            synonyms_free(synonyms);
            return NULL;
        }
        for (char *line = index; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (*line && *line != ' ')
                take_lemma(synonyms, line, data);
        }
        free(index);
        free(data);
    }
    return synonyms;
}

void synonyms_free(struct synonyms *synonyms)
{
    if (!synonyms)
        return;
    for (size_t i = 0; i < synonyms->sets.count; i++)
        for (size_t j = 0; j < synonyms->sets.items[i].count; j++)
            free(synonyms->sets.items[i].words[j]);
    number_map_free(&synonyms->map);
    array_free(&synonyms->sets);
    free(synonyms);
}

/* ---- texts ---- */

static bool is_function_word(const char *word)
{
    static const char words[] =
        " the of to and in for that on is was said with he as it by at from his an be has are have "
        "but were not this who they had which will their or its one after new been also we would "
        "two more first about up when year there all out she other people her than over into last "
        "some a if no can do you ";
    char looked_for[MOST_WORD + 3];
    snprintf(looked_for, sizeof looked_for, " %s ", word);
    return strstr(words, looked_for);
}

/* @return NULL: it has none */
static const char *synonym_of(const struct synonyms *synonyms, const char *word, size_t size,
                              struct random *random)
{
    char folded[MOST_WORD];
    if (size >= sizeof folded)
        return NULL;
    memcpy(folded, word, size);
    folded[size] = '\0';
    fold_word(folded);
    const uint64_t place = number_map_find(&synonyms->map, key_of_word(folded));
    if (!place || is_function_word(folded) || !synonyms->sets.items[place - 1].count)
        return NULL;
    const struct synonym_set *set = &synonyms->sets.items[place - 1];
    return set->words[random_below(random, (int)set->count)];
}

/* Given (free). */
static char *replace_words(const struct synonyms *synonyms, const char *text, double probability,
                           struct random *random, struct replaced_words *count)
{
    char *out = malloc(strlen(text) * MOST_WORD + 1), *end = out;
    while (out && *text) {
        size_t size = 0;
        while (isalpha((unsigned char)text[size]))
            size++;
        const char *by = size ? synonym_of(synonyms, text, size, random) : NULL;
        count->words += size > 0;
        if (by && random_between(random, 0, 1) < probability) {
            count->replaced++;
            end = stpcpy(end, by);
        } else {
            memcpy(end, text, size + (size == 0));
            end += size + (size == 0);
        }
        text += size + (size == 0);
    }
    *end = '\0';
    return out;
}

struct moved_word {
    const char *word;
    double place;
};

static int compare_places_of_words(const void *a, const void *b)
{
    const struct moved_word *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

char *synonyms_rewrite(const struct synonyms *synonyms, const char *text, double probability,
                       struct random *random, struct replaced_words *count)
{
    char *replaced = replace_words(synonyms, text, probability, random, count), *save = NULL;
    const size_t size = strlen(replaced);
    char *out = calloc(1, size + 2), *end = out;
    ARRAY(struct moved_word) words = {0};
    for (char *word = strtok_r(replaced, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        const struct moved_word moved = {word,
                                         (double)words.count + random_between(random, 0, MOVED)};
        if (!array_push(&words, moved))
            abort();
    }
    if (words.count)
        qsort(words.items, words.count, sizeof *words.items, compare_places_of_words);
    for (size_t i = 0; i < words.count; i++) {
        end = stpcpy(end, words.items[i].word);
        *end++ = ' ';
    }
    if (end > out)
        end[-1] = '\0';
    array_free(&words);
    free(replaced);
    return out;
}
