/* A catalogue with rows in all tables, inner pages, and free pages. */
#include <stdio.h>

#include "tests/library/salvaged.h"

enum { ITEMS = 60 };

/* What the checksum of a row covers, where there is one. */
const struct original_table original_tables[ORIGINAL_TABLES] = {
    {"item",
     "path, settled, added_ns, device, inode, size, mtime_ns, digest, kind, scheme, version,"
     " width, height, quality"},
    {"fingerprint", "item, data"},
    {"attachment", "item, data"},
    {"corpus", "id, path"},
    {"text", "id, record_id, source, date, corpus, line, place, size, added_ns, content, words,"
             " shingles, too_short, decision, leader, leads, lanes"},
    {"text_shingles", "text, data"},
    {"text_options", "one, format, nfkc, fold_case, drop_punctuation, unit, shingle, min_words,"
                     " lanes, min_similarity, min_containment"},
    {"log", "time_ns, action, item, path, former_item, former_path, source, decision, of, reason,"
            " scheme, version, distance, bits, similarity, limit_kind, match_limit,"
            " false_positive_rate, detail"},
    {"revision", NULL},
    {"about", "item, source, date, external_id, meta"},
    {"label", NULL},
    {"list", "id, name, state"},
    {"list_item", NULL},
    {"list_rule", "list, limit_kind, match_limit, flood"},
    {"list_said", NULL},
    {"list_match", "item, hour, matches, last_ns"},
    {"link", "item, leader"},
    {"canonical", "leader, item"},
    {"source", "pattern, authority"},
    {"policy", "one, keep"},
    {"mark", "a, b, same, time_ns, note"},
    {"exact", NULL},
    {"failure", "path, device, inode, size, mtime_ns, settled, time_ns, status, message, program,"
                " limits"},
    {"upstream", "item, token"},
    {"job", "id, state, client, added_ns, begun_ns, ended_ns, inputs, decided, unreadable, bytes,"
            " problem, webhook, calls, next_call_ns, call_problem"},
    {"job_input", "job, number, input, decision"},
    {"request", "id, client, key, body, time_ns"},
    {"answer", "request, number, decision"},
};
/* clang-format off */
#define NUMBERS(count) \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " #count ") "

static const char rows[] =
    "UPDATE attachment SET data = substr(data, 1, 700 * (item % 10 = 0) + 100);"
    NUMBERS(60) "INSERT INTO about SELECT i, CAST('source ' || i % 7 AS BLOB), NULL, 'name ' || i,"
    " '{\"n\":' || i || '}', 0 FROM n;"
    NUMBERS(120) "INSERT INTO label SELECT i % 60 + 1, 'label ' || i FROM n;"
    "INSERT INTO list VALUES(1, 'first', 0, 0), (2, 'second', 2, 0);"
    NUMBERS(120) "INSERT INTO list_item SELECT i % 60 + 1, i / 61 + 1 FROM n;"
    "INSERT INTO list_rule VALUES(1, 1, 20.0, 0, 0), (2, 2, 0.5, 9, 0);"
    NUMBERS(120) "INSERT INTO list_said SELECT i % 60 + 1, i / 61 + 1, 'tag ' || i FROM n;"
    NUMBERS(120) "INSERT INTO list_match SELECT i % 60 + 1, i, i % 7, i * 1000, 0 FROM n;"
    NUMBERS(60) "INSERT INTO link SELECT i, i - i % 3, 0 FROM n WHERE i > 2 AND i % 3 != 0;"
    NUMBERS(60) "INSERT INTO canonical SELECT i, i + 1, 0 FROM n WHERE i % 3 = 0;"
    NUMBERS(60) "INSERT INTO source SELECT 'https://' || i || '.example/*', i, 0 FROM n;"
    "INSERT INTO policy VALUES(1, 'resolution', 0);"
    NUMBERS(60) "INSERT INTO mark SELECT CAST('a' || (100 + i) AS BLOB), CAST('b' || i AS BLOB),"
    " i % 2, i, 'note ' || i, 0 FROM n;"
    NUMBERS(90) "INSERT INTO exact SELECT i % 3 + 1, CAST('digest ' || i AS BLOB), i % 60 + 1"
    " FROM n;"
    NUMBERS(40) "INSERT INTO failure SELECT CAST('/broken/' || i AS BLOB), 1, i, 9, 9, 1, 9, 7,"
    " 'it is damaged', 'doppel', 'none', 0 FROM n;"
    NUMBERS(40) "INSERT INTO upstream SELECT i, -i * i, 0 FROM n;"
    NUMBERS(20) "INSERT INTO request SELECT i, 'node', 'key ' || i, zeroblob(16), i, 0 FROM n;"
    NUMBERS(60) "INSERT INTO answer SELECT i % 20 + 1, i, '{\"decision\":\"new\"}', 0 FROM n;"
    NUMBERS(20) "INSERT INTO corpus SELECT i, CAST('/corpora/' || i AS BLOB), 0 FROM n;"
    NUMBERS(40) "INSERT INTO text SELECT 1000 + i, CAST('r' || i AS BLOB), NULL, NULL, i % 20 + 1,"
    " i, 0, 9, 9, zeroblob(16), 9, 9, 0, 0, 0, 1, zeroblob(256), 0, NULL FROM n;"
    NUMBERS(40) "INSERT INTO text_shingles SELECT 1000 + i, zeroblob(40 * i), 0 FROM n;"
    "INSERT INTO text_options VALUES(1, 0, 0, 1, 0, 0, 5, 9, 128, 1.0, 0.5, 0);"
    NUMBERS(60) "INSERT INTO job SELECT i, i % 5 + 1, 'client ' || i, i, i, nullif(i % 3, 0), 3, 1,"
    " 0, 9, NULL, 'https://' || i || '.example', 1, nullif(i % 4, 0), 'refused', 0 FROM n;"
    NUMBERS(90) "INSERT INTO job_input SELECT i % 60 + 1, i, '{\"text\":\"' || i || '\"}', NULL, 0"
    " FROM n;"
    "INSERT INTO revision VALUES(0, 5), (1, 7) ON CONFLICT DO NOTHING;";
/* clang-format on */

/* Rows that were removed stay on their pages as they were. */
static const char removals[] =
    "PRAGMA secure_delete=OFF;"
    "DELETE FROM attachment WHERE item BETWEEN 11 AND 25;"
    "DELETE FROM fingerprint WHERE item BETWEEN 11 AND 25;"
    "DELETE FROM item WHERE id BETWEEN 11 AND 25; DELETE FROM item WHERE id IN (3, 60);"
    "DELETE FROM label WHERE item BETWEEN 30 AND 50; DELETE FROM source WHERE authority > 50;"
    "DELETE FROM log WHERE entry BETWEEN 5 AND 30; DELETE FROM text WHERE id > 1030;"
    "DELETE FROM text_shingles WHERE text > 1030";

/* @param page_size of 4096 as doppel makes it; else packed, too */
void original_make(const char *folder, int page_size)
{
    struct doppel_library *library = open_library(folder);
    struct doppel_error error;
    char sql[1024];
    for (uint64_t number = 1; number <= ITEMS; number++)
        if (add_numbered(library, number, record_make(number), &error))
            fail_msg("%s", error.message);
    commit(library);
    doppel_library_close(library);
    const char *path = folder_path(folder, "a/library/catalogue.db");
    run_raw(path, rows);
    for (size_t i = 0; i < ORIGINAL_TABLES; i++) {
        snprintf(sql, sizeof sql, "UPDATE %s SET checksum = row_checksum(%s)",
                 original_tables[i].name, original_tables[i].columns);
        if (original_tables[i].columns)
            run_raw(path, sql);
    }
    snprintf(sql, sizeof sql, "PRAGMA journal_mode=DELETE;PRAGMA page_size=%d;%s", page_size,
             page_size == 4096 ? "" : "VACUUM");
    run_raw(path, sql);
    run_raw(path, removals);
}
