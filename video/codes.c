/* Codes of runs as bytes: which bits differ from the run before, told by an arithmetic coder whose
 * odds follow what came before. Source: adaptive binary arithmetic coding (Rissanen and Langdon,
 * 1979), the interval held in two 32-bit numbers without carries. */
#include "video/codes.h"

#include "core/array.h"

enum {
    BITS = 256,
    STRETCH = 32, /* bits of a code that share odds */
    RATES = 16,   /* how many of the bits before differed, in classes of 1/32 */
    ODDS_BITS = 16,
    ODDS_START = (1 << ODDS_BITS) / 3,
    SLOWNESS = 6, /* odds move by 1/64 of what they are off */
    STATE_BYTES = 4
};

/* ---- odds ---- */

/* Of 1 << ODDS_BITS, that a bit differs. */
struct odds {
    uint16_t differs[BITS / STRETCH][RATES];
};

static void odds_start(struct odds *odds)
{
    for (unsigned i = 0; i < BITS / STRETCH; i++)
        for (unsigned j = 0; j < RATES; j++)
            odds->differs[i][j] = ODDS_START;
}

static uint16_t *odds_of(struct odds *odds, unsigned bit, unsigned differed)
{
    unsigned rate = (differed + 4) * 32 / (bit + 12);
    return &odds->differs[bit / STRETCH][rate < RATES ? rate : RATES - 1];
}

static void odds_learn(uint16_t *odds, bool differs)
{
    if (differs)
        *odds = (uint16_t)(*odds + (UINT16_MAX - *odds) / (1 << SLOWNESS));
    else
        *odds = (uint16_t)(*odds - *odds / (1 << SLOWNESS));
}

/* ---- the interval ---- */

struct interval {
    uint32_t low, high;
};

/* What differs lies below, the rest from the next number on. */
static uint32_t middle_of(const struct interval *interval, uint16_t odds)
{
    return interval->low +
           (uint32_t)((uint64_t)(interval->high - interval->low) * odds >> ODDS_BITS);
}

static void narrow(struct interval *interval, uint32_t middle, bool differs)
{
    if (differs)
        interval->high = middle;
    else
        interval->low = middle + 1;
}

/* Whether the highest byte is settled; then it goes. */
static bool settled(const struct interval *interval)
{
    return (interval->low ^ interval->high) >> 24 == 0;
}

static void shift(struct interval *interval)
{
    interval->low <<= 8;
    interval->high = interval->high << 8 | 255;
}

/* ---- writing ---- */

struct writer {
    ARRAY(uint8_t) bytes;
    struct interval interval;
    bool no_memory;
};

static void write_top(struct writer *writer)
{
    if (!array_push(&writer->bytes, (uint8_t)(writer->interval.low >> 24)))
        writer->no_memory = true;
    shift(&writer->interval);
}

static void write_bit(struct writer *writer, uint16_t odds, bool differs)
{
    narrow(&writer->interval, middle_of(&writer->interval, odds), differs);
    while (settled(&writer->interval))
        write_top(writer);
}

uint8_t *codes_write(const struct doppel_video_frame *frames, size_t count, size_t *out_size)
{
    struct writer writer = {.interval = {0, UINT32_MAX}};
    struct doppel_code before = {0};
    struct odds odds;
    odds_start(&odds);
    for (size_t i = 0; i < count && !writer.no_memory; i++) {
        unsigned differed = 0;
        for (unsigned bit = 0; bit < BITS; bit++) {
            const unsigned word = bit / 64;
            bool differs = (frames[i].code.word[word] ^ before.word[word]) >> bit % 64 & 1;
            uint16_t *chance = odds_of(&odds, bit, differed);
            write_bit(&writer, *chance, differs);
            odds_learn(chance, differs);
            differed += differs;
        }
        before = frames[i].code;
    }
    for (unsigned i = 0; i < STATE_BYTES; i++)
        write_top(&writer);
    if (writer.no_memory)
        array_free(&writer.bytes);
    *out_size = writer.bytes.count;
    return writer.bytes.items;
}

/* ---- reading ---- */

struct reader {
    const uint8_t *next, *end;
    struct interval interval;
    uint32_t state; /* where in the interval the writer ended, as far as it was read */
    bool cut_short;
};

static void read_next(struct reader *reader)
{
    reader->cut_short |= reader->next == reader->end;
    reader->state = reader->state << 8 | (reader->cut_short ? 0 : *reader->next++);
}

static bool read_bit(struct reader *reader, uint16_t odds)
{
    uint32_t middle = middle_of(&reader->interval, odds);
    bool differs = reader->state <= middle;
    narrow(&reader->interval, middle, differs);
    for (; settled(&reader->interval); shift(&reader->interval))
        read_next(reader);
    return differs;
}

bool codes_read(const uint8_t *bytes, size_t size, struct doppel_video_frame *frames, size_t count)
{
    struct reader reader = {.next = bytes, .end = bytes + size, .interval = {0, UINT32_MAX}};
    struct doppel_code code = {0};
    struct odds odds;
    odds_start(&odds);
    for (unsigned i = 0; i < STATE_BYTES; i++)
        read_next(&reader);
    for (size_t i = 0; i < count && !reader.cut_short; i++) {
        unsigned differed = 0;
        for (unsigned bit = 0; bit < BITS; bit++) {
            uint16_t *chance = odds_of(&odds, bit, differed);
            bool differs = read_bit(&reader, *chance);
            odds_learn(chance, differs);
            differed += differs;
            code.word[bit / 64] ^= (uint64_t)differs << bit % 64;
        }
        frames[i].code = code;
    }
    /* The writer ends with the interval's lower end. */
    return !reader.cut_short && reader.next == reader.end && reader.state == reader.interval.low;
}
