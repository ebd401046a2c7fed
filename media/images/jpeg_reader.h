/* A JPEG on its way through libjpeg: what its input, its scans and its rows share. */
#ifndef DOPPEL_MEDIA_JPEG_READER_H
#define DOPPEL_MEDIA_JPEG_READER_H

#include <setjmp.h>
#include <stdio.h>

/* clang-format off */
#include <jpeglib.h>
#include <jpegint.h>
/* clang-format on */

#include "media/decode.h"
#include "media/images/origin.h"

struct jpeg_reader {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf on_error;
    struct input *input;
    const struct doppel_luma_options *options;
    struct image image;
    unsigned channels;  /* of the picture: 1, or RGB */
    uint8_t *colours;   /* a row of several components; NULL when libjpeg writes what is wanted */
    uint32_t rows_good; /* rows whose data were there */
    unsigned scanned;   /* a bit for each component that a whole scan was read of */
    bool cut;           /* the data are over: rows from now on are invented */
    bool ended;         /* and there was no end of image */
    bool coarse;        /* later scans are not all there */
    bool damaged;       /* there are codes that cannot be */
    struct origin_meter meter;
    inverse_DCT_method_ptr transform; /* libjpeg's own, of the measured component */
    char message[JMSG_LENGTH_MAX];
};

/* Errors and input lead to the reader, whose input and options are set. May leave by longjmp. */
void jpeg_reader_open(struct jpeg_reader *reader);

/* The next byte of the file; beyond it, of an end of image. */
unsigned jpeg_next_byte(j_decompress_ptr cinfo);

/* Measure the blocks of the first component from here on, on their way to the transform. */
void jpeg_reader_measure(struct jpeg_reader *reader);
/* Begin again, with the table of the first component. */
void jpeg_reader_begin_meter(struct jpeg_reader *reader);

/* Read scans until there is all that the output needs, and see what of them is there. */
void jpeg_read_scans(struct jpeg_reader *reader);

#endif
