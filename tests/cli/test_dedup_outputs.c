/* dedup into a folder: a file for each input, of its name, format and compression. */
#include "command.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>
#include <zlib.h>
#include <zstd.h>

/* ---- files ---- */

enum { MOST_BYTES = 8 << 20 };

static void write_packed(const char *path, const char *bytes, size_t size)
{
    const char *end = strrchr(path, '.');
    if (strcmp(end, ".gz") == 0) {
        gzFile file = gzopen(path, "wb");
        assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
        gzclose(file);
    } else if (strcmp(end, ".zst") == 0) {
        size_t bound = ZSTD_compressBound(size);
        char *packed = malloc(bound);
        write_file(path, packed, ZSTD_compress(packed, bound, bytes, size, 3));
        free(packed);
    } else {
        write_file(path, bytes, size);
    }
}

/* As it was written; the file must be packed as its name says, and whole. Ended by NUL. */
static char *read_packed(const char *path, size_t *out_size)
{
    size_t size;
    const char *end = strrchr(path, '.');
    char *file = read_file(path, &size), *bytes = calloc(MOST_BYTES, 1);
    assert_non_null(file);
    if (strcmp(end, ".gz") == 0) {
        assert_memory_equal(file, "\x1F\x8B", 2);
        gzFile packed = gzopen(path, "rb");
        int got = gzread(packed, bytes, MOST_BYTES - 1);
        assert_true(got >= 0);
        assert_int_equal(gzclose(packed), Z_OK);
        *out_size = (size_t)got;
    } else if (strcmp(end, ".zst") == 0) {
        ZSTD_DStream *stream = ZSTD_createDStream();
        ZSTD_inBuffer in = {file, size, 0};
        ZSTD_outBuffer out = {bytes, MOST_BYTES - 1, 0};
        assert_int_equal(ZSTD_decompressStream(stream, &out, &in), 0);
        assert_int_equal(in.pos, size);
        ZSTD_freeDStream(stream);
        bytes[out.pos] = '\0'; /* beyond lies what it was made of */
        *out_size = out.pos;
    } else {
        memcpy(bytes, file, size);
        *out_size = size;
    }
    free(file);
    return bytes;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- random corpora ---- */

struct growing {
    char *bytes;
    size_t size;
};

static void grow(struct growing *text, const char *bytes)
{
    size_t size = strlen(bytes);
    assert_true(text->size + size < MOST_BYTES);
    memcpy(text->bytes + text->size, bytes, size + 1);
    text->size += size;
}

/* How the records of a file are written. */
enum layout { JSONL, CSV, TSV, LAYOUTS };
static const char *const endings[LAYOUTS] = {"jsonl", "csv", "tsv"};

/* Of few texts, so that many records are duplicates; some are broken, blank or end in \r\n. */
static void grow_record(struct growing *text, enum layout layout, uint32_t *seed)
{
    static const char *const lines[LAYOUTS][5] = {
        {"{\"id\":\"r%u\", \"text\":\"Text number %u of the corpus has this and that \\u00e9 to "
         "say, and w%u x%u y%u z%u are its own words.\"}",
         "no record %u", "{\"id\":%u,\"body\":\"elsewhere\"}", "{\"id\":%u,\"text\":\"cut", ""},
        {"r%u,,\"Text number %u, of the corpus, has this\nand \"\"that\"\" to say, and w%u x%u y%u "
         "z%u are its own words.\"",
         "no row %u", "%u,too,many,cells", "%u,,A 5\" disk of few words", ""},
        {"r%u\t\tText number %u of the corpus, has this and that to say, and w%u x%u y%u z%u are "
         "its own words.",
         "no row %u", "%u\ttoo\tmany\tcells", "%u\t\t\"\"\"Quoted\"\"\t\n\n\"", ""}};
    char line[512];
    unsigned number = next_random(seed) % 60, kind = next_random(seed) % 20;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(line, sizeof line, lines[layout][kind < 4 ? kind + 1 : 0], number, number, number,
             number, number, number);
#pragma GCC diagnostic pop
    grow(text, line);
    grow(text, next_random(seed) % 8 ? "\n" : "\r\n");
}

/* @param out_head bytes before the records */
static char *make_corpus(enum layout layout, uint32_t *seed, size_t *out_head, size_t *out_size)
{
    static const char *const heads[LAYOUTS] = {"", "id,\"what, else\",text\r\n",
                                               "id\tother\ttext\n"};
    struct growing text = {calloc(MOST_BYTES, 1), 0};
    if (next_random(seed) % 2)
        grow(&text, "\xEF\xBB\xBF");
    grow(&text, heads[layout]);
    *out_head = text.size;
    for (unsigned i = 0; i < 300; i++)
        grow_record(&text, layout, seed);
    *out_size = text.size;
    return text.bytes;
}

/* ---- outputs are a partition of the inputs ---- */

static const char *const packings[] = {"", ".gz", ".zst"};
static const char *const parts[] = {"unique", "duplicates", "unreadable"};
enum { PARTS = 3, FILES = 3 };

/* Bytes of a record with its newline, which in a cell with quotes is none. */
static size_t record_size(const char *record, enum layout layout)
{
    bool quoted = false;
    size_t size = 0;
    for (char before = ','; record[size] && (quoted || record[size] != '\n');
         before = record[size++]) {
        bool quote = layout != JSONL && record[size] == '"';
        if (quote && quoted && record[size + 1] == '"')
            size++;
        else if (quote && quoted)
            quoted = false;
        else if (quote && strchr(",\t", before))
            quoted = true;
    }
    return size + (record[size] == '\n');
}

/* What was decided of each record of a file, in order: u (unique), d, or ?, unreadable. */
static char *decisions_of(const char *json_lines, const char *path)
{
    char *out = calloc(strlen(json_lines) + 1, 1), *at = out;
    for (const char *line = json_lines; *line; line += strcspn(line, "\n") + 1) {
        json_t *row = json_loadb(line, strcspn(line, "\n"), 0, NULL);
        const char *decision = json_string_value(json_object_get(row, "decision"));
        assert_non_null(decision);
        if (strcmp(json_string_value(json_object_get(row, "path")), path) == 0)
            *at++ = strcmp(decision, "unreadable") == 0  ? '?'
                    : strcmp(decision, "duplicate") == 0 ? 'd'
                                                         : 'u';
        json_decref(row);
    }
    return out;
}

/* Each record of the input is the next one of one of the outputs, byte for byte; what stands before
 * them all is in each. */
static void check_partition(const char *input, size_t head, enum layout layout,
                            char *const outputs[PARTS], const char *decisions)
{
    const char *at[PARTS];
    for (int i = 0; i < PARTS; i++) {
        assert_memory_equal(outputs[i], input, head);
        at[i] = outputs[i] + head;
    }
    input += head;
    for (size_t size; *input; input += size) {
        size = record_size(input, layout);
        if (strspn(input, " \t\r\n") >= size)
            continue;
        int part = *decisions == 'u' ? 0 : *decisions == 'd' ? 1 : 2;
        assert_memory_equal(at[part], input, size);
        at[part] += size;
        decisions++;
    }
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(*at[i], '\0');
    assert_int_equal(*decisions, '\0');
}

static char *read_output(const char *folder, const char *name)
{
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_packed(path, &size);
}

/* That all records come again, with more: each output has as many as the input. */
static void check_annotated(const char *name, size_t head, size_t records, enum layout layout)
{
    char *annotated = read_output("all", name);
    const char *at = annotated + (layout == JSONL ? head : strcspn(annotated, "\n") + 1);
    size_t count = 0;
    for (; *at; at += record_size(at, layout))
        count++;
    assert_int_equal(count, records);
    if (layout != JSONL)
        assert_non_null(strstr(annotated, "doppel_similarity"));
    free(annotated);
}

static void check_file(const char *name, const char *input, size_t head, enum layout layout,
                       const char *json_lines)
{
    char path[80], *outputs[PARTS];
    snprintf(path, sizeof path, "in/%s", name);
    char *decisions = decisions_of(json_lines, path);
    assert_true(strlen(decisions) > 200);
    for (int i = 0; i < PARTS; i++)
        outputs[i] = read_output(parts[i], name);
    check_partition(input, head, layout, outputs, decisions);
    check_annotated(name, head, strlen(decisions), layout);
    for (int i = 0; i < PARTS; i++)
        free(outputs[i]);
    free(decisions);
}

static void check_layout(enum layout layout, const char *packing, uint32_t *seed)
{
    char names[FILES][64], paths[FILES][80], *inputs[FILES];
    size_t heads[FILES], size;
    assert_int_equal(system("rm -rf in all unique duplicates unreadable && mkdir in"), 0);
    for (int i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "shard-%d.%s%s", i, endings[layout], packing);
        snprintf(paths[i], sizeof paths[i], "in/%s", names[i]);
        inputs[i] = make_corpus(layout, seed, &heads[i], &size);
        write_packed(paths[i], inputs[i], size);
    }
    char *decisions = doppel_prints(3, "dedup", paths[0], paths[1], paths[2], "-q", "--json",
                                    "--on-same-id", "skip");
    for (int i = 0; i < PARTS; i++)
        free(doppel_prints(3, "dedup", paths[0], paths[1], paths[2], "-q", "--output-dir", parts[i],
                           "--emit", parts[i], "--on-same-id", "skip"));
    free(doppel_prints(3, "dedup", paths[0], paths[1], paths[2], "-q", "--output-dir", "all",
                       "--emit", "annotated", "--on-same-id", "skip"));
    for (int i = 0; i < FILES; i++) {
        check_file(names[i], inputs[i], heads[i], layout, decisions);
        free(inputs[i]);
    }
    free(decisions);
}

static void outputs_are_a_partition_of_the_inputs(void **state)
{
    uint32_t seed = 815;
    (void)state;
    for (enum layout layout = JSONL; layout < LAYOUTS; layout++)
        for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
            check_layout(layout, packings[i], &seed);
}

/* Names of columns once, cells for what was decided, and no two tables in one. */
static void rows_keep_their_names(void **state)
{
    static const char table[] = "\xEF\xBB\xBF"
                                "id,text\r\n1,a b\r\n\"2\",\"A, \"\"b\"\"\"\r\n";
    static const char other[] = "text,id\nc,3\n";
    (void)state;
    write_file("a.csv", table, strlen(table));
    write_file("b.csv", table, strlen(table));
    write_file("c.csv", other, strlen(other));
    char *unique = doppel_prints(0, "dedup", "-q", "a.csv", "b.csv", "--emit", "unique");
    assert_string_equal(unique, "id,text\r\n1,a b\r\n");
    char *annotated = doppel_prints(0, "dedup", "-q", "a.csv", "--emit", "annotated");
    assert_string_equal(annotated,
                        "id,text,doppel_decision,doppel_of,doppel_reason,doppel_similarity\r\n"
                        "1,a b,too_short,,,\r\n"
                        "\"2\",\"A, \"\"b\"\"\",duplicate,1,same-content,1.0000\r\n");
    struct ran ran = doppel("dedup", "-q", "a.csv", "c.csv", "--emit", "unique");
    assert_code(&ran, 2);
    assert_has(ran.err, "c.csv has other columns than a.csv");
    ran_free(&ran);
    const struct setting input = {.input = other};
    ran = doppel_with(&input, "dedup", "-", "--input-format", "csv", "--emit", "unique");
    assert_string_equal(ran.out, other);
    ran_free(&ran);
    ran = doppel("dedup", "a.csv", "--text-field", "body");
    assert_code(&ran, 2);
    assert_has(ran.err, "but \"id\", \"text\"; name the field that has its text");
    ran_free(&ran);
    free(unique);
    free(annotated);
}

/* ---- names ---- */

static void write_record(const char *path, const char *id)
{
    char line[128];
    int size =
        snprintf(line, sizeof line, "{\"id\":\"%s\",\"text\":\"the words of %s\"}\n", id, id);
    write_packed(path, line, (size_t)size);
}

static void assert_refused(struct ran ran, const char *why)
{
    assert_code(&ran, 2);
    assert_has(ran.err, why);
    assert_int_equal(ran.out_size, 0);
    ran_free(&ran);
}

static void names_and_folders_are_kept(void **state)
{
    (void)state;
    assert_int_equal(system("mkdir -p in/en in/fr"), 0);
    write_record("in/en/0.jsonl", "a");
    write_record("in/fr/0.jsonl", "b");
    write_record("in/fr/1.jsonl.gz", "c");
    free(doppel_prints(0, "dedup", "in", "--output-dir", "all/of/it"));
    assert_true(exists("all/of/it/en/0.jsonl") && exists("all/of/it/fr/1.jsonl.gz"));
    free(doppel_prints(0, "dedup", "in/en", "in/fr/1.jsonl.gz", "--output-dir", "flat"));
    assert_true(exists("flat/en/0.jsonl") && exists("flat/1.jsonl.gz"));
    assert_int_equal(chdir("in/en"), 0);
    free(doppel_prints(0, "dedup", ".", "../fr/1.jsonl.gz", "--output-dir", "../../dot"));
    assert_int_equal(chdir("../.."), 0);
    assert_true(exists("dot/en/0.jsonl") && exists("dot/1.jsonl.gz"));
    free(doppel_prints(0, "dedup", "in/en/0.jsonl", "in/fr/0.jsonl", "--output-dir", "apart"));
    assert_true(exists("apart/en/0.jsonl") && exists("apart/fr/0.jsonl"));
    free(doppel_prints(0, "dedup", "in/en/0.jsonl", "in/fr/", "--output-dir", "two"));
    assert_true(exists("two/0.jsonl") && exists("two/fr/0.jsonl") && exists("two/fr/1.jsonl.gz"));
    write_file("in/en/none.jsonl", "", 0); /* without records, and yet there */
    struct ran ran = doppel("dedup", "in/en/none.jsonl", "gone.jsonl", "--output-dir", "odd");
    assert_code(&ran, 3);
    assert_true(exists("odd/none.jsonl") && !exists("odd/gone.jsonl"));
    ran_free(&ran);
}

static void nothing_is_overwritten(void **state)
{
    size_t size;
    (void)state;
    make_folder("in");
    write_record("in/0.jsonl", "a");
    write_record("in/1.jsonl", "b");
    assert_refused(doppel("dedup", "in/0.jsonl", "--output-dir", "in"), "is an input");
    assert_refused(doppel("dedup", "in/0.jsonl", "--output-dir", "in", "--force"), "is an input");
    assert_refused(doppel("dedup", "in", "--output-dir", "in/out"), "choose a folder elsewhere");
    assert_refused(doppel("dedup", "in/0.jsonl", "in/../in/0.jsonl", "--output-dir", "out"),
                   "given twice");
    assert_refused(doppel("dedup", "-", "--output-dir", "out"), "standard input has no name");
    assert_refused(doppel("dedup", "in", "--output-dir", "out", "--unit", "paragraph"),
                   "'--output-dir' does not go with '--unit paragraph'");
    assert_refused(doppel("dedup", "in", "--force"), "goes with '--output-dir'");
    assert_false(exists("out") || exists("in/out"));
    free(doppel_prints(0, "dedup", "in/0.jsonl", "--output-dir", "out"));
    assert_refused(doppel("dedup", "in", "--output-dir", "out"), "0.jsonl is there already");
    assert_false(exists("out/1.jsonl"));
    assert_int_equal(symlink("../in/1.jsonl", "out/1.jsonl"), 0); /* that leads to an input */
    assert_refused(doppel("dedup", "in", "--output-dir", "out", "--force"), "is an input");
    assert_int_equal(unlink("out/1.jsonl"), 0);
    free(doppel_prints(0, "dedup", "in", "--output-dir", "out", "--force"));
    char *input = read_file("in/1.jsonl", &size), *output = read_file("out/1.jsonl", &size);
    assert_string_equal(input, output);
    free(input);
    free(output);
}

/* ---- ends that are none ---- */

/* Records whose outputs take a while. */
static void make_large(const char *path)
{
    FILE *file = fopen(path, "w");
    for (unsigned i = 0; i < 60000; i++)
        fprintf(file, "{\"id\":%u,\"text\":\"number %u is %u and %u, said %u times by %u\"}\n", i,
                i, i * 7919u, i * 104729u, i * 1299709u, i * 15485863u);
    fclose(file);
}

static unsigned final_names(const char *folder)
{
    unsigned count = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));)
        count += entry->d_name[0] != '.';
    if (open)
        closedir(open);
    return count;
}

/* Of many blocks, which threads compress. */
static void large_outputs_are_whole(void **state)
{
    static const char *const names[] = {"a.jsonl.gz", "a.jsonl.zst", "a.jsonl"};
    size_t size, got;
    (void)state;
    make_large("large.jsonl");
    char *input = read_file("large.jsonl", &size);
    for (int i = 0; i < 6; i++) {
        char output[64];
        write_packed(names[i % 3], input, size);
        free(doppel_prints(0, "dedup", names[i % 3], "-q", "--output-dir", "out", "--force",
                           i < 3 ? "-j1" : "-j5"));
        snprintf(output, sizeof output, "out/%s", names[i % 3]);
        char *bytes = read_packed(output, &got);
        assert_int_equal(got, size);
        assert_memory_equal(bytes, input, size);
        free(bytes);
    }
    free(input);
}

/* Killed while hidden files are there, it leaves no other; the next run does all, and leaves no
 * hidden ones. */
static void a_kill_leaves_nothing_that_looks_whole(void **state)
{
    struct ran ran;
    size_t size, whole;
    unsigned killed = 0;
    (void)state;
    make_folder("in");
    make_large("in/0.jsonl");
    copy_file("in/0.jsonl", "in/1.jsonl");
    for (int round = 0; round < 20 && killed < 3; round++) {
        struct running running = command_start(
            NULL, (const char *const[]){"dedup", "in", "--output-dir", "out", "-q", NULL});
        while (!exists(round % 2 ? "out/.1.jsonl.part" : "out/.0.jsonl.part") &&
               !exists("out/0.jsonl"))
            pause_ms(1);
        kill(running.pid, SIGKILL);
        ran = command_end(&running);
        bool early = ran.code == 128 + SIGKILL && !exists("out/0.jsonl");
        killed += early;
        assert_true(final_names("out") == (early ? 0 : 2) || ran.code == 128 + SIGKILL);
        ran_free(&ran);
        if (!early)
            assert_int_equal(system("rm -r out"), 0);
    }
    assert_true(killed > 0);
    free(doppel_prints(0, "dedup", "in", "--output-dir", "out", "-q", "--force"));
    assert_int_equal(final_names("out"), 2);
    assert_false(exists("out/.0.jsonl.part") || exists("out/.1.jsonl.part"));
    free(read_file("in/0.jsonl", &whole));
    free(read_file("out/0.jsonl", &size));
    assert_int_equal(size, whole);
    free(read_file("out/1.jsonl", &size));
    assert_int_equal(size, 0);
}

static void a_full_disk_is_named(void **state)
{
    (void)state;
    const struct setting shell = {.program = "/bin/sh"};
    make_large("a.jsonl");
    struct ran ran = doppel_with(
        &shell, "-c", "ulimit -f 200; " DOPPEL_PROGRAM " dedup a.jsonl --output-dir out -q");
    assert_refused(ran, "out/a.jsonl cannot be written: File too large");
    assert_false(exists("out"));
    ran = doppel_with(&shell, "-c",
                      DOPPEL_PROGRAM " dedup a.jsonl -q --clusters /dev/full >/dev/null");
    assert_code(&ran, 0); /* there are none */
    ran_free(&ran);
    write_record("a.jsonl", "a");
    write_record("b.jsonl", "a");
    ran = doppel_with(&shell, "-c",
                      DOPPEL_PROGRAM " dedup a.jsonl b.jsonl -q --clusters /dev/full >/dev/null");
    assert_refused(ran, "/dev/full: cannot be written (No space left on device)");
}

static void an_interrupt_leaves_nothing(void **state)
{
    (void)state;
    make_large("a.jsonl");
    struct running running = command_start(
        NULL, (const char *const[]){"dedup", "a.jsonl", "--output-dir", "out", "-q", NULL});
    while (!exists("out"))
        pause_ms(1);
    kill(running.pid, SIGINT);
    struct ran ran = command_end(&running);
    assert_true(ran.code == 130 ? !exists("out") : exists("out/a.jsonl"));
    ran_free(&ran);
}

/* ---- clusters ---- */

static void clusters_name_their_representatives(void **state)
{
    size_t size;
    (void)state;
    write_record("a.jsonl", "a");
    write_record("b.jsonl", "b");
    FILE *file = fopen("c.jsonl", "w");
    fputs("{\"id\":\"c\",\"text\":\"The words, of a!\",\"source\":\"press\"}\n"
          "{\"text\":\"the words of B\"}\n{\"id\":\"d\",\"text\":\"alone\"}\n",
          file);
    fclose(file);
    char *decisions =
        doppel_prints(0, "dedup", "a.jsonl", "b.jsonl", "c.jsonl", "--clusters", "x.jsonl");
    assert_int_equal(count_lines(decisions, "\"decision\":"), 5);
    char *clusters = read_file("x.jsonl", &size);
    assert_string_equal(
        clusters, "{\"id\":\"a\",\"representative\":\"a\",\"representative_line\":1,"
                  "\"representative_input\":\"a.jsonl\",\"decision\":\"too_short\",\"unique\":true,"
                  "\"line\":1,\"input\":\"a.jsonl\"}\n"
                  "{\"id\":\"b\",\"representative\":\"b\",\"representative_line\":1,"
                  "\"representative_input\":\"b.jsonl\",\"decision\":\"too_short\",\"unique\":true,"
                  "\"line\":1,\"input\":\"b.jsonl\"}\n"
                  "{\"id\":\"c\",\"representative\":\"a\",\"representative_line\":1,"
                  "\"representative_input\":\"a.jsonl\",\"decision\":\"duplicate\",\"of\":\"a\","
                  "\"reason\":\"same-content\",\"similarity\":1.0,\"unique\":false,\"line\":1,"
                  "\"input\":\"c.jsonl\",\"source\":\"press\"}\n"
                  "{\"representative\":\"b\",\"representative_line\":1,"
                  "\"representative_input\":\"b.jsonl\",\"decision\":\"duplicate\",\"of\":\"b\","
                  "\"reason\":\"same-content\",\"similarity\":1.0,\"unique\":false,\"line\":2,"
                  "\"input\":\"c.jsonl\"}\n");
    free(decisions);
    free(clusters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(outputs_are_a_partition_of_the_inputs),
        IN_SANDBOX(rows_keep_their_names),
        IN_SANDBOX(names_and_folders_are_kept),
        IN_SANDBOX(nothing_is_overwritten),
        IN_SANDBOX(large_outputs_are_whole),
        IN_SANDBOX(a_kill_leaves_nothing_that_looks_whole),
        IN_SANDBOX(a_full_disk_is_named),
        IN_SANDBOX(an_interrupt_leaves_nothing),
        IN_SANDBOX(clusters_name_their_representatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
