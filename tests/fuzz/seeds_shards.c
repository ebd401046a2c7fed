/* Answers of the nodes of a cluster. */
#include "lines.h"

#include <stddef.h>

#define ITEM                                                                                       \
    "{\"id\":1029,\"path\":\"\",\"kind\":\"image\",\"scheme\":\"pdq\",\"version\":1,\"width\":3,"  \
    "\"height\":4,\"quality\":80,\"digest\":\"00000000000000000000000000000001\",\"external_id\":" \
    "\"a\"}"
#define BULK(size, text) "$" #size "\r\n" text "\r\n"

const char *const line_seeds[] = {
    /* maps */
    "*2\r\n*4\r\n:0\r\n:8191\r\n*3\r\n$9\r\n127.0.0.1\r\n:7000\r\n$2\r\nid\r\n"
    "*3\r\n$9\r\n127.0.0.1\r\n:7001\r\n$2\r\nid\r\n"
    "*3\r\n:8192\r\n:16383\r\n*4\r\n$0\r\n\r\n:7002\r\n$2\r\nid\r\n*2\r\n+hostname\r\n+h\r\n",
    "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$-1\r\n:70000\r\n",
    "*0\r\n",
    "-ERR This instance has cluster support disabled\r\n",
    /* hits */
    "*3\r\n:0\r\n:131072\r\n:3\r\n",
    "*2\r\n:2\r\n:7\r\n",
    "*2\r\n$3\r\n\xff\xff\x01\r\n*8\r\n:0\r\n:131072\r\n:3\r\n:5\r\n:1\r\n:262144\r\n:0\r\n:"
    "1023\r\n",
    "*2\r\n$1\r\n\x20\r\n*3\r\n:0\r\n:9\r\n:5\r\n",
    "-ERR no such shard\r\n-OOM command not allowed\r\n-ERR unknown command\r\n-NOPERM no\r\n",
    /* items */
    "*3\r\n" BULK(150, ITEM) "$-1\r\n$3\r\n?12\r\n",
    "*1\r\n" BULK(165, "?1790000000000 " ITEM),
    /* what was written */
    "*3\r\n:1\r\n$4\r\n1029\r\n$5\r\n?1 {}\r\n",
    "*3\r\n:0\r\n$4\r\n2053\r\n" BULK(150, ITEM),
    "*1\r\n:2\r\n",
    "*2\r\n:3\r\n$6\r\n 5 29 \r\n",
    "*2147483647\r\n*2147483647\r\n:1\r\n",
    "$9223372036854775807\r\nx\r\n",
    NULL,
};
