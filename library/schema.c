/* The tables of catalogue.db and of the cache. */
#include "library/schema.h"

#include <doppel/store.h>

/* Records of corpora: rows that are only appended to, since what ingest must find it has in memory.
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

const char *const catalogue_upgrades[CATALOGUE_UPGRADES] = {TEXT_TABLES, DOPPEL_STORE_INDEX_SCHEMA};

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
    ") STRICT;" TEXT_TABLES DOPPEL_STORE_INDEX_SCHEMA;

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
    ") STRICT;"                                                                                    \
    "CREATE TABLE " place "pair("                                                                  \
    " a BLOB NOT NULL, b BLOB NOT NULL,"                                                           \
    " program TEXT NOT NULL, same INTEGER NOT NULL,"                                               \
    " distance64 INTEGER NOT NULL, distance256 INTEGER NOT NULL,"                                  \
    " query_view INTEGER NOT NULL, item_view INTEGER NOT NULL, orientation INTEGER NOT NULL,"      \
    " false_positive_rate REAL NOT NULL, similarity REAL NOT NULL, checksum INTEGER NOT NULL,"     \
    " PRIMARY KEY(a, b)"                                                                           \
    ") STRICT, WITHOUT ROWID;"

/* The attachment comes last: it lies on a page of its own, which other look-ups do not read. */
const char cache_schema[] = CACHE_TABLES("main.");
const char cache_pending_schema[] = "PRAGMA temp.journal_mode=MEMORY;" CACHE_TABLES("temp.");
