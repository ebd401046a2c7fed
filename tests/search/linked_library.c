/* A library of texts with vectors. */
#include "tests/search/linked_library.h"

static void make_words(const struct made_folder *folder)
{
    FILE *file = fopen(made_path(folder, "words.txt"), "w");
    uint64_t state = 1;
    assert_non_null(file);
    for (int meaning = 0; meaning < MEANINGS; meaning++) {
        float centre[DIMENSION];
        for (int i = 0; i < DIMENSION; i++)
            centre[i] = made_random(&state);
        for (int wording = 0; wording < WORDINGS; wording++) {
            fprintf(file, "m%c%c%c", 'a' + wording, 'a' + meaning / 8, 'a' + meaning % 8);
            for (int i = 0; i < DIMENSION; i++)
                fprintf(file, " %.4f", (double)(centre[i] + made_random(&state) / 5));
            fputc('\n', file);
        }
    }
    fclose(file);
}

static void append_words(char *text, uint64_t seed, int wording, int words)
{
    for (int i = 0; i < words; i++) {
        int meaning = (int)((made_random(&seed) + 1) / 2 * MEANINGS);
        sprintf(text + strlen(text), "m%c%c%c ", 'a' + wording, 'a' + meaning / 8,
                'a' + meaning % 8);
    }
}

/* Of each family one text, then others in other words; then long ones, which share passages. */
static void make_text(char *text, int number)
{
    const int family = number < FAMILIES ? number : (number - FAMILIES) * 7 % FAMILIES;
    const int at = number - TEXTS;
    *text = '\0';
    if (number < TEXTS)
        append_words(text, 1000 + (uint64_t)family, number / FAMILIES + (number > 130), WORDS);
    for (int i = 0; i < PASSAGES && number >= TEXTS; i++) {
        const int shared = at == 0 || i < at;
        append_words(text, 5000 + (uint64_t)(shared ? i : 100 * at + i), at % WORDINGS,
                     PASSAGE_WORDS);
        strcpy(text + strlen(text) - 1, ".\n\n");
    }
}

struct doppel_semantic *open_links(const struct linked_library *of, bool embeds, double rate,
                                   float cosine)
{
    struct doppel_semantic_options options = doppel_semantic_options_default();
    struct doppel_semantic *semantic = NULL;
    struct doppel_error error = {0};
    options.embedder = embeds ? of->embedder : NULL;
    options.directory = of->directory;
    options.write = embeds;
    options.max_fp_rate = rate;
    options.min_cosine = cosine;
    options.scores = of->scores;
    options.nearest = MOST_TEXTS;
    if (doppel_semantic_new(of->run, of->library, &options, &semantic, &error))
        fail_msg("%s", error.message);
    return semantic;
}

void open_linked_library(struct linked_library *of, bool create)
{
    const struct doppel_library_options options = {.create = create};
    doppel_library_close(of->library);
    assert_int_equal(doppel_library_open(of->directory, &options, &of->library, NULL), DOPPEL_OK);
}

static void push_texts(struct linked_library *of)
{
    struct doppel_decide_options options = doppel_decide_options_default();
    struct doppel_decider *decider = NULL;
    struct doppel_decided decided;
    struct doppel_error error = {0};
    options.semantic = open_links(of, true, 1e-5, 0);
    if (doppel_decider_new(of->run, of->library, &options, &decider, &error))
        fail_msg("%s", error.message);
    for (int i = 0; i < MOST_TEXTS; i++) {
        char id[16];
        of->texts[i] = calloc(1, TEXT_BYTES);
        make_text(of->texts[i], i);
        snprintf(id, sizeof id, "t%d", i);
        const struct doppel_decide_input input = {
            .text = of->texts[i], .text_size = strlen(of->texts[i]), .id = id};
        assert_int_equal(doppel_decider_push(decider, &input, &error), DOPPEL_OK);
        assert_int_equal(doppel_decider_pull(decider, &decided, &error), DOPPEL_OK);
        assert_int_equal(decided.decision, DOPPEL_DECISION_NEW);
        assert_int_equal(decided.item, i + 1);
    }
    doppel_decider_free(decider);
    doppel_semantic_free(options.semantic);
}

int make_linked_library(void **state)
{
    struct linked_library *of = calloc(1, sizeof *of);
    struct doppel_run_options run = doppel_run_options_default();
    struct doppel_model_add_options add = doppel_model_add_options_default();
    struct doppel_embedder_options embedder = doppel_embedder_options_default();
    struct doppel_model_info info;
    made_folder_begin(&of->folder);
    make_words(&of->folder);
    snprintf(of->directory, sizeof of->directory, "%s/library", of->folder.path);
    add.folder = embedder.folder = made_path(&of->folder, "models");
    add.source = made_path(&of->folder, "words.txt");
    embedder.name = "words";
    run.jobs = 2;
    assert_int_equal(doppel_model_add(&add, &info, NULL), DOPPEL_OK);
    assert_int_equal(doppel_embedder_open(&embedder, &of->embedder, NULL), DOPPEL_OK);
    assert_int_equal(doppel_run_new(&run, &of->run, NULL), DOPPEL_OK);
    open_linked_library(of, true);
    push_texts(of);
    *state = of;
    return 0;
}

int remove_linked_library(void **state)
{
    struct linked_library *of = *state;
    for (int i = 0; i < MOST_TEXTS; i++)
        free(of->texts[i]);
    doppel_library_close(of->library);
    doppel_embedder_free(of->embedder);
    doppel_run_free(of->run);
    made_folder_remove(&of->folder);
    free(of);
    return 0;
}
