/* What every kernel of the join makes of its cell_lanes and cell_words: included behind them. */
static uint64_t cell1(const struct join_block *block, size_t left, size_t right, uint32_t limit)
{
    return cell_words(block, left, right, limit, 1);
}

static uint64_t cell2(const struct join_block *block, size_t left, size_t right, uint32_t limit)
{
    return cell_words(block, left, right, limit, 2);
}

static uint64_t cell4(const struct join_block *block, size_t left, size_t right, uint32_t limit)
{
    return cell_words(block, left, right, limit, 4);
}

static bool lanes(const struct join_block *block)
{
    return compare_tiles(block, LANES32, cell_lanes);
}

static bool words1(const struct join_block *block)
{
    return compare_tiles(block, LANES64, cell1);
}

static bool words2(const struct join_block *block)
{
    return compare_tiles(block, LANES64, cell2);
}

static bool words4(const struct join_block *block)
{
    return compare_tiles(block, LANES64, cell4);
}
