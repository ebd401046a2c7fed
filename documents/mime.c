/* Messages of mail as they are sent. Sources: RFC 5322; RFC 2045, 2047. */
#include "documents/mime.h"

#include <string.h>
#include <strings.h>

#include "documents/charset.h"

bool next_mail_line(struct mail_span *text, struct mail_span *out)
{
    if (!text->size)
        return false;
    const char *end = memchr(text->at, '\n', text->size);
    size_t size = end ? (size_t)(end - text->at) : text->size, taken = size + (end != NULL);
    *out = (struct mail_span){text->at, size && text->at[size - 1] == '\r' ? size - 1 : size};
    text->at += taken;
    text->size -= taken;
    return true;
}

struct mime_part mime_split(struct mail_span message)
{
    struct mail_span rest = message, line;
    while (next_mail_line(&rest, &line) && line.size)
        ;
    return (struct mime_part){{message.at, message.size - rest.size}, rest};
}

static void append_field_line(struct mail_span line, char *out, size_t size, size_t *used)
{
    size_t length = line.size < size - 1 - *used ? line.size : size - 1 - *used;
    memcpy(out + *used, line.at, length);
    *used += length;
    out[*used] = '\0';
}

bool mime_field(struct mail_span head, const char *name, char *out, size_t size)
{
    struct mail_span line;
    size_t length = strlen(name), used = 0;
    bool found = false;
    while (next_mail_line(&head, &line)) {
        bool folded = line.size && (line.at[0] == ' ' || line.at[0] == '\t');
        if (found && !folded)
            return true;
        if (!found && line.size > length && strncasecmp(line.at, name, length) == 0 &&
            line.at[length] == ':') {
            found = true;
            line.at += length + 1;
            line.size -= length + 1;
            while (line.size && line.at[0] == ' ') {
                line.at++;
                line.size--;
            }
        }
        if (found)
            append_field_line(line, out, size, &used);
    }
    return found;
}

bool mime_parameter(const char *value, const char *name, char *out, size_t size)
{
    size_t length = strlen(name);
    for (const char *at = strchr(value, ';'); at; at = strchr(at, ';')) {
        at += 1 + strspn(at + 1, " \t");
        if (strncasecmp(at, name, length) != 0 || at[length] != '=')
            continue;
        const char *from = at + length + 1;
        bool quoted = *from == '"';
        from += quoted;
        size_t found = strcspn(from, quoted ? "\"" : "; \t");
        if (found >= size)
            return false;
        memcpy(out, from, found);
        out[found] = '\0';
        return true;
    }
    return false;
}

/* ---- encodings ---- */

static int base64_value(char sign)
{
    if (sign >= 'A' && sign <= 'Z')
        return sign - 'A';
    if (sign >= 'a' && sign <= 'z')
        return sign - 'a' + 26;
    if (sign >= '0' && sign <= '9')
        return sign - '0' + 52;
    return sign == '+' ? 62 : sign == '/' ? 63 : -1;
}

static size_t decode_base64_loosely(struct mail_span encoded, char *out)
{
    uint32_t bits = 0;
    unsigned count = 0;
    size_t size = 0;
    for (size_t i = 0; i < encoded.size; i++) {
        int value = base64_value(encoded.at[i]);
        if (value < 0)
            continue;
        bits = bits << 6 | (uint32_t)value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[size++] = (char)(bits >> count & 0xff);
        }
    }
    return size;
}

static int quoted_value(char digit)
{
    return digit >= '0' && digit <= '9'                 ? digit - '0'
           : (digit | 32) >= 'a' && (digit | 32) <= 'f' ? (digit | 32) - 'a' + 10
                                                        : -1;
}

/* @param word of a field: an underscore is a space */
static size_t decode_quoted(struct mail_span encoded, bool word, char *out)
{
    size_t size = 0;
    for (size_t i = 0; i < encoded.size; i++) {
        char sign = encoded.at[i];
        int high = sign == '=' && i + 2 < encoded.size + 0 ? quoted_value(encoded.at[i + 1]) : -1;
        int low = high >= 0 ? quoted_value(encoded.at[i + 2]) : -1;
        if (low >= 0) {
            out[size++] = (char)(high << 4 | low);
            i += 2;
        } else if (sign == '=' && i + 1 < encoded.size && encoded.at[i + 1] == '\n')
            i++;
        else if (sign == '=' && i + 2 < encoded.size && encoded.at[i + 1] == '\r')
            i += 2;
        else
            out[size++] = word && sign == '_' ? ' ' : sign;
    }
    return size;
}

size_t mime_decode(const char *encoding, struct mail_span encoded, char *out)
{
    if (strncasecmp(encoding, "base64", 6) == 0)
        return decode_base64_loosely(encoded, out);
    if (strncasecmp(encoding, "quoted-printable", 16) == 0)
        return decode_quoted(encoded, false, out);
    memcpy(out, encoded.at, encoded.size);
    return encoded.size;
}

/* ---- encoded words ---- */

enum { WORD_BYTES = 256 };

/* "=?utf-8?q?caf=C3=A9?=" at the beginning. @return its length; 0: it is none */
static size_t add_encoded_word(const char *text, struct document_writer *out)
{
    char charset[32], bytes[WORD_BYTES];
    const char *first = strchr(text + 2, '?'), *second = first ? strchr(first + 1, '?') : NULL;
    const char *end = second ? strstr(second + 1, "?=") : NULL;
    if (!end || second != first + 2 || (size_t)(first - text - 2) >= sizeof charset ||
        (size_t)(end - second) > sizeof bytes)
        return 0;
    memcpy(charset, text + 2, (size_t)(first - text - 2));
    charset[first - text - 2] = '\0';
    struct mail_span encoded = {second + 1, (size_t)(end - second - 1)};
    size_t size = (first[1] | 32) == 'b' ? decode_base64_loosely(encoded, bytes)
                                         : decode_quoted(encoded, true, bytes);
    charset_add(charset_find(charset), bytes, size, out);
    return (size_t)(end + 2 - text);
}

void mime_add_words(const char *value, struct document_writer *out)
{
    bool after_word = false;
    while (*value) {
        size_t blanks = strspn(value, " \t"), word = 0;
        if (strncmp(value + blanks, "=?", 2) == 0) {
            if (!after_word)
                writer_add(out, value, blanks);
            word = add_encoded_word(value + blanks, out);
        }
        if (word)
            value += blanks + word;
        else {
            writer_add(out, value, blanks + (value[blanks] != '\0'));
            value += blanks + (value[blanks] != '\0');
        }
        after_word = word;
    }
}
