/* Linked in place of the path that is built in: $TEST_POLICY. */
#include <stdlib.h>

const char *__wrap_policy_path(void);
const char *__wrap_policy_path(void)
{
    return getenv("TEST_POLICY");
}
