/* Remember pictures in a library, and search it by another one. Needs doppel-search, and what that
 * needs, but no decoder:
 *
 *     cc search_library.c $(pkg-config --cflags --libs doppel-search) -o search_library
 *     ./search_library FOLDER
 */
#include <stdio.h>
#include <stdlib.h>

#include <doppel/search.h>

enum { WIDTH = 320, HEIGHT = 240, PICTURES = 4 };

static uint8_t pixels[HEIGHT][WIDTH];

/* A bright disc on a dark slope with a bar; `shift` moves the one, and turns the other. */
static struct doppel_plane draw(int shift)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int dx = x - 90 - shift, dy = y - 90;
            int disc = dx * dx + dy * dy < 50 * 50, bar = abs(3 * x - shift * y / 20 - 400) < 60;
            pixels[y][x] = (uint8_t)(disc ? 230 : bar ? 120 : x / 4 + y / 6);
        }
    struct doppel_plane plane = {&pixels[0][0], WIDTH, HEIGHT, WIDTH};
    return plane;
}

/* What is known of a picture; the caller frees it. */
static enum doppel_status make_record(int shift, struct doppel_record *out,
                                      struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    struct doppel_image_features features;
    struct doppel_plane plane = draw(shift);
    struct doppel_record record = {0};
    enum doppel_status status = doppel_image_features(&plane, &features, error);
    if (status != DOPPEL_OK)
        return status;
    record.digest = doppel_digest_bytes(pixels, sizeof pixels);
    record.kind = scheme->kind;
    record.scheme = scheme->id;
    record.version = scheme->version;
    record.fingerprint = features.fingerprint;
    record.width = WIDTH;
    record.height = HEIGHT;
    record.quality = features.quality;
    *out = record;
    return DOPPEL_OK;
}

static enum doppel_status add_pictures(struct doppel_library *library, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < PICTURES && status == DOPPEL_OK; i++) {
        struct doppel_file_stamp stamp = {0};
        struct doppel_record record;
        enum doppel_added added;
        uint64_t id;
        char path[32];
        snprintf(path, sizeof path, "/pictures/%d", i);
        stamp.inode = (uint64_t)i + 1;
        status = make_record(50 * i, &record, error);
        if (status != DOPPEL_OK)
            return status;
        status = doppel_library_add(library, path, &stamp, &record, &added, &id, error);
        doppel_record_free(&record);
    }
    return status == DOPPEL_OK ? doppel_library_commit(library, error) : status;
}

/* Search for picture 1, moved by a pixel, and print what is found, the best first. */
static enum doppel_status search_for_moved(struct doppel_search *search, struct doppel_error *error)
{
    struct doppel_search_results results = {0};
    struct doppel_record query;
    enum doppel_status status = make_record(51, &query, error);
    if (status != DOPPEL_OK)
        return status;
    status = doppel_search_record(search, &query, "the query", &results, error);
    for (size_t i = 0; i < results.count && status == DOPPEL_OK; i++) {
        struct doppel_json json = {0};
        doppel_json_object_begin(&json, NULL);
        doppel_json_integer(&json, "item", results.items[i].id);
        doppel_match_to_json(&json, &results.items[i].comparison.match);
        doppel_json_object_end(&json);
        if (doppel_json_status(&json, error) == DOPPEL_OK)
            puts(json.bytes);
        doppel_json_free(&json);
    }
    printf("%d found\n", (int)results.count);
    doppel_search_results_free(&results);
    doppel_record_free(&query);
    return status;
}

int main(int argc, char **argv)
{
    struct doppel_library_options library_options = {0};
    struct doppel_search_options options = doppel_search_options_default();
    struct doppel_library *library = NULL;
    struct doppel_search *search = NULL;
    struct doppel_run *run = NULL;
    struct doppel_error error = {0};
    library_options.create = true;
    if (argc != 2) {
        fprintf(stderr, "usage: search_library FOLDER\n");
        return 2;
    }
    enum doppel_status status = doppel_run_new(NULL, &run, &error);
    if (status == DOPPEL_OK)
        status = doppel_library_open(argv[1], &library_options, &library, &error);
    if (status == DOPPEL_OK)
        status = add_pictures(library, &error);
    if (status == DOPPEL_OK)
        status = doppel_search_new(run, library, &options, &search, &error);
    if (status == DOPPEL_OK)
        status = doppel_search_refresh(search, &error);
    if (status == DOPPEL_OK)
        status = search_for_moved(search, &error);
    if (status != DOPPEL_OK)
        fprintf(stderr, "%s\n", error.message);
    doppel_search_free(search);
    doppel_library_close(library);
    doppel_run_free(run);
    return status == DOPPEL_OK ? 0 : 2;
}
