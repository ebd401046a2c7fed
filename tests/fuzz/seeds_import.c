/* Lines of exports, and lists as a whole. */
#include "lines.h"

#include <stddef.h>

const char *const line_seeds[] = {
    "{\"item\":1,\"path\":\"/a\",\"path_base64\":\"L2E=\",\"size\":1,\"mtime_ns\":-1,\"digest\":"
    "\"00000000000000000000000000000001\",\"kind\":\"image\",\"scheme\":\"imagehash\",\"version\":"
    "1,"
    "\"quality\":9,\"bits\":64,\"sequence\":[[\"0123456789abcdef\",0],[\"0123456789abcdee\",3]],"
    "\"attachment\":\"AAAA\",\"labels\":[\"a\",\"b\"],\"meta\":{\"x\":[1]},\"leader\":2}",
    "{\"exact\":\"md5:d41d8cd98f00b204e9800998ecf8427e\",\"external_id\":\"x\"}",
    "{\"scheme\":\"pdq\",\"code\":"
    "\"f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22\",\"path\":\"b\"}",
    "{\"scheme\":\"peaks32\",\"code\":\"01234567\"}",
    "{\"text\":3,\"record_id\":\"r\",\"content\":\"00000000000000000000000000000001\",\"words\":2,"
    "\"shingle_total\":2,\"shingles\":[1,2],\"decision\":\"new\",\"leads\":true,\"lanes\":\"00\"}",
    "{\"mark\":\"same\",\"a\":\"00000000000000000000000000000001\",\"b\":"
    "\"00000000000000000000000000000002\",\"note\":\"n\"}",
    "{\"list\":\"l\",\"state\":\"benign\"}",
    "{\"source_pattern\":\"*.org\",\"authority\":5}",
    "{\"policy\":[\"date\",\"size\"]}",
    "{\"text_options\":{\"lanes\":128,\"shingle\":5,\"min_similarity\":0.7}}",
    "{\"doppel_export\":1}",
    "hash_type,hash_value,tags,added,labels\n"
    "pdq,f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22,\"[a, 'b']\",12.5,x;y\n"
    "HASH_MD5,d41d8cd98f00b204e9800998ecf8427e,,,\n"
    "url,http://a,c,,\n",
    "\"SHA-1\",\"MD5\",\"FileName\"\r\n"
    "\"DA39A3EE5E6B4B0D3255BFEF95601890AFD80709\",\"D41D8CD98F00B204E9800998ECF8427E\","
    "\"a\"\"b\"\r\n",
    "scheme,version,code,quality,external_id\nphash64,1,0123456789abcdef,50,\"x\ny\"\n",
    "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22,99,\"n\"\n",
    "d41d8cd98f00b204e9800998ecf8427e  a/b\nda39a3ee5e6b4b0d3255bfef95601890afd80709 *c\n",
    NULL,
};
