/* The sweep with AVX2: a half-byte of a code chooses a table, those of 32 others are looked up in
 * it at once. */
#include <immintrin.h>
#include <stdint.h>

static inline int32_t ones(uint64_t word)
{
    return __builtin_popcountll(word);
}

#include "match/images/sweep_loop.h"

#define INLINE static inline __attribute__((always_inline))

struct row_vectors {
    __m256i tables[SWEEP_PLANES];
};

INLINE struct row_vectors load_row_tables(const struct sweep_task *task,
                                          const struct sweep_row *row)
{
    struct row_vectors out;
    for (int i = 0; i < SWEEP_PLANES; i++)
        out.tables[i] = _mm256_broadcastsi128_si256(
            _mm_load_si128((const __m128i *)(task->tables + row->tables[i])));
    return out;
}

INLINE __m256i sum_of_group(const struct row_vectors *row, const struct sweep_block *block,
                            int group)
{
    __m256i sum = _mm256_setzero_si256();
    for (int i = group * SWEEP_NIBBLES; i < (group + 1) * SWEEP_NIBBLES; i++)
        sum = _mm256_add_epi8(
            sum, _mm256_shuffle_epi8(row->tables[i],
                                     _mm256_loadu_si256((const __m256i *)block->planes[i])));
    return sum;
}

INLINE __m256i joined_groups(enum sweep_form form, const struct row_vectors *row,
                             const struct sweep_block *block, __m256i middle)
{
    const __m256i a = sum_of_group(row, block, 0), b = sum_of_group(row, block, 1);
    const __m256i c = sum_of_group(row, block, 2);
    if (form == SWEEP_SUM)
        return _mm256_add_epi8(a, _mm256_add_epi8(b, c));
    if (form == SWEEP_FOLD_TWO)
        return _mm256_sub_epi8(a, _mm256_abs_epi8(_mm256_add_epi8(middle, _mm256_add_epi8(b, c))));
    const __m256i last = _mm256_sub_epi8(c, _mm256_set1_epi8(SWEEP_LAST_BITS));
    const __m256i alike = _mm256_abs_epi8(_mm256_add_epi8(middle, _mm256_add_epi8(a, b)));
    const __m256i apart = _mm256_abs_epi8(_mm256_sub_epi8(a, b));
    return _mm256_min_epi8(_mm256_sub_epi8(last, alike),
                           _mm256_sub_epi8(_mm256_sub_epi8(_mm256_setzero_si256(), last), apart));
}

INLINE size_t sweep_blocks(enum sweep_form form, const struct sweep_task *task,
                           struct sweep_near *out)
{
    const __m256i middle = _mm256_set1_epi8((char)task->centre);
    const __m256i most = _mm256_set1_epi8((char)task->limit);
    size_t count = 0;
    for (uint32_t row = 0; row < task->row_count; row++) {
        const struct row_vectors vectors = load_row_tables(task, &task->rows[row]);
        for (uint32_t block = 0; block < task->block_count; block++) {
            const __m256i far = _mm256_cmpgt_epi8(
                joined_groups(form, &vectors, &task->blocks[block], middle), most);
            const uint32_t near = ~(uint32_t)_mm256_movemask_epi8(far);
            out[count] = (struct sweep_near){(uint16_t)row, (uint16_t)block, near};
            count += near != 0;
        }
    }
    return count;
}

static size_t sweep_sum(const struct sweep_task *task, struct sweep_near *out)
{
    return sweep_blocks(SWEEP_SUM, task, out);
}

static size_t sweep_fold_two(const struct sweep_task *task, struct sweep_near *out)
{
    return sweep_blocks(SWEEP_FOLD_TWO, task, out);
}

static size_t sweep_fold_three(const struct sweep_task *task, struct sweep_near *out)
{
    return sweep_blocks(SWEEP_FOLD_THREE, task, out);
}

const struct sweep_kernels sweep_avx2 = {{sweep_sum, sweep_fold_two, sweep_fold_three},
                                         check_sweep_codes};
