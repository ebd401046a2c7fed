/* The documented views of catalogue.db (docs/formats.md): what people open with sqlite3, and what
 * doppel_library_where asks. They use no function that is not SQLite's own. */
#ifndef DOPPEL_LIBRARY_VIEWS_H
#define DOPPEL_LIBRARY_VIEWS_H

#define TIME_OF(nanoseconds)                                                                       \
    "strftime('%Y-%m-%dT%H:%M:%SZ', " nanoseconds " / 1000000000, 'unixepoch')"

#define SCHEME_NAME(column)                                                                        \
    "CASE " column " WHEN 1 THEN 'phash64' WHEN 2 THEN 'phash256' WHEN 3 THEN 'imagehash'"         \
    " WHEN 4 THEN 'pdq' WHEN 5 THEN 'minhash128' WHEN 6 THEN 'minhash256'"                         \
    " WHEN 7 THEN 'simhash64' WHEN 8 THEN 'winnow32' WHEN 9 THEN 'datasketch'"                     \
    " WHEN 10 THEN 'peaks32' WHEN 11 THEN 'chromaprint' WHEN 12 THEN 'frames64'"                   \
    " WHEN 13 THEN 'vpdq' WHEN 14 THEN 'local' WHEN 15 THEN 'frames128' END"

#define DECISION_NAME(column)                                                                      \
    "CASE " column " WHEN 0 THEN 'new' WHEN 1 THEN 'duplicate' WHEN 2 THEN 'revision'"             \
    " WHEN 3 THEN 'part' WHEN 4 THEN 'too_short' WHEN 5 THEN 'unreadable'"                         \
    " WHEN 6 THEN 'conflict' WHEN 7 THEN 'ignored' END"

#define METADATA_OF(table)                                                                         \
    "about.external_id AS external_id, about.meta AS meta,"                                        \
    " (SELECT json_group_array(label) FROM (SELECT label FROM label WHERE label.item = " table     \
    ".id ORDER BY label)) AS labels,"                                                              \
    " (SELECT json_group_array(name) FROM (SELECT list.name FROM list_item"                        \
    " JOIN list ON list.id = list_item.list WHERE list_item.item = " table                         \
    ".id ORDER BY list.name)) AS lists"

/* Files and digests, then records. */
/* clang-format off */
#define VIEW_FILES \
    "SELECT item.id AS id," \
    " CASE item.kind WHEN 1 THEN 'text' WHEN 2 THEN 'image' WHEN 3 THEN 'audio'" \
    " WHEN 4 THEN 'video' ELSE 'unknown' END AS kind," \
    " CASE WHEN substr(item.path, 1, 1) = x'00' THEN NULL ELSE CAST(item.path AS TEXT) END" \
    " AS path, NULL AS record_id, NULL AS line," \
    " CAST(about.source AS TEXT) AS source, CAST(about.date AS TEXT) AS date, " \
    METADATA_OF("item") \
    ", item.size AS size, item.width AS width, item.height AS height," \
    " item.duration_ms / 1000.0 AS duration, item.quality AS quality, item.words AS words, " \
    SCHEME_NAME("item.scheme") " AS scheme, item.version AS scheme_version," \
    " lower(hex(item.digest)) AS digest, item.simhash AS simhash," \
    " (SELECT " DECISION_NAME("log.decision") " FROM log WHERE log.item = item.id" \
    " AND log.item != 0 AND log.action = 'decided' ORDER BY log.entry DESC LIMIT 1) AS decision," \
    " coalesce(link.leader, item.id) AS leader," \
    " coalesce(canonical.item, link.leader, item.id) AS canonical, " \
    TIME_OF("item.added_ns") " AS added, " \
    TIME_OF("nullif(item.mtime_ns, 0)") " AS modified," \
    " item.added_ns AS added_ns, item.mtime_ns AS mtime_ns FROM item" \
    " LEFT JOIN about ON about.item = item.id LEFT JOIN link ON link.item = item.id" \
    " LEFT JOIN canonical ON canonical.leader = coalesce(link.leader, item.id)"

#define VIEW_RECORDS \
    "SELECT text.id, 'text', CAST(corpus.path AS TEXT), CAST(record_id AS TEXT), line," \
    " CAST(text.source AS TEXT), CAST(text.date AS TEXT), " \
    METADATA_OF("text") \
    ", text.size, NULL, NULL, NULL, NULL, text.words," \
    " CASE length(lanes) WHEN 256 THEN 'minhash128' WHEN 512 THEN 'minhash256' END, NULL," \
    " lower(hex(text.content)), text.simhash, " \
    DECISION_NAME("text.decision") \
    ", coalesce(nullif(text.leader, 0), text.id)," \
    " coalesce(canonical.item, nullif(text.leader, 0), text.id), " \
    TIME_OF("text.added_ns") \
    ", NULL, text.added_ns, NULL FROM text LEFT JOIN corpus ON corpus.id = text.corpus" \
    " LEFT JOIN about ON about.item = text.id" \
    " LEFT JOIN canonical ON canonical.leader = coalesce(nullif(text.leader, 0), text.id)"

#define VIEW_ITEMS VIEW_FILES " UNION ALL " VIEW_RECORDS

/* A row that tells of many items has an entry for each. */
#define VIEW_DECISIONS \
    DECISION_ROWS("entry", "nullif(item, 0)", "path") " WHERE last_item IS NULL UNION ALL " \
    DECISION_ROWS("entry - (last_item - one.id)", "one.id", "coalesce(one.place, (SELECT" \
        " external_id FROM about WHERE about.item = one.id), '')") \
    " JOIN (SELECT id, CASE WHEN path >= x'01' THEN path END AS place FROM item" \
    " UNION ALL SELECT item, path FROM log WHERE action = 'removed') AS one" \
    " ON one.id BETWEEN log.item AND log.last_item"

#define DECISION_ROWS(entry, item, name) \
    "SELECT " entry " AS entry, " TIME_OF("time_ns") " AS time, time_ns, action, " item \
    " AS item," \
    " CAST(" name " AS TEXT) AS name, CAST(source AS TEXT) AS source, " \
    DECISION_NAME("decision") " AS decision, of AS of_item, former_item," \
    " CAST(former_path AS TEXT) AS former_name, reason, " \
    SCHEME_NAME("scheme") " AS scheme, version AS scheme_version, distance, bits, similarity," \
    " CASE limit_kind WHEN 1 THEN 'distance' WHEN 2 THEN 'similarity' WHEN 3 THEN 'rate' END" \
    " AS limit_kind, match_limit, false_positive_rate, detail FROM log"
/* clang-format on */

/* clang-format off */
#define VIEW_LISTS \
    "SELECT name, CASE state WHEN 0 THEN 'active' WHEN 1 THEN 'disabled' WHEN 2 THEN 'benign' END" \
    " AS state, (SELECT count(*) FROM list_item WHERE list_item.list = list.id) AS items," \
    " CASE limit_kind WHEN 1 THEN match_limit END AS max_distance," \
    " CASE limit_kind WHEN 2 THEN match_limit END AS min_similarity," \
    " nullif(flood, 0) AS flood FROM list LEFT JOIN list_rule ON list_rule.list = list.id"

#define VIEW_LIST_MATCHES \
    "SELECT item, sum(CASE WHEN hour >= 0 THEN matches ELSE 0 END) AS matches, " \
    TIME_OF("max(CASE WHEN hour >= 0 THEN last_ns END)") " AS last_match, " \
    TIME_OF("max(CASE hour WHEN -1 THEN last_ns END)") \
    " AS in_review_since FROM list_match GROUP BY item"
/* clang-format on */

#define VIEW_MARKS                                                                                 \
    "SELECT lower(hex(a)) AS a, lower(hex(b)) AS b,"                                               \
    " CASE same WHEN 0 THEN 'distinct' ELSE 'same' END AS word, " TIME_OF(                         \
        "time_ns") " AS time, note FROM mark"

#define VIEW_SOURCES "SELECT pattern, authority FROM source"

#define VIEWS                                                                                      \
    "CREATE VIEW items AS " VIEW_ITEMS ";CREATE VIEW decisions AS " VIEW_DECISIONS                 \
    ";CREATE VIEW lists AS " VIEW_LISTS ";CREATE VIEW list_matches AS " VIEW_LIST_MATCHES          \
    ";CREATE VIEW marks AS " VIEW_MARKS ";CREATE VIEW sources AS " VIEW_SOURCES ";"

#endif
