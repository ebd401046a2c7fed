/* Bodies of requests, and paths. */
#include "lines.h"

#include <stddef.h>

#define HEX64 "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff00112233445566778899aabbccddeeff"

const char *const line_seeds[] = {
    "{\"text\":\"the quick brown fox\",\"id\":\"a\",\"source\":\"s\",\"date\":\"2026-05-31\","
    "\"lists\":[\"seen\",\"b\"],\"labels\":[\"x\"],\"meta\":{\"a\":[1,2.5,null,true]}}",
    "{\"scheme\":\"pdq\",\"codes\":[\"" HEX64 "\",\"" HEX64 "\"]}",
    "{\"code\":\"00ff00ff00ff00ff\"}",
    "[{\"code\":\"" HEX64 "\",\"scheme\":\"phash256\"},{\"text\":\"\"},{\"path\":\"/a/../b\"}]",
    "{\"inputs\":[{\"text\":\"a\\u0000b\\ud83d\\ude00\"},{\"path\":\"b.jpg\",\"id\":null}]}",
    "{\"record\":{\"kind\":\"image\",\"scheme\":\"phash64\",\"version\":1,\"width\":3,\"height\":4,"
    "\"quality\":80,\"digest\":\"00000000000000000000000000000001\",\"bits\":64,"
    "\"sequence\":[[\"00ff00ff00ff00ff\",0],[\"00ff00ff00ff00fe\",1]],\"attachment\":\"AAAA\"}}",
    "{\"record\":{\"scheme\":\"minhash128\",\"version\":1,\"lanes\":\"00010002\",\"words\":9,"
    "\"shingle_total\":5,\"simhash\":\"0000000000000001\",\"shingles\":[]}}",
    "/v1/items/1",
    "/c/bank/a/content/7",
    "/h/hash",
    "/v1/items/id:a%2fb/preview",
    NULL,
};
