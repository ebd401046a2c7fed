/* Codes in a GIN index: each is cut into chunks of up to 22 bits, which are its keys.
 *
 * A code that differs from the query by r bits or fewer has, for any thresholds t of the chunks
 * with the sum of (t + 1) over r, a chunk that differs by t or fewer (Norouzi, Punjani, Fleet,
 * "Fast Search in Hamming Space with Multi-Index Hashing", 2012). All values so near to a chunk of
 * the query are looked up; PostgreSQL then compares the codes of the rows themselves. */
#include "postgres/hamming.h"

#include <access/gin.h>
#include <fmgr.h>

PG_FUNCTION_INFO_V1(doppel_gin_extract_value);
PG_FUNCTION_INFO_V1(doppel_gin_extract_query);
PG_FUNCTION_INFO_V1(doppel_gin_consistent);
PG_FUNCTION_INFO_V1(doppel_gin_triconsistent);

/* A key has the number of its chunk above its value, which are 31 bits together. */
enum { CHUNK_BITS = 22, MAX_CHUNKS = 512, MAX_BITS = CHUNK_BITS * MAX_CHUNKS };

/* More look-ups than that take longer than to read the whole index. */
enum { MAX_LOOKUPS = 20000 };

/* ---- chunks ---- */

/* As few as can be, and as even. */
static int32 gin_chunk_count(const VarBit *code)
{
    if (VARBITLEN(code) > MAX_BITS)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("a code of %d bits is too long for the index", VARBITLEN(code)),
                errhint("It takes %d bits.", MAX_BITS));
    return (VARBITLEN(code) + CHUNK_BITS - 1) / CHUNK_BITS;
}

static int32 gin_chunk_begin(const VarBit *code, int32 chunk)
{
    return VARBITLEN(code) * chunk / gin_chunk_count(code);
}

static int32 gin_chunk_width(const VarBit *code, int32 chunk)
{
    return gin_chunk_begin(code, chunk + 1) - gin_chunk_begin(code, chunk);
}

static uint32 gin_chunk_value(const VarBit *code, int32 chunk)
{
    uint32 value = 0;
    for (int32 i = gin_chunk_begin(code, chunk); i < gin_chunk_begin(code, chunk + 1); i++)
        value = value << 1 | (VARBITS(code)[i / 8] >> (7 - i % 8) & 1u);
    return value;
}

static Datum gin_chunk_key(int32 chunk, uint32 value)
{
    return Int32GetDatum((int32)((uint32)chunk << CHUNK_BITS | value));
}

Datum doppel_gin_extract_value(PG_FUNCTION_ARGS)
{
    const VarBit *code = PG_GETARG_VARBIT_P(0);
    int32 *count = (int32 *)PG_GETARG_POINTER(1);
    *count = gin_chunk_count(code);
    Datum *keys = palloc(sizeof *keys * (size_t)Max(*count, 1));
    for (int32 i = 0; i < *count; i++)
        keys[i] = gin_chunk_key(i, gin_chunk_value(code, i));
    PG_RETURN_POINTER(keys);
}

/* ---- what is looked up ---- */

/* How many values of so many bits have at most `threshold` of them set. */
static double count_near_values(int32 width, int32 threshold)
{
    double sum = 0, choices = 1;
    for (int32 i = 0; i <= threshold && i <= width; i++) {
        sum += choices;
        choices = choices * (width - i) / (i + 1);
    }
    return sum;
}

/* The thresholds of the chunks; -1: the chunk is not looked at. They are as even as can be. */
static int32 gin_chunk_threshold(int32 chunk, int32 chunks, int32 radius)
{
    const int32 sum = radius + 1;
    return sum / chunks + (chunk < sum % chunks) - 1;
}

static double count_lookups(const VarBit *code, int32 radius)
{
    const int32 chunks = gin_chunk_count(code);
    double sum = 0;
    for (int32 i = 0; i < chunks; i++)
        sum += count_near_values(gin_chunk_width(code, i), gin_chunk_threshold(i, chunks, radius));
    return sum;
}

/* The next higher value with as many bits set (Gosper's). */
static uint32 next_of_as_many(uint32 value)
{
    const uint32 lowest = value & -value, ripple = value + lowest;
    return ripple | ((value ^ ripple) >> 2) / lowest;
}

/* All values that differ from the chunk by at most the threshold. */
static Datum *put_near_values(const VarBit *code, int32 chunk, int32 threshold, Datum *out)
{
    const int32 width = gin_chunk_width(code, chunk);
    const uint32 value = gin_chunk_value(code, chunk);
    if (threshold >= 0)
        *out++ = gin_chunk_key(chunk, value);
    for (int32 set = 1; set <= Min(threshold, width); set++)
        for (uint32 mask = (1u << set) - 1; mask < 1u << width; mask = next_of_as_many(mask))
            *out++ = gin_chunk_key(chunk, value ^ mask);
    return out;
}

Datum doppel_gin_extract_query(PG_FUNCTION_ARGS)
{
    const struct code_ball ball = read_code_ball(PG_GETARG_HEAPTUPLEHEADER(0));
    int32 *count = (int32 *)PG_GETARG_POINTER(1), *mode = (int32 *)PG_GETARG_POINTER(6);
    *count = 0;
    if (!ball.code || ball.radius < 0)
        PG_RETURN_POINTER(NULL);
    const int32 bits = VARBITLEN(ball.code), radius = (int32)Min(ball.radius, bits);
    if (radius >= bits || count_lookups(ball.code, radius) > MAX_LOOKUPS) {
        *mode = GIN_SEARCH_MODE_ALL;
        PG_RETURN_POINTER(NULL);
    }
    const int32 chunks = gin_chunk_count(ball.code);
    Datum *keys = palloc(sizeof *keys * (size_t)count_lookups(ball.code, radius)), *end = keys;
    for (int32 i = 0; i < chunks; i++)
        end = put_near_values(ball.code, i, gin_chunk_threshold(i, chunks, radius), end);
    *count = (int32)(end - keys);
    PG_RETURN_POINTER(keys);
}

/* Any key that is there makes a candidate. */
Datum doppel_gin_consistent(PG_FUNCTION_ARGS)
{
    *(bool *)PG_GETARG_POINTER(5) = true; /* compare the codes */
    PG_RETURN_BOOL(true);
}

Datum doppel_gin_triconsistent(PG_FUNCTION_ARGS)
{
    PG_RETURN_GIN_TERNARY_VALUE(GIN_MAYBE);
}
