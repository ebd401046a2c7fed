/* Which members of a group of images are files of one shot. */
#include "group/companions.h"

#include <stdlib.h>
#include <string.h>

#include "core/files/camera_names.h"

struct named_member {
    const char *path;
    size_t stem_bytes;
    struct doppel_group_member *member;
};

static int compare_stems(const void *left, const void *right)
{
    const struct named_member *a = left, *b = right;
    size_t bytes = a->stem_bytes < b->stem_bytes ? a->stem_bytes : b->stem_bytes;
    int order = memcmp(a->path, b->path, bytes);
    return order ? order : (a->stem_bytes > b->stem_bytes) - (a->stem_bytes < b->stem_bytes);
}

/* Files of one stem are those of a shot where one of them is raw. */
static void mark_stem(const struct named_member *files, size_t count, uint32_t *shots)
{
    bool raw = false;
    for (size_t i = 0; i < count; i++)
        raw = raw || is_raw_name(files[i].path);
    if (!raw || count < 2)
        return;
    ++*shots;
    for (size_t i = 0; i < count; i++)
        files[i].member->shot = *shots;
}

bool mark_companions(struct doppel_group_member *members, size_t count)
{
    struct named_member *files = calloc(count + 1, sizeof *files);
    size_t used = 0;
    uint32_t shots = 0;
    if (!files)
        return false;
    for (size_t i = 0; i < count; i++)
        if (members[i].is_file && members[i].path)
            files[used++] =
                (struct named_member){members[i].path, stem_length(members[i].path), &members[i]};
    qsort(files, used, sizeof *files, compare_stems);
    for (size_t begin = 0, end; begin < used; begin = end) {
        for (end = begin + 1; end < used && compare_stems(&files[begin], &files[end]) == 0; end++)
            ;
        mark_stem(files + begin, end - begin, &shots);
    }
    free(files);
    return true;
}

bool is_one_shot(const struct doppel_group_member *members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!are_companions(&members[i], &members[0]))
            return false;
    return count > 0;
}
