/* Embed texts by a model of one's own: a list of words, each with its numbers. Needs doppel-embed
 * alone:
 *
 *     cc embed_texts.c $(pkg-config --cflags --libs doppel-embed) -o embed_texts
 *     ./embed_texts FOLDER
 */
#include <stdio.h>
#include <string.h>

#include <doppel/embed.h>

enum { DIMENSION = 2, TEXTS = 3 };

static const char words[] = "the 0.1 0.1\ncat 0.9 0.1\nkitten 0.8 0.2\nships 0.0 -1.0\n";
static const char *const texts[TEXTS] = {"The cat.", "The kitten!", "Ships"};

static float cosine(const float *a, const float *b)
{
    float sum = 0;
    for (int i = 0; i < DIMENSION; i++)
        sum += a[i] * b[i];
    return sum;
}

int main(int argument_count, char **arguments)
{
    struct doppel_model_add_options add = doppel_model_add_options_default();
    struct doppel_model_open_options open = {0};
    struct doppel_model_texts all = {texts, NULL, TEXTS};
    struct doppel_model_info info;
    struct doppel_error error;
    struct doppel_model *model;
    char path[4096];
    float rows[TEXTS * DIMENSION];
    add.folder = open.folder = argument_count > 1 ? arguments[1] : ".";
    snprintf(path, sizeof path, "%s/pets.txt", add.folder);
    FILE *file = fopen(path, "w");
    if (!file || fputs(words, file) < 0 || fclose(file) != 0)
        return 1;
    add.source = path;
    if (doppel_model_add(&add, &info, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    open.name = info.name;
    if (doppel_model_open(&open, &model, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    if (doppel_model_embed(model, &all, rows, NULL, &error))
        fprintf(stderr, "%s\n", error.message);
    else
        for (int i = 0; i < TEXTS; i++)
            printf("%-12s cosine to the first %5.2f\n", texts[i],
                   (double)cosine(rows, rows + i * DIMENSION));
    doppel_model_free(model);
    return 0;
}
