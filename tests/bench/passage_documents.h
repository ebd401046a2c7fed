/* Documents of unrelated Debian packages, as words, and copies with a passage planted in them. */
#ifndef TESTS_BENCH_PASSAGE_DOCUMENTS_H
#define TESTS_BENCH_PASSAGE_DOCUMENTS_H

#include <doppel/match.h>

enum { DOCUMENT_WORDS = 5000, MOST_DOCUMENTS = 400 };

/* Words of a document, and its keys; places are numbers of words. */
struct document {
    struct doppel_text_word words[DOCUMENT_WORDS + 100];
    struct doppel_text_key keys[DOCUMENT_WORDS + 100];
    uint32_t word_count;
    size_t key_count;
};

struct doppel_passage_text document_text(const struct document *document);

struct documents {
    struct document *items;
    size_t count;
    size_t read_bytes;   /* of the texts they were made of */
    double read_seconds; /* CPU: from bytes to words with places and keys */
};

/* One document a source package, of the half `keep` (0 or 1) of them that has enough prose, without
 * licences; without changelogs, too, unless wanted: they are of few phrases. */
void documents_load(struct documents *documents, unsigned keep, bool changelogs);
void documents_free(struct documents *documents);

/* A passage of `from`, edited, in the place of some words of `to`. */
struct plant {
    const struct document *from, *to;
    uint32_t from_first, to_first, words; /* of the passage as it was */
    double edits;                         /* of each word: replaced, inserted or dropped */
};

/* @param out_planted words of the passage as it is now */
void plant_passage(const struct plant *plant, const struct documents *documents, uint64_t *seed,
                   struct document *out, uint32_t *out_planted);

/* Number the words' places, and choose keys. */
void document_finish(struct document *document);

#endif
