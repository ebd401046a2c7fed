/* English texts that Debian packages ship: found, unpacked, stripped of markup and other scripts.
 */
#include "documents.h"

#include <ctype.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "families.h"

enum { MAX_BYTES = 1 << 20 };

const char *const document_folders[] = {"/usr/share/doc",
                                        "/usr/share/man/man1",
                                        "/usr/share/man/man3",
                                        "/usr/share/man/man5",
                                        "/usr/share/man/man7",
                                        "/usr/share/man/man8",
                                        NULL};

uint64_t hash_bytes(const void *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a, mixed at the end */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
    return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15;
}

static void *need(void *memory)
{
    if (memory)
        return memory;
    fputs("out of memory\n", stderr);
    exit(2);
}

/* ---- names ---- */

static bool ends_with(const char *name, const char *ending)
{
    size_t a = strlen(name), b = strlen(ending);
    return a > b && strcmp(name + a - b, ending) == 0;
}

/* Not markup, and no program or picture. */
static bool is_text_name(const char *path)
{
    static const char *const endings[] = {".txt", ".md", ".rst", ".TXT"};
    static const char *const names[] = {"README",  "NEWS",      "changelog", "FAQ",     "TODO",
                                        "AUTHORS", "copyright", "THANKS",    "INSTALL", "BUGS"};
    char base[256];
    const char *slash = strrchr(path, '/');
    snprintf(base, sizeof base, "%s", slash ? slash + 1 : path);
    if (ends_with(base, ".gz"))
        base[strlen(base) - 3] = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(base, endings[i]))
            return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0 && !ends_with(base, ".html"))
            return true;
    return strstr(path, "/man/man") != NULL;
}

static bool is_common_name(const char *name)
{
    static const char *const words[] = {"copyright", "changelog", "COPYING", "LICENSE",
                                        "NEWS.Debian"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

static bool is_wanted(const char *path, const char *const *endings)
{
    if (!endings)
        return is_text_name(path);
    for (size_t i = 0; endings[i]; i++)
        if (ends_with(path, endings[i]))
            return true;
    return false;
}

/* ---- texts ---- */

/* Markup of man pages goes: requests, fonts, escaped characters. */
static size_t strip_roff(char *text, size_t size)
{
    size_t out = 0;
    for (size_t i = 0; i < size; i++) {
        bool begins = i == 0 || text[i - 1] == '\n';
        if (begins && (text[i] == '.' || text[i] == '\'')) {
            bool paragraph = strncmp(text + i, ".PP", 3) == 0 || strncmp(text + i, ".SH", 3) == 0 ||
                             strncmp(text + i, ".TP", 3) == 0 || strncmp(text + i, ".LP", 3) == 0;
            while (i < size && text[i] != '\n' && text[i] != ' ')
                i++;
            if (text[i - 1] == '"') /* a comment */
                while (i < size && text[i] != '\n')
                    i++;
            text[out++] = paragraph ? '\n' : ' ';
            i--;
        } else if (text[i] == '\\' && i + 1 < size) {
            i++;
            if (text[i] == 'f' && i + 1 < size)
                i += text[i + 1] == '(' ? 3 : 1;
            else if (text[i] == '(')
                i += 2;
            else if (text[i] == '-')
                text[out++] = '-';
        } else {
            text[out++] = text[i];
        }
    }
    return out < size ? out : size;
}

static size_t only_ascii(char *text, size_t size)
{
    size_t out = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] != '\r')
            text[out++] = (text[i] >= ' ' && text[i] < 0x7f) || text[i] == '\n' ? text[i] : ' ';
    return out;
}

size_t count_words(const char *text, size_t size)
{
    size_t words = 0;
    for (size_t i = 0; i < size; i++)
        words += isalnum((unsigned char)text[i]) &&
                 (i + 1 == size || !isalnum((unsigned char)text[i + 1]));
    return words;
}

size_t words_end(const char *text, size_t size, size_t words)
{
    size_t at = 0;
    for (; words && at < size; words--) {
        while (at < size && !isalnum((unsigned char)text[at]))
            at++;
        while (at < size && isalnum((unsigned char)text[at]))
            at++;
    }
    return at;
}

/* NULL: none, or too large. */
static char *read_text(const char *path, size_t *out_size)
{
    gzFile file = gzopen(path, "rb"); /* it reads plain files too */
    if (!file)
        return NULL;
    char *text = need(malloc(MAX_BYTES + 64));
    int size = gzread(file, text, MAX_BYTES);
    gzclose(file);
    if (size <= 0 || size == MAX_BYTES || memchr(text, 0, (size_t)size)) {
        free(text);
        return NULL;
    }
    *out_size = (size_t)size;
    if (strstr(path, "/man/man"))
        *out_size = strip_roff(text, *out_size);
    *out_size = only_ascii(text, *out_size);
    text[*out_size] = 0;
    return need(realloc(text, *out_size + 1));
}

/* ---- collecting ---- */

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void keep(struct documents *documents, struct document document)
{
    if (documents->count == documents->capacity) {
        documents->capacity = 2 * documents->capacity + 1024;
        documents->items = need(realloc(documents->items, documents->capacity * sizeof document));
    }
    documents->items[documents->count++] = document;
}

static struct documents find_paths(const struct documents_wish *wish)
{
    struct documents found = {0};
    FTS *walk =
        fts_open((char *const *)(uintptr_t)wish->folders, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    if (!walk) {
        perror("fts_open");
        exit(2);
    }
    struct families *families = families_load();
    for (FTSENT *entry; (entry = fts_read(walk));) {
        uint64_t family = family_of(families, entry->fts_path);
        if (!(wish->own_words && is_common_name(entry->fts_name)) && entry->fts_info == FTS_F &&
            entry->fts_statp->st_size > 400 && is_wanted(entry->fts_path, wish->endings) &&
            (family >> 63) == wish->held)
            keep(&found,
                 (struct document){.path = need(strdup(entry->fts_path)), .family = family});
    }
    families_free(families);
    fts_close(walk);
    return found;
}

/* An order that has nothing to do with names. */
static int by_hash(const void *a, const void *b)
{
    const struct document *x = a, *y = b;
    uint64_t i = hash_bytes(x->path, strlen(x->path)), j = hash_bytes(y->path, strlen(y->path));
    return (i > j) - (i < j);
}

static bool is_known(const uint64_t *hashes, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++)
        if (hashes[i] == hash)
            return true;
    return false;
}

/* False: it is not wanted. */
static bool read_document(const struct documents_wish *wish, struct document *document)
{
    document->text = read_text(document->path, &document->size);
    if (!document->text || count_words(document->text, document->size) < wish->min_words)
        return false;
    if (wish->cut_words) {
        document->size = words_end(document->text, document->size, wish->cut_words);
        document->text[document->size] = 0;
    }
    return true;
}

struct documents documents_load(const struct documents_wish *wish)
{
    struct documents found = find_paths(wish), kept = {0};
    uint64_t *hashes = need(malloc((wish->max_count + 1) * sizeof *hashes));
    if (found.count)
        qsort(found.items, found.count, sizeof *found.items, by_hash);
    for (size_t i = 0; i < found.count; i++) {
        struct document *document = &found.items[i];
        size_t n = kept.count;
        bool wanted = n < wish->max_count && read_document(wish, document);
        hashes[n] = wanted ? hash_bytes(document->text, document->size) : 0;
        if (wanted && !is_known(hashes, n, hashes[n])) {
            keep(&kept, *document);
        } else {
            free(document->path);
            free(document->text);
        }
    }
    free(hashes);
    free(found.items);
    return kept;
}

void documents_free(struct documents *documents)
{
    for (size_t i = 0; i < documents->count; i++) {
        free(documents->items[i].path);
        free(documents->items[i].text);
    }
    free(documents->items);
}
