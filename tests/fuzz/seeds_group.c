/* Groups of saved scans. */
#include "lines.h"

#include <stddef.h>

#define STAMP "\"mtime_ns\":-5,\"inode\":7,\"digest\":\"00000000000000000000000000000001\""

const char *const line_seeds[] = {
    "{\"group\":1,\"kind\":\"image\",\"keep\":\"a\",\"savable\":3,\"keep_reason\":\"size\","
    "\"burst\":"
    "true,\"members\":[{\"path\":\"a\",\"size\":9,\"mtime\":1.5,\"width\":3,\"height\":4,\"taken\":"
    "\"2026-05-31T12:30:05\",\"camera\":\"X 1\",\"latitude\":47.5,\"longitude\":-8.25,\"reason\":"
    "\"kept\"," STAMP "},{\"path\":\"b\",\"path_base64\":\"Yv8=\",\"size\":3,\"reason\":\"near\","
    "\"burst\":true,\"mark\":\"leave\",\"kind\":\"image\",\"scheme\":\"phash64\",\"relation\":"
    "\"same\","
    "\"distance\":4,\"bits\":64,\"similarity\":0.9375,\"score\":3.5,\"false_positive_rate\":3.16e-"
    "4,"
    "\"verified\":\"codes\",\"transform\":{\"mirrored\":true,\"rotated\":90}," STAMP "}]}",
    "{\"group\":2,\"kind\":\"video\",\"keep\":\"v\",\"savable\":0,\"members\":[{\"path\":\"v\","
    "\"size\":9,\"links\":2,\"names\":[{\"path\":\"w\"}],\"duration\":61.25,\"reason\":"
    "\"kept\"," STAMP "},{\"path\":\"c\",\"size\":8,\"duration\":5.0,\"reference\":true,\"reason\":"
                      "\"part\",\"scheme\":"
    "\"frames64\",\"relation\":\"contained\",\"distance\":3,\"bits\":64,\"similarity\":0.9,"
    "\"query_coverage\":1.0,\"item_coverage\":0.1,\"segments\":[{\"a_start\":0.0,\"a_end\":5.0,"
    "\"b_start\":1.5,\"b_end\":6.5,\"speed\":1.0}],\"transform\":{\"speed\":1.0}," STAMP "}]}",
    "{\"group\":3,\"kind\":\"text\",\"keep\":\"t\",\"savable\":1,\"members\":[{\"path\":\"t\","
    "\"size\":"
    "1,\"reason\":\"kept\"," STAMP
    ",\"reading\":1},{\"path\":\"u\",\"size\":1,\"reason\":\"identical\","
    "\"distance\":0,\"similarity\":1.0," STAMP "}]}",
    NULL,
};
