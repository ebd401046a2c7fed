/* A file of its own, so that a test can put another one in its place. */
#include "tools/args/policy.h"

const char *policy_path(void)
{
    return DOPPEL_POLICY;
}
