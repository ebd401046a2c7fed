/* The fuzz target for archives of records without libFuzzer: changed bytes, numbers and lengths of
 * files that other programs wrote, and of a web archive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"

enum { INPUTS = 3000, MOST_BYTES = 1 << 15 };

static const char web_archive[] =
    "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 4\r\n\r\na: b\r\n\r\n"
    "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://u@h.example:80/p?q#f\r\n"
    "WARC-Date: 2024-05-01T01:02:03Z\r\nWARC-Record-ID: <urn:uuid:1-2>\r\n"
    "Content-Type: text/plain\r\nContent-Length: 9\r\n\r\none \"two\"\r\n\r\n"
    "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/\r\n"
    "Content-Type: application/http\r\nContent-Length: 101\r\n\r\n"
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    "0b\r\n<p>x <b>y</p>\r\n0\r\n\r\n\r\n\r\n";

static const char *const names[] = {
    "arrow/javascript-stream.arrow", "arrow/javascript-dictionary.arrow",
    "arrow/javascript-large.arrow",  "arrow/polars-lz4.arrow",
    "arrow/polars-zstd.arrow",       "parquet/arrow-delta.parquet",
    "parquet/arrow-v1-gzip.parquet", "parquet/arrow-v1-snappy.parquet",
    "parquet/arrow-v2-zstd.parquet", "parquet/javascript.parquet",
};
enum { NAMES = sizeof names / sizeof *names };

static size_t read_seed(const char *name, uint8_t *out)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", CORPUS_FILES, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        exit(1);
    size_t size = fread(out, 1, MOST_BYTES, file);
    fclose(file);
    return size;
}

/* Numbers at which lengths turn over. */
static void change_bytes(struct inputs *inputs, uint8_t *data, size_t size)
{
    static const uint64_t numbers[] = {
        0, 1, 0x7F, 0x80, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, UINT64_C(0x7FFFFFFFFFFFFFFF), UINT64_MAX};
    uint64_t number = numbers[inputs_random(inputs) % (sizeof numbers / sizeof *numbers)];
    static const size_t widths[] = {1, 2, 4, 8};
    size_t width = widths[inputs_random(inputs) % 4], at = inputs_random(inputs) % size;
    if (inputs_random(inputs) % 3 == 0) /* where footers, or the first metadata, are */
        at = inputs_random(inputs) % 2 ? at % 1200 : size - 1 - at % 1200;
    if (inputs_random(inputs) % 2)
        number = inputs_random(inputs);
    if (at < size && width <= size - at)
        memcpy(data + at, &number, width);
}

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, INPUTS);
    for (unsigned long i = 0; i < inputs.count; i++) {
        static uint8_t data[MOST_BYTES];
        size_t seed = i % (NAMES + 1), size = sizeof web_archive - 1;
        if (seed < NAMES)
            size = read_seed(names[seed], data);
        else
            memcpy(data, web_archive, size);
        for (uint32_t changes = i <= NAMES ? 0 : 1 + inputs_random(&inputs) % 4; changes; changes--)
            change_bytes(&inputs, data, size);
        if (i > NAMES && inputs_random(&inputs) % 8 == 0)
            size = inputs_random(&inputs) % size;
        inputs_use(&inputs, data, size);
    }
    return 0;
}
