/* Records of dedup and ingest that are huge once they are unpacked. Alone here: what the largest
 * run had resident is looked at. */
#include "command.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <zlib.h>
#include <zstd.h>

#include "core/sanitizer.h"

enum { HUGE_PIECES = 256, PIECE_BYTES = 1 << 20 };

/* A good record, one of 256 MB, and a good one: piece by piece, so that this process stays small.
 */
static const char *next_piece_of_bomb(int number)
{
    static char piece[PIECE_BYTES + 1];
    memset(piece, 'a', PIECE_BYTES);
    if (number == 0)
        return "{\"id\":1,\"text\":\"one text of a few words\"}\n{\"id\":2,\"text\":\"";
    return number <= HUGE_PIECES ? piece
           : number == HUGE_PIECES + 1
               ? "\"}\n{\"id\":3,\"text\":\"another text, of other words\"}\n"
               : NULL;
}

static void write_bombs(const char *gz, const char *zst)
{
    static char packed[2 * PIECE_BYTES];
    gzFile zipped = gzopen(gz, "wb1");
    FILE *file = fopen(zst, "wb");
    ZSTD_CStream *stream = ZSTD_createCStream();
    const char *piece;
    for (int i = 0; (piece = next_piece_of_bomb(i)); i++) {
        ZSTD_inBuffer in = {piece, strlen(piece), 0};
        ZSTD_outBuffer out = {packed, sizeof packed, 0};
        assert_int_equal(gzwrite(zipped, piece, (unsigned)in.size), in.size);
        ZSTD_compressStream2(stream, &out, &in, i > HUGE_PIECES ? ZSTD_e_end : ZSTD_e_continue);
        assert_int_equal(in.pos, in.size);
        fwrite(packed, 1, out.pos, file);
    }
    gzclose(zipped);
    fclose(file);
    ZSTD_freeCStream(stream);
}

/* What the largest of the runs up to now had resident. */
static long most_memory_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_maxrss >> 10;
}

static void expect_passed_over(const struct ran *ran, const char *place)
{
    assert_code(ran, 3);
    assert_int_equal(count_lines(ran->out, "\"decision\":\"new\""), 2);
    assert_int_equal(count_lines(ran->out, "\"decision\":\"unreadable\""), 1);
    assert_has(ran->err, place);
    assert_has(ran->err, "--max-record");
}

static void a_record_over_the_limit_is_passed_over(void **state)
{
    (void)state;
    static const char *const files[] = {"bomb.jsonl.gz", "bomb.jsonl.zst"};
    write_bombs(files[0], files[1]);
    for (size_t i = 0; i < 2; i++) {
        char place[64];
        snprintf(place, sizeof place, "%s:2: the line has 268435", files[i]);
        struct ran ran = doppel("dedup", "--json", "--min-words", "1", files[i]);
        expect_passed_over(&ran, place);
        ran_free(&ran);
        ran = doppel("ingest", "--json", "--min-words", "1", "-L", files[i] + 11, "--jsonl",
                     files[i], "--max-record", "1M");
        expect_passed_over(&ran, place);
        ran_free(&ran);
    }
#ifndef UNDER_SANITIZER
    assert_true(most_memory_mb() < 160);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_SANDBOX(a_record_over_the_limit_is_passed_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
