/* A library of texts with vectors: families of the same meaning in other words, and long ones that
 * share passages. */
#ifndef TESTS_SEARCH_LINKED_LIBRARY_H
#define TESTS_SEARCH_LINKED_LIBRARY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/decide.h>
#include <doppel/search_semantic.h>

#include "tests/embed/made_model.h"

enum { MEANINGS = 60, WORDINGS = 3, DIMENSION = 16, WORDS = 12, FAMILIES = 90, TEXTS = 150 };
enum { LONG_TEXTS = 6, PASSAGES = 6, PASSAGE_WORDS = 90, MOST_TEXTS = TEXTS + LONG_TEXTS };
enum { TEXT_BYTES = 8000 };

struct linked_library {
    struct made_folder folder;
    char directory[96];
    struct doppel_run *run;
    struct doppel_embedder *embedder;
    struct doppel_library *library;
    char *texts[MOST_TEXTS]; /* number i is item i + 1 */
    size_t count;
    bool scores; /* what is opened rates scores */
};

/* With a model and a run. */
int make_linked_library(void **state);
int remove_linked_library(void **state);

/* Close and open it again. */
void open_linked_library(struct linked_library *of, bool create);

/* @param embeds by the model, and is written to. @return given (doppel_semantic_free) */
struct doppel_semantic *open_links(const struct linked_library *of, bool embeds, double rate,
                                   float cosine);

#define ON_A_LIBRARY(test)                                                                         \
    cmocka_unit_test_setup_teardown(test, make_linked_library, remove_linked_library)

#endif
