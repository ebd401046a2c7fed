/* What `doppel index info` says of an index. */
#include "index_info.h"

#include <stdlib.h>

#include "command.h"

json_t *info_of(const char *index)
{
    char *text = doppel_prints(0, "index", "info", index, "--json");
    json_t *info = json_loads(text, 0, NULL);
    assert_non_null(info);
    free(text);
    return info;
}

json_int_t info_number(const char *index, const char *key)
{
    json_t *info = info_of(index);
    assert_true(json_is_number(json_object_get(info, key)));
    json_int_t value = (json_int_t)json_number_value(json_object_get(info, key));
    json_decref(info);
    return value;
}
