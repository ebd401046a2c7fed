/* Search binary codes of your own by Hamming distance. Needs doppel-index alone:
 *
 *     cc search_codes.c $(pkg-config --cflags --libs doppel-index) -o search_codes
 */
#include <inttypes.h>
#include <stdio.h>

#include <doppel/index.h>

enum { CODES = 100000 };

static uint64_t codes[CODES], payloads[CODES];

/* Any source of codes will do: this one is a counter, well stirred. */
static uint64_t stir(uint64_t value)
{
    value = (value ^ (value >> 31)) * UINT64_C(0x7fb5d329728ea185);
    value = (value ^ (value >> 27)) * UINT64_C(0x81dadef4bc2dd44d);
    return value ^ (value >> 33);
}

static bool print_hit(void *context, const struct doppel_index_hit *hit)
{
    (void)context;
    printf("code %" PRIu64 " at distance %" PRIu32 "\n", hit->payload, hit->distance);
    return true;
}

int main(void)
{
    for (uint64_t i = 0; i < CODES; i++) {
        codes[i] = stir(i + 1);
        payloads[i] = i;
    }
    struct doppel_index_options options = doppel_index_options_default();
    options.design_radius = 6;
    struct doppel_index *index = NULL;
    struct doppel_error error = {DOPPEL_OK, ""};
    enum doppel_status status = doppel_index_new(&options, &index, &error);
    if (status == DOPPEL_OK)
        status = doppel_index_insert(index, codes, payloads, CODES, &error);

    uint64_t query = codes[4711] ^ 0x0100000000008001; /* three bits off */
    struct doppel_index_request within = {.queries = &query, .count = 1, .radius = 6};
    if (status == DOPPEL_OK) {
        puts("within 6 bits:");
        status = doppel_index_search(index, &within, print_hit, NULL, &error);
    }
    struct doppel_index_request nearest = {
        .queries = &query, .count = 1, .radius = 64, .nearest = 3};
    if (status == DOPPEL_OK) {
        puts("the 3 nearest:");
        status = doppel_index_search(index, &nearest, print_hit, NULL, &error);
    }
    doppel_index_free(index);
    if (status != DOPPEL_OK)
        fprintf(stderr, "%s\n", error.message);
    return status != DOPPEL_OK;
}
