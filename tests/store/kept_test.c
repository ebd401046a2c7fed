/* What the tests of an index that is kept share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/store/kept_test.h"

#include <dirent.h>
#include <string.h>

#include "tests/store/folder.h"

struct kept kept_must_open(const char *folder, const struct kept_options *options)
{
    struct doppel_error error = {0};
    struct kept kept;
    if (kept_open(folder, options, &kept, &error))
        fail_msg("%s", error.message);
    return kept;
}

void kept_must_transact(struct kept *kept, uint64_t first, uint64_t end)
{
    struct doppel_error error = {0};
    for (uint64_t number = first; number < end; number++)
        if (kept_transact(kept, number, &error))
            fail_msg("%s", error.message);
}

void kept_assert_state(struct kept *kept, uint64_t transactions)
{
    struct doppel_error error = {0};
    uint64_t count;
    const char *wrong = kept_check(doppel_store_index_get(kept->index), &count, &error);
    if (wrong)
        fail_msg("%s after %llu transactions", wrong, (unsigned long long)count);
    assert_int_equal(count, transactions);
}

size_t kept_segments(struct kept *kept)
{
    return doppel_index_info(doppel_store_index_get(kept->index)).segments;
}

/* Names in the folder of the segments that end so. */
size_t kept_files_ending(const char *folder, const char *ending, char *out_last)
{
    size_t count = 0;
    DIR *list = opendir(folder_path(folder, "codes"));
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) {
        size_t length = strlen(entry->d_name), end = strlen(ending);
        if (length < end || strcmp(entry->d_name + length - end, ending) != 0 ||
            entry->d_name[0] == '.')
            continue;
        count++;
        if (out_last)
            strcpy(out_last, entry->d_name);
    }
    closedir(list);
    return count;
}
