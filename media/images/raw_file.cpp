/* Raw files of cameras, by libraw. Its C interface reads whole files alone, so this is C++. */
#include "media/images/raw_file.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>

#include <libraw/libraw.h>

namespace
{

/* A file as libraw wants it: bytes by offset, through the input's window. */
class input_stream : public LibRaw_abstract_datastream
{
  public:
    explicit input_stream(struct input *from) : input(from)
    {
        move_to(0);
    }

    int valid() override
    {
        return 1;
    }

    int read(void *out, size_t size, size_t count) override
    {
        size_t wanted = size && count > SIZE_MAX / size ? 0 : size * count;
        size_t got = input_read(input, static_cast<uint8_t *>(out), wanted);
        return size ? static_cast<int>(got / size) : 0;
    }

    int seek(INT64 offset, int whence) override
    {
        INT64 length = size(), base = whence == SEEK_CUR ? tell() : whence == SEEK_END ? length : 0;
        INT64 place = offset > length - base ? length : base + offset;
        move_to(place < 0 ? 0 : static_cast<uint64_t>(place));
        return 0;
    }

    INT64 tell() override
    {
        return static_cast<INT64>(input->offset - (input->filled - input->at));
    }

    INT64 size() override
    {
        return static_cast<INT64>(input->size);
    }

    int get_char() override
    {
        if (input->at == input->filled && !input_fill(input))
            return -1;
        return input->window[input->at++];
    }

    /* As fgets. */
    char *gets(char *out, int room) override
    {
        int used = 0, byte = 0;
        while (used + 1 < room && byte != '\n' && (byte = get_char()) >= 0)
            out[used++] = static_cast<char>(byte);
        if (room > 0)
            out[used] = 0;
        return used ? out : nullptr;
    }

    /* The next word, up to 24 bytes of it. */
    int scanf_one(const char *format, void *value) override
    {
        char word[25];
        size_t used = 0;
        int byte = get_char();
        while (byte >= 0 && is_blank(byte))
            byte = get_char();
        while (byte >= 0 && !is_blank(byte) && used + 1 < sizeof word) {
            word[used++] = static_cast<char>(byte);
            byte = get_char();
        }
        word[used] = 0;
        return used ? std::sscanf(word, format, value) : EOF;
    }

    int eof() override
    {
        return tell() >= size();
    }

    void *make_jas_stream() override
    {
        return nullptr;
    }

  private:
    struct input *input;

    static bool is_blank(int byte)
    {
        return byte == ' ' || byte == '\t' || byte == '\n' || byte == 0;
    }

    void move_to(uint64_t offset)
    {
        uint64_t begin = input->offset - input->filled;
        if (input->filled && offset >= begin && offset <= input->offset) {
            input->at = static_cast<size_t>(offset - begin);
            return;
        }
        input->offset = offset;
        input->at = input->filled = 0;
    }
};

} // namespace

struct raw_file {
    input_stream stream;
    LibRaw reader;
    libraw_processed_image_t *developed = nullptr;
    bool breaks_off = false;

    explicit raw_file(struct input *input) : stream(input)
    {
    }
};

static enum doppel_status fail_raw(int cause, struct doppel_error *error)
{
    if (cause == LIBRAW_UNSUFFICIENT_MEMORY || cause == LIBRAW_TOO_BIG)
        return doppel_fail(error, DOPPEL_E_LIMIT, "needs too much memory to develop it");
    if (cause == LIBRAW_FILE_UNSUPPORTED || cause == LIBRAW_NOT_IMPLEMENTED)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "a raw file that libraw does not know");
    return doppel_fail(error, DOPPEL_E_CORRUPT, "the raw file is damaged (%s)",
                       libraw_strerror(cause));
}

/* libraw's turn of the sensor as EXIF's orientation. */
static unsigned orientation_of_flip(int flip)
{
    return flip == 3 ? 3 : flip == 5 ? 8 : flip == 6 ? 6 : 1;
}

/* What libraw took for local time as if it were UTC, which is how EXIF's dates are kept. */
static int64_t wall_clock(time_t time)
{
    struct tm local;
    return time > 0 && localtime_r(&time, &local) ? timegm(&local) : 0;
}

static void read_camera(const LibRaw *reader, struct doppel_image_origin *out)
{
    const char *model = reader->imgdata.idata.model;
    size_t used = 0;
    for (; used + 1 < sizeof out->camera && model[used] >= ' ' && model[used] < 127; used++)
        out->camera[used] = model[used];
    out->camera[used] = 0;
    out->taken_s = wall_clock(reader->imgdata.other.timestamp);
}

static void read_raw_head(raw_file *file, struct raw_head *out)
{
    const libraw_image_sizes_t *sizes = &file->reader.imgdata.sizes;
    const libraw_thumbnail_t *preview = &file->reader.imgdata.thumbnail;
    INT64 at = file->reader.get_internal_data_pointer()->internal_data.toffset;
    *out = raw_head{};
    out->width = sizes->iwidth;
    out->height = sizes->iheight;
    /* The sensor as read, four channels of a quarter as many pixels, and what is written of them:
     * all of 16 bits but the last. */
    out->sensor_bytes =
        2ull * sizes->raw_width * sizes->raw_height + 3ull * out->width * out->height;
    out->orientation = orientation_of_flip(sizes->flip);
    read_camera(&file->reader, &out->origin);
    if (at > 0 && preview->tlength) {
        out->preview_at = static_cast<uint64_t>(at);
        out->preview_bytes = preview->tlength;
        out->preview_width = preview->twidth;
        out->preview_height = preview->theight;
    }
}

/* libraw fills what is not there with black. Offsets are an int, or since 0.21 an INT64. */
static const auto note_missing_data = [](void *data, const char *, auto offset) {
    raw_file *file = static_cast<raw_file *>(data);
    file->breaks_off = file->breaks_off || offset < 0;
};

enum doppel_status raw_open(struct input *input, struct raw_file **out, struct raw_head *out_head,
                            struct doppel_error *error)
{
    raw_file *file = nullptr;
    int cause;
    try {
        file = new raw_file(input);
        file->reader.set_dataerror_handler(note_missing_data, file);
        file->reader.imgdata.params.user_flip = 0;
        file->reader.imgdata.params.use_camera_wb = 1;
        cause = file->reader.open_datastream(&file->stream);
    } catch (...) {
        cause = LIBRAW_UNSUFFICIENT_MEMORY;
    }
    if (cause) {
        delete file;
        return fail_raw(cause, error);
    }
    read_raw_head(file, out_head);
    *out = file;
    return DOPPEL_OK;
}

enum doppel_status raw_develop(struct raw_file *file, const uint8_t **out_pixels,
                               uint32_t *out_width, uint32_t *out_height,
                               struct doppel_error *error)
{
    int cause;
    try {
        file->reader.imgdata.params.half_size = 1; /* after the sizes of the whole were read */
        cause = file->reader.unpack();
        if (!cause && file->breaks_off)
            cause = LIBRAW_IO_ERROR;
        if (!cause)
            cause = file->reader.dcraw_process();
        if (!cause)
            file->developed = file->reader.dcraw_make_mem_image(&cause);
    } catch (...) {
        cause = LIBRAW_UNSUFFICIENT_MEMORY;
    }
    if (cause || !file->developed)
        return fail_raw(cause ? cause : LIBRAW_UNSPECIFIED_ERROR, error);
    const libraw_processed_image_t *image = file->developed;
    if (image->type != LIBRAW_IMAGE_BITMAP || image->bits != 8 || image->colors != 3)
        return doppel_fail(error, DOPPEL_E_UNSUPPORTED, "a raw file of %d channels", image->colors);
    *out_pixels = image->data;
    *out_width = image->width;
    *out_height = image->height;
    return DOPPEL_OK;
}

void raw_close(struct raw_file *file)
{
    if (file && file->developed)
        LibRaw::dcraw_clear_mem(file->developed);
    delete file;
}
