-- Distances.
SELECT hamming(B'10110', B'00111');
SELECT hamming(('x' || 'ffffffffffffffff')::bit(64), ('x' || '0000000000000001')::bit(64));
SELECT hamming(B'101', B'1010');
SELECT hamming(NULL, B'1') IS NULL AS none;
SELECT hamming(B''::bit varying, B''::bit varying);
SELECT minhash_similarity('\x0001000200030004', '\x0001000200030005');
SELECT minhash_similarity('\x00010002', '\x00030004');
SELECT minhash_similarity('\x0001', '\x00010002');
SELECT minhash_similarity('\x', '\x');
SELECT minhash_similarity('\x010203', '\x010203');

-- Codes within a radius.
SELECT B'1010' <@ (B'1000', 1) AS one, B'1010' <@ (B'1001', 1) AS two;
SELECT B'1010' <@ (B'101', 4) AS other_length;
SELECT B'1010' <@ (NULL::bit(4), 4) AS no_code, B'1010' <@ (B'1010', NULL::int) AS no_radius;
SELECT B'1010' <@ (B'1010', -1) AS below, B'1010' <@ (B'0101', 4::bigint) AS all_bits;
SELECT B'1010' <@ (B'1010', 1.5);
SELECT B'1010' <@ ('text', 1);
SELECT B'1010' <@ ROW(B'1010', 1, 2);

-- By the index.
CREATE TABLE picture (id int PRIMARY KEY, code bit(64));
INSERT INTO picture
SELECT i, (('x' || left(md5(i::text), 16))::bit(64)) FROM generate_series(1, 2000) AS i;
INSERT INTO picture
SELECT 2001 + i, code # (1::bit(64) << i) FROM picture, generate_series(0, 9) AS i WHERE id = 7;
INSERT INTO picture VALUES (3000, NULL);
CREATE INDEX picture_code ON picture USING gin (code);
SET enable_seqscan = off;
EXPLAIN (COSTS off)
SELECT id FROM picture WHERE code <@ ((SELECT code FROM picture WHERE id = 7), 3);
SELECT id FROM picture WHERE code <@ ((SELECT code FROM picture WHERE id = 7), 0);
SELECT id FROM picture WHERE code <@ ((SELECT code FROM picture WHERE id = 7), 3) ORDER BY id;
SELECT count(*) FROM picture WHERE code <@ ((SELECT code FROM picture WHERE id = 7), 64);
SELECT count(*) FROM picture WHERE code <@ ((SELECT code FROM picture WHERE id = 7), -5);
SELECT count(*) FROM picture WHERE code <@ (NULL::bit(64), 3);
SELECT count(*) FROM picture WHERE code <@ (B'1010', 3);
SELECT count(*) FROM picture WHERE code <@ ('x', 3);
SELECT a.id, b.id FROM picture a JOIN picture b ON b.code <@ (a.code, 1) AND b.id > a.id
WHERE a.id < 2005 ORDER BY a.id, b.id;
UPDATE picture SET code = ~code WHERE id = 2003;
DELETE FROM picture WHERE id = 2004;
VACUUM picture;
SELECT id FROM picture WHERE code <@ ((SELECT code FROM picture WHERE id = 7), 3) ORDER BY id;

-- Codes of several lengths in one column, and longer than an index takes.
CREATE TABLE mixed (code bit varying);
CREATE INDEX ON mixed USING gin (code);
INSERT INTO mixed VALUES (B''), (B'1'), (B'10101'), (repeat('10', 50)::bit varying);
SELECT code FROM mixed WHERE code <@ (B'10100', 1);
SELECT count(*) FROM mixed WHERE code <@ (B'', 0);
SELECT length(code) FROM mixed WHERE code <@ ((repeat('10', 48) || '0011')::bit varying, 2);
INSERT INTO mixed VALUES (repeat('1', 20000)::bit varying);
