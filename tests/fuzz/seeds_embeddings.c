/* Answers of services that embed. */
#include "lines.h"

#include <stddef.h>

const char *const line_seeds[] = {
    "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":[0.25,-1.5]"
    "}],\"model\":\"m\",\"usage\":{\"prompt_tokens\":3,\"total_tokens\":3}}",
    "{\"data\":[{\"index\":1,\"embedding\":\"AACAPwAAAEA=\"},{\"index\":0,\"embedding\":"
    "\"AACAvwAAwH8=\"}],\"usage\":{\"prompt_tokens\":7}}",
    "{\"data\":[{\"embedding\":[1,2e-300]},{\"embedding\":[0,0]},{\"embedding\":[1e39,null]}]}",
    "{\"data\":[{\"index\":2,\"embedding\":\"AAAAAQAAAAA=\"},{\"index\":0,\"embedding\":[3,4]},"
    "{\"index\":1,\"embedding\":\"//9/fwAAgP8=\"}]}",
    NULL,
};
