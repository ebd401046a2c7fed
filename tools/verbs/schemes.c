/* doppel schemes: the fingerprint schemes. */
#include <doppel/image.h>
#include <doppel/local.h>
#include <doppel/match.h>
#include <doppel/search_semantic.h>

#include "tools/args/commands.h"
#include "tools/output/output.h"

static const struct column columns[] = {
    {"scheme", "scheme", CELL_TEXT},
    {"kind", "kind", CELL_TEXT},
    {"version", "version", CELL_NUMBER},
    {"bits", "bits", CELL_NUMBER},
    {"max_distance", "max distance", CELL_NUMBER},
    {"max_false_positive_rate", "max FP rate", CELL_NUMBER},
    {"default", NULL, CELL_BOOL},
    {"summary", "summary", CELL_TEXT},
};

static const struct layout layout = {columns, sizeof columns / sizeof *columns, NULL, NULL, NULL};

/* Its width is that of the model, which is part of the scheme: vectors of two never meet. */
static void print_vector_scheme(struct output *output)
{
    struct doppel_json *row = output_begin(output);
    doppel_json_text(row, "scheme", "vector");
    doppel_json_text(row, "kind", doppel_kind_name(DOPPEL_KIND_TEXT));
    doppel_json_integer(row, "version", 1);
    doppel_json_rate(row, "max_false_positive_rate", doppel_semantic_options_default().max_fp_rate);
    doppel_json_boolean(row, "default", false);
    doppel_json_text(row, "summary",
                     "meaning, with --semantic: vectors of passages by an embedding model (doppel "
                     "model list)");
    output_end(output);
}

int cmd_schemes(const struct settings *settings, struct report *report)
{
    size_t count;
    const struct doppel_scheme *schemes = doppel_schemes(&count);
    struct output *output = output_new(settings, &layout, report);
    for (size_t i = 0; i < count; i++) {
        struct doppel_json *row = output_begin(output);
        doppel_json_text(row, "scheme", schemes[i].name);
        doppel_json_text(row, "kind", doppel_kind_name(schemes[i].kind));
        doppel_json_integer(row, "version", schemes[i].version);
        doppel_json_integer(row, "bits", schemes[i].code_bits);
        if (schemes[i].id != DOPPEL_SCHEME_PHASH64)
            doppel_json_integer(row, "max_distance", schemes[i].max_distance);
        else
            doppel_json_rate(row, "max_false_positive_rate", DOPPEL_IMAGE_QUERY_RATE);
        if (schemes[i].id == DOPPEL_SCHEME_PEAKS32)
            doppel_json_rate(row, "max_false_positive_rate",
                             doppel_audio_options_default().max_false_positives);
        if (schemes[i].id == DOPPEL_SCHEME_LOCAL || schemes[i].id == DOPPEL_SCHEME_FRAMES128)
            doppel_json_rate(row, "max_false_positive_rate",
                             doppel_local_options_default().max_false_positives);
        if (schemes[i].id == DOPPEL_SCHEME_FRAMES64)
            doppel_json_rate(row, "max_false_positive_rate",
                             doppel_video_search_default().max_expected);
        doppel_json_boolean(row, "default", i == 0 || schemes[i].kind != schemes[i - 1].kind);
        doppel_json_text(row, "summary", schemes[i].summary);
        output_end(output);
    }
    print_vector_scheme(output);
    return output_finish(output) ? EXIT_DONE : EXIT_WRONG_USE;
}
