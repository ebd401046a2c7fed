/* Fuzz target: a line of a saved scan. A group that is read is written as it is read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/group.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_whole(struct doppel_json *json, const struct doppel_group *group)
{
    doppel_group_to_json(json, NULL, group, DOPPEL_GROUP_DIGESTS | DOPPEL_GROUP_STAMPS);
    if (json->failed)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct doppel_group *group, *again;
    struct doppel_json first = {0}, second = {0};
    struct doppel_error error;
    if (doppel_group_from_json((const char *)data, size, &group, &error))
        return error.message[0] ? 0 : (abort(), 0);
    write_whole(&first, group);
    if (doppel_group_from_json(first.bytes, first.size, &again, &error))
        abort();
    write_whole(&second, again);
    if (strcmp(first.bytes, second.bytes) != 0)
        abort();
    doppel_group_free(group);
    doppel_group_free(again);
    doppel_json_free(&first);
    doppel_json_free(&second);
    return 0;
}
