/* hamming(a, b), code <@ (query, radius) and minhash_similarity(a, b). */
#include "postgres/hamming.h"

#include <access/htup_details.h>
#include <catalog/pg_type.h>
#include <fmgr.h>
#include <port/pg_bitutils.h>
#include <utils/typcache.h>

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pg_hamming);
PG_FUNCTION_INFO_V1(pg_hamming_within);
PG_FUNCTION_INFO_V1(pg_minhash_similarity);

/* Bits behind the last of a code are zero: PostgreSQL sees to it. */
static int32 count_differing_bits(const VarBit *a, const VarBit *b)
{
    const uint8 *one = VARBITS(a), *other = VARBITS(b);
    const size_t bytes = VARBITBYTES(a);
    int32 count = 0;
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64 x, y;
        memcpy(&x, one + at, sizeof x);
        memcpy(&y, other + at, sizeof y);
        count += pg_popcount64(x ^ y);
    }
    for (; at < bytes; at++)
        count += pg_number_of_ones[one[at] ^ other[at]];
    return count;
}

Datum pg_hamming(PG_FUNCTION_ARGS)
{
    const VarBit *a = PG_GETARG_VARBIT_P(0), *b = PG_GETARG_VARBIT_P(1);
    if (VARBITLEN(a) != VARBITLEN(b))
        ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
                errmsg("codes of %d and %d bits have no distance", VARBITLEN(a), VARBITLEN(b)));
    PG_RETURN_INT32(count_differing_bits(a, b));
}

/* ---- (query, radius) ---- */

static int64 radius_of_datum(Datum value, Oid type)
{
    switch (type) {
    case INT2OID:
        return DatumGetInt16(value);
    case INT4OID:
        return DatumGetInt32(value);
    default:
        return DatumGetInt64(value);
    }
}

static bool is_ball(TupleDesc row)
{
    if (row->natts != 2)
        return false;
    const Oid code = TupleDescAttr(row, 0)->atttypid, radius = TupleDescAttr(row, 1)->atttypid;
    return (code == BITOID || code == VARBITOID) &&
           (radius == INT2OID || radius == INT4OID || radius == INT8OID);
}

struct code_ball read_code_ball(HeapTupleHeader row)
{
    TupleDesc layout =
        lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));
    const bool well = is_ball(layout);
    struct code_ball ball = {0};
    if (well) {
        HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(row), .t_data = row};
        Datum values[2];
        bool nulls[2];
        heap_deform_tuple(&tuple, layout, values, nulls);
        if (!nulls[0] && !nulls[1]) {
            ball.code = DatumGetVarBitP(values[0]);
            ball.radius = radius_of_datum(values[1], TupleDescAttr(layout, 1)->atttypid);
        }
    }
    ReleaseTupleDesc(layout);
    if (!well)
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("on the right of <@ stands (code, radius): bits and a whole number"));
    return ball;
}

Datum pg_hamming_within(PG_FUNCTION_ARGS)
{
    const VarBit *code = PG_GETARG_VARBIT_P(0);
    const struct code_ball ball = read_code_ball(PG_GETARG_HEAPTUPLEHEADER(1));
    PG_RETURN_BOOL(ball.code && VARBITLEN(ball.code) == VARBITLEN(code) &&
                   count_differing_bits(ball.code, code) <= ball.radius);
}

/* ---- MinHash ---- */

/* Of lanes of 16 bits, less what unrelated ones have in common by chance, as
 * doppel_minhash_similarity of <doppel/text.h> has it. */
Datum pg_minhash_similarity(PG_FUNCTION_ARGS)
{
    const bytea *a = PG_GETARG_BYTEA_PP(0), *b = PG_GETARG_BYTEA_PP(1);
    const size_t bytes = VARSIZE_ANY_EXHDR(a), lanes = bytes / 2;
    if (bytes != VARSIZE_ANY_EXHDR(b) || !bytes || bytes % 2)
        ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
                errmsg("signatures of %zu and %zu bytes cannot be compared", bytes,
                       (size_t)VARSIZE_ANY_EXHDR(b)),
                errhint("Both have two bytes a lane: 256 of minhash128."));
    const char *one = VARDATA_ANY(a), *other = VARDATA_ANY(b);
    size_t equal = 0;
    for (size_t lane = 0; lane < lanes; lane++)
        equal += one[2 * lane] == other[2 * lane] && one[2 * lane + 1] == other[2 * lane + 1];
    const double chance = 1 / 65536., share = (double)equal / (double)lanes;
    const double value = (share - chance) / (1 - chance);
    PG_RETURN_FLOAT8(value > 0 ? value : 0);
}
