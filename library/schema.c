/* The tables of catalogue.db and of the cache. */
#include "library/schema.h"

#include <doppel/store.h>

#include "library/views.h"

/* Records of corpora: rows that are only appended to; what is looked up lies in other indexes.
 * They share the ids of the items; the counter is that of AUTOINCREMENT. */
#define TEXT_TABLES                                                                                \
    "CREATE TABLE corpus("                                                                         \
    " id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, checksum INTEGER NOT NULL"                \
    ") STRICT;"                                                                                    \
    "CREATE TABLE text("                                                                           \
    " id INTEGER PRIMARY KEY,"                                                                     \
    " record_id BLOB, source BLOB, date BLOB,"                                                     \
    " corpus INTEGER REFERENCES corpus, line INTEGER NOT NULL,"                                    \
    " place INTEGER NOT NULL, size INTEGER NOT NULL,"                                              \
    " added_ns INTEGER NOT NULL,"                                                                  \
    " content BLOB NOT NULL,"                                                                      \
    " words INTEGER NOT NULL, shingles INTEGER NOT NULL, too_short INTEGER NOT NULL,"              \
    " decision INTEGER NOT NULL, leader INTEGER NOT NULL, leads INTEGER NOT NULL,"                 \
    " lanes BLOB NOT NULL,"                                                                        \
    " checksum INTEGER NOT NULL"                                                                   \
    ") STRICT;"                                                                                    \
    "CREATE TABLE text_shingles("                                                                  \
    " text INTEGER PRIMARY KEY REFERENCES text ON DELETE CASCADE,"                                 \
    " data BLOB NOT NULL, checksum INTEGER NOT NULL"                                               \
    ") STRICT;"                                                                                    \
    "CREATE TABLE text_options("                                                                   \
    " one INTEGER PRIMARY KEY CHECK(one = 1),"                                                     \
    " format INTEGER NOT NULL, nfkc INTEGER NOT NULL, fold_case INTEGER NOT NULL,"                 \
    " drop_punctuation INTEGER NOT NULL, unit INTEGER NOT NULL, shingle INTEGER NOT NULL,"         \
    " min_words INTEGER NOT NULL, lanes INTEGER NOT NULL,"                                         \
    " min_similarity REAL NOT NULL, min_containment REAL NOT NULL, checksum INTEGER NOT NULL"      \
    ") STRICT;"

/* Who follows whom and why, and what people say of items: version 5. What is asked for seldom has
 * tables of its own, so that what is walked through stays narrow. Rows that tell a fact have a
 * checksum; rows that only name it (labels, lists' items, digests) are all key. */
#define LEDGER_TABLES                                                                              \
    "ALTER TABLE item ADD COLUMN duration_ms INTEGER;"                                             \
    "ALTER TABLE item ADD COLUMN simhash INTEGER;"                                                 \
    "ALTER TABLE text ADD COLUMN simhash INTEGER;"                                                 \
    "CREATE INDEX text_record ON text(record_id) WHERE record_id IS NOT NULL;"                     \
    "CREATE INDEX text_leader ON text(leader) WHERE leader != 0;"                                  \
    "CREATE INDEX text_decision ON text(decision);"                                                \
    "ALTER TABLE log ADD COLUMN source BLOB;"                                                      \
    "ALTER TABLE log ADD COLUMN decision INTEGER;"                                                 \
    "ALTER TABLE log ADD COLUMN of INTEGER;"                                                       \
    "ALTER TABLE log ADD COLUMN reason TEXT;"                                                      \
    "ALTER TABLE log ADD COLUMN scheme INTEGER;"                                                   \
    "ALTER TABLE log ADD COLUMN version INTEGER;"                                                  \
    "ALTER TABLE log ADD COLUMN distance INTEGER;"                                                 \
    "ALTER TABLE log ADD COLUMN bits INTEGER;"                                                     \
    "ALTER TABLE log ADD COLUMN similarity REAL;"                                                  \
    "ALTER TABLE log ADD COLUMN limit_kind INTEGER;"                                               \
    "ALTER TABLE log ADD COLUMN match_limit REAL;"                                                 \
    "ALTER TABLE log ADD COLUMN false_positive_rate REAL;"                                         \
    "ALTER TABLE log ADD COLUMN detail TEXT;"                                                      \
    "ALTER TABLE log ADD COLUMN checksum INTEGER;"                                                 \
    "CREATE INDEX log_item ON log(item) WHERE item != 0;"                                          \
    "CREATE INDEX log_of ON log(of) WHERE of IS NOT NULL;"                                         \
    "CREATE INDEX log_former ON log(former_item) WHERE former_item IS NOT NULL;"                   \
    "CREATE INDEX log_time ON log(time_ns);"                                                       \
    "CREATE TABLE revision(part INTEGER PRIMARY KEY, number INTEGER NOT NULL) STRICT;"             \
    "CREATE TABLE about("                                                                          \
    " item INTEGER PRIMARY KEY, source BLOB, date BLOB, external_id TEXT, meta TEXT,"              \
    " checksum INTEGER NOT NULL"                                                                   \
    ") STRICT;"                                                                                    \
    "CREATE INDEX about_external ON about(external_id) WHERE external_id IS NOT NULL;"             \
    "CREATE TABLE label("                                                                          \
    " item INTEGER NOT NULL, label TEXT NOT NULL, PRIMARY KEY(item, label)"                        \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE TABLE list("                                                                           \
    " id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state INTEGER NOT NULL,"                  \
    " checksum INTEGER NOT NULL"                                                                   \
    ") STRICT;"                                                                                    \
    "CREATE TABLE list_item("                                                                      \
    " item INTEGER NOT NULL, list INTEGER NOT NULL REFERENCES list ON DELETE CASCADE,"             \
    " PRIMARY KEY(item, list)"                                                                     \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE INDEX list_item_list ON list_item(list);"                                              \
    "CREATE TABLE link("                                                                           \
    " item INTEGER PRIMARY KEY, leader INTEGER NOT NULL, checksum INTEGER NOT NULL"                \
    ") STRICT;"                                                                                    \
    "CREATE INDEX link_leader ON link(leader);"                                                    \
    "CREATE TABLE canonical("                                                                      \
    " leader INTEGER PRIMARY KEY, item INTEGER NOT NULL, checksum INTEGER NOT NULL"                \
    ") STRICT;"                                                                                    \
    "CREATE TABLE source("                                                                         \
    " pattern TEXT PRIMARY KEY, authority INTEGER NOT NULL, checksum INTEGER NOT NULL"             \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE TABLE policy("                                                                         \
    " one INTEGER PRIMARY KEY CHECK(one = 1), keep TEXT NOT NULL, checksum INTEGER NOT NULL"       \
    ") STRICT;"                                                                                    \
    "CREATE TABLE mark("                                                                           \
    " a BLOB NOT NULL, b BLOB NOT NULL, same INTEGER NOT NULL, time_ns INTEGER NOT NULL,"          \
    " note TEXT, checksum INTEGER NOT NULL, PRIMARY KEY(a, b)"                                     \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE INDEX mark_b ON mark(b);"                                                              \
    "CREATE TABLE exact("                                                                          \
    " algorithm INTEGER NOT NULL, digest BLOB NOT NULL, item INTEGER NOT NULL,"                    \
    " PRIMARY KEY(algorithm, digest)"                                                              \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE INDEX exact_item ON exact(item);"                                                      \
    "CREATE TABLE failure("                                                                        \
    " path BLOB PRIMARY KEY,"                                                                      \
    " device INTEGER NOT NULL, inode INTEGER NOT NULL,"                                            \
    " size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, settled INTEGER NOT NULL,"                 \
    " time_ns INTEGER NOT NULL, status INTEGER NOT NULL, message TEXT NOT NULL,"                   \
    " program TEXT NOT NULL, limits TEXT NOT NULL, checksum INTEGER NOT NULL"                      \
    ") STRICT, WITHOUT ROWID;"

/* Of lossless pictures, the digest of their pixels: version 6. */
#define PIXELS_COLUMN                                                                              \
    "ALTER TABLE item ADD COLUMN pixels BLOB;"                                                     \
    "CREATE INDEX item_pixels ON item(pixels) WHERE pixels IS NOT NULL;"

/* Of texts, how many words they have: version 7. */
#define WORDS_COLUMN "ALTER TABLE item ADD COLUMN words INTEGER;"

/* Items by scheme; one of two indexes has each: those that have no file, whose path begins with a
 * zero, are apart. A function in a condition would have SQLite note every page that an insertion
 * changes. And rows of the log that tell of many items: version 9. */
#define SCHEME_INDEXES                                                                             \
    "DROP INDEX IF EXISTS item_version; DROP INDEX IF EXISTS item_scheme;"                         \
    "DROP INDEX IF EXISTS item_without_file;"                                                      \
    "CREATE INDEX item_with_file ON item(scheme, version, kind) WHERE path >= x'01';"              \
    "CREATE INDEX item_without_file ON item(scheme, version, kind) WHERE path < x'01';"            \
    "ALTER TABLE log ADD COLUMN last_item INTEGER;"                                                \
    "CREATE INDEX log_last ON log(last_item, item) WHERE last_item IS NOT NULL;"

/* What was set of a list; what it says of its items (the tag '': it brought the item); and how
 * often an item on a list was matched, by the hour: version 10. */
#define LIST_TABLES                                                                                \
    "CREATE TABLE list_rule("                                                                      \
    " list INTEGER PRIMARY KEY REFERENCES list ON DELETE CASCADE,"                                 \
    " limit_kind INTEGER NOT NULL, match_limit REAL NOT NULL, flood INTEGER NOT NULL,"             \
    " checksum INTEGER NOT NULL"                                                                   \
    ") STRICT;"                                                                                    \
    "CREATE TABLE list_said("                                                                      \
    " item INTEGER NOT NULL, list INTEGER NOT NULL REFERENCES list ON DELETE CASCADE,"             \
    " tag TEXT NOT NULL, PRIMARY KEY(item, list, tag)"                                             \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE TABLE list_match("                                                                     \
    " item INTEGER NOT NULL, hour INTEGER NOT NULL,"                                               \
    " matches INTEGER NOT NULL, last_ns INTEGER NOT NULL, checksum INTEGER NOT NULL,"              \
    " PRIMARY KEY(item, hour)"                                                                     \
    ") STRICT, WITHOUT ROWID;"

/* Of a library before that, an item came with a list where the log has one entry behind the other.
 */
#define BROUGHT_BEFORE                                                                             \
    "INSERT OR IGNORE INTO list_said(item, list, tag)"                                             \
    " SELECT one.item, one.list, '' FROM list_item AS one JOIN item ON item.id = one.item"         \
    " WHERE item.path < x'01' OR EXISTS(SELECT 1 FROM exact WHERE exact.item = item.id);"          \
    "DELETE FROM list_said WHERE NOT EXISTS(SELECT 1 FROM log AS came JOIN log AS put"             \
    " ON put.entry = came.entry + 1 WHERE came.action = 'imported' AND put.action = 'listed'"      \
    " AND put.item = came.item AND came.item = list_said.item AND came.item != 0"                  \
    " AND put.time_ns - came.time_ns < 1000000000"                                                 \
    " UNION ALL SELECT 1 FROM log AS came JOIN log AS put ON put.entry = came.entry"               \
    " + (put.last_item - put.item + 1) AND put.item = came.item"                                   \
    " WHERE came.last_item >= list_said.item"                                                      \
    " AND came.item <= list_said.item AND came.action = 'imported' AND put.action = 'listed');"

/* What is new here, and an upstream is to be asked about: version 12. */
#define UPSTREAM_TABLE                                                                             \
    "CREATE TABLE upstream("                                                                       \
    " item INTEGER PRIMARY KEY, token INTEGER NOT NULL, checksum INTEGER NOT NULL"                 \
    ") STRICT;"

/* Jobs, which have states and times, and their inputs: version 13. Those that have not ended, that
 * failed, and that have somebody to be called are found by indexes of their own. */
#define JOB_TABLES                                                                                 \
    "CREATE TABLE job("                                                                            \
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"                                                       \
    " state INTEGER NOT NULL, client TEXT,"                                                        \
    " added_ns INTEGER NOT NULL, begun_ns INTEGER, ended_ns INTEGER,"                              \
    " inputs INTEGER NOT NULL, decided INTEGER NOT NULL, unreadable INTEGER NOT NULL,"             \
    " bytes INTEGER NOT NULL, problem TEXT,"                                                       \
    " webhook TEXT, calls INTEGER NOT NULL, next_call_ns INTEGER, call_problem TEXT,"              \
    " checksum INTEGER NOT NULL"                                                                   \
    ") STRICT;"                                                                                    \
    "CREATE INDEX job_open ON job(id, state, bytes) WHERE ended_ns IS NULL;"                       \
    "CREATE INDEX job_ended ON job(ended_ns) WHERE ended_ns IS NOT NULL;"                          \
    "CREATE INDEX job_failed ON job(state) WHERE state = 4;"                                       \
    "CREATE INDEX job_call ON job(next_call_ns) WHERE next_call_ns IS NOT NULL;"                   \
    "CREATE TABLE job_input("                                                                      \
    " job INTEGER NOT NULL, number INTEGER NOT NULL, input TEXT, decision TEXT,"                   \
    " checksum INTEGER NOT NULL, PRIMARY KEY(job, number)"                                         \
    ") STRICT, WITHOUT ROWID;"

/* Requests that are done once, and what was answered: version 14. */
#define REQUEST_TABLES                                                                             \
    "CREATE TABLE request("                                                                        \
    " id INTEGER PRIMARY KEY, client TEXT NOT NULL, key TEXT NOT NULL, body BLOB NOT NULL,"        \
    " time_ns INTEGER NOT NULL, checksum INTEGER NOT NULL, UNIQUE(client, key)"                    \
    ") STRICT;"                                                                                    \
    "CREATE INDEX request_time ON request(time_ns);"                                               \
    "CREATE TABLE answer("                                                                         \
    " request INTEGER NOT NULL REFERENCES request ON DELETE CASCADE, number INTEGER NOT NULL,"     \
    " decision TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY(request, number)"             \
    ") STRICT, WITHOUT ROWID;"

/* Which texts have vectors, which lie beside the catalogue under a number, that of the item they
 * were made for; `item` is whose they are by now, 0: of none that is there. Version 15. */
#define TEXT_VECTORS_TABLE                                                                         \
    "CREATE TABLE text_vectors("                                                                   \
    " number INTEGER PRIMARY KEY, item INTEGER NOT NULL, chunks INTEGER NOT NULL,"                 \
    " model TEXT NOT NULL, checksum INTEGER NOT NULL"                                              \
    ") STRICT;"                                                                                    \
    "CREATE INDEX text_vectors_item ON text_vectors(item);"

/* The index of full frames has pictures of little structure, too; it is made again when it is
 * needed: version 17. */
#define FRAMES_FORGOTTEN                                                                           \
    "DELETE FROM doppel_index_segment WHERE owner IN"                                              \
    " (SELECT id FROM doppel_index WHERE name LIKE 'phash64-frames.%');"                           \
    "DELETE FROM doppel_index_log WHERE record >> 40 IN"                                           \
    " (SELECT id FROM doppel_index WHERE name LIKE 'phash64-frames.%');"                           \
    "DELETE FROM doppel_index WHERE name LIKE 'phash64-frames.%';"

/* The views as they are today: the last step of every upgrade. */
#define TODAYS_VIEWS                                                                               \
    "DROP VIEW IF EXISTS items; DROP VIEW IF EXISTS decisions; DROP VIEW IF EXISTS lists;"         \
    "DROP VIEW IF EXISTS list_matches; DROP VIEW IF EXISTS marks; DROP VIEW IF EXISTS "            \
    "sources;" VIEWS

const char *const catalogue_upgrades[CATALOGUE_UPGRADES] = {
    TEXT_TABLES,
    DOPPEL_STORE_INDEX_SCHEMA,
    LEDGER_TABLES,
    PIXELS_COLUMN,
    WORDS_COLUMN,
    "", /* version 8: indexes */
    SCHEME_INDEXES,
    LIST_TABLES BROUGHT_BEFORE,
    "", /* version 11: rows of the log that tell of many digests */
    UPSTREAM_TABLE,
    JOB_TABLES TODAYS_VIEWS,
    REQUEST_TABLES,
    TEXT_VECTORS_TABLE,
    TODAYS_VIEWS, /* version 16: of keypoints */
    FRAMES_FORGOTTEN,
    TODAYS_VIEWS, /* version 18: of keypoints of videos */
    "" /* version 19: keypoints of 16 bytes; those of 20 are read */};

/* What was computed and what is rarely looked at lie apart from the items, so that listing is
 * quick. AUTOINCREMENT: an id is never used twice. */
const char catalogue_schema[] =
    "CREATE TABLE item("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " path BLOB NOT NULL UNIQUE,"
    " device INTEGER NOT NULL, inode INTEGER NOT NULL,"
    " size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"
    " settled INTEGER NOT NULL,"
    " added_ns INTEGER NOT NULL,"
    " digest BLOB NOT NULL, kind INTEGER NOT NULL,"
    " scheme INTEGER NOT NULL, version INTEGER NOT NULL,"
    " width INTEGER NOT NULL, height INTEGER NOT NULL, quality INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX item_digest ON item(digest);"
    "CREATE TABLE fingerprint("
    " item INTEGER PRIMARY KEY REFERENCES item ON DELETE CASCADE,"
    " data BLOB NOT NULL, checksum INTEGER NOT NULL"
    ") STRICT;"
    "CREATE TABLE attachment("
    " item INTEGER PRIMARY KEY REFERENCES item ON DELETE CASCADE,"
    " data BLOB NOT NULL, checksum INTEGER NOT NULL"
    ") STRICT;"
    "CREATE TABLE log("
    " entry INTEGER PRIMARY KEY AUTOINCREMENT,"
    " time_ns INTEGER NOT NULL,"
    " action TEXT NOT NULL,"
    " item INTEGER NOT NULL, path BLOB NOT NULL,"
    " former_item INTEGER, former_path BLOB"
    ") STRICT;" TEXT_TABLES DOPPEL_STORE_INDEX_SCHEMA LEDGER_TABLES PIXELS_COLUMN WORDS_COLUMN
        SCHEME_INDEXES LIST_TABLES UPSTREAM_TABLE JOB_TABLES REQUEST_TABLES TEXT_VECTORS_TABLE
            TODAYS_VIEWS;

/* The data come last: they lie on pages of their own, which other look-ups do not read. */
#define JOINED_TABLE(place)                                                                        \
    "CREATE TABLE " place "joined("                                                                \
    " collection BLOB PRIMARY KEY, written_ns INTEGER NOT NULL, checksum INTEGER NOT NULL,"        \
    " data BLOB NOT NULL"                                                                          \
    ") STRICT;"

#define NAMED_TIFF " lower(CAST(path AS TEXT)) GLOB '*.tif*'"

/* Version 5: the attachments of lossless pictures have the digest of their pixels; version 6: those
 * of texts their SimHash; versions 7 and 8: those of pictures their origin, and place; version 9:
 * those of recordings their tags; version 10: those of texts what they were read as, and more are
 * read as HTML; version 11: the quality of images knows what of them is even; version 12: a
 * TIFF of pages is a document, and no image; version 13: other keypoints come first, figures are
 * cut out of more pictures, and more bars off videos. So they are read again. Version 14 knows no
 * outcomes of pixel checks. */
const char *const cache_upgrades[CACHE_UPGRADES] = {
    JOINED_TABLE("main."),
    "DELETE FROM record WHERE kind = 2;",
    "DELETE FROM record WHERE kind = 1;",
    "DELETE FROM record WHERE kind = 2;",
    "DELETE FROM record WHERE kind = 2;",
    "DELETE FROM record WHERE kind = 3;",
    "DELETE FROM record WHERE kind = 1;",
    "DELETE FROM record WHERE kind = 2;"
    "DELETE FROM pair;",
    "DELETE FROM record WHERE kind = 2 AND digest IN"
    " (SELECT digest FROM file WHERE" NAMED_TIFF ");"
    "DELETE FROM file WHERE" NAMED_TIFF ";",
    "DELETE FROM record WHERE kind IN (2, 4);",
    "DROP TABLE IF EXISTS pair;"};

/* `place` is "main." or "temp.": what is to be written yet has tables of the same make. */
#define CACHE_TABLES(place)                                                                        \
    "CREATE TABLE " place "file("                                                                  \
    " path BLOB PRIMARY KEY,"                                                                      \
    " device INTEGER NOT NULL, inode INTEGER NOT NULL,"                                            \
    " size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"                                           \
    " digest BLOB NOT NULL, checksum INTEGER NOT NULL"                                             \
    ") STRICT, WITHOUT ROWID;"                                                                     \
    "CREATE TABLE " place "record("                                                                \
    " digest BLOB NOT NULL, kind INTEGER NOT NULL,"                                                \
    " scheme INTEGER NOT NULL, version INTEGER NOT NULL,"                                          \
    " width INTEGER NOT NULL, height INTEGER NOT NULL, quality INTEGER NOT NULL,"                  \
    " reading INTEGER NOT NULL, status INTEGER NOT NULL, message TEXT, program TEXT NOT NULL,"     \
    " fingerprint BLOB, checksum INTEGER NOT NULL, attachment_checksum INTEGER NOT NULL,"          \
    " attachment BLOB,"                                                                            \
    " PRIMARY KEY(digest, scheme, version, reading)"                                               \
    ") STRICT;" JOINED_TABLE(place)

/* The attachment comes last: it lies on a page of its own, which other look-ups do not read. */
const char cache_schema[] = CACHE_TABLES("main.");
const char cache_pending_schema[] = "PRAGMA temp.journal_mode=MEMORY;" CACHE_TABLES("temp.");
