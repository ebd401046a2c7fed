\echo Use "CREATE EXTENSION doppel" to load this file. \quit

CREATE FUNCTION hamming(bit varying, bit varying) RETURNS integer
AS 'MODULE_PATHNAME', 'pg_hamming'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming(bit varying, bit varying) IS
'how many bits differ; both codes have the same length';

CREATE FUNCTION minhash_similarity(bytea, bytea) RETURNS double precision
AS 'MODULE_PATHNAME', 'pg_minhash_similarity'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_similarity(bytea, bytea) IS
'estimated Jaccard similarity of two MinHash signatures, 0 to 1';

CREATE FUNCTION hamming_within(bit varying, record) RETURNS boolean
AS 'MODULE_PATHNAME', 'pg_hamming_within'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR <@ (
    LEFTARG = bit varying,
    RIGHTARG = record,
    FUNCTION = hamming_within,
    RESTRICT = contsel,
    JOIN = contjoinsel
);
COMMENT ON OPERATOR <@ (bit varying, record) IS
'code <@ (query, radius): at most radius bits differ';

CREATE FUNCTION doppel_gin_extract_value(bit varying, internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION doppel_gin_extract_query(record, internal, smallint, internal, internal, internal,
                                         internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION doppel_gin_consistent(internal, smallint, record, integer, internal, internal,
                                      internal, internal) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION doppel_gin_triconsistent(internal, smallint, record, integer, internal, internal,
                                         internal) RETURNS "char"
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR CLASS doppel_ops DEFAULT FOR TYPE bit varying USING gin AS
    OPERATOR 1 <@ (bit varying, record),
    FUNCTION 1 btint4cmp(integer, integer),
    FUNCTION 2 doppel_gin_extract_value(bit varying, internal),
    FUNCTION 3 doppel_gin_extract_query(record, internal, smallint, internal, internal, internal,
                                        internal),
    FUNCTION 4 doppel_gin_consistent(internal, smallint, record, integer, internal, internal,
                                     internal, internal),
    FUNCTION 6 doppel_gin_triconsistent(internal, smallint, record, integer, internal, internal,
                                        internal),
    STORAGE integer;
