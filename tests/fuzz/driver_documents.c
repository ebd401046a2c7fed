/* The fuzz target for documents without libFuzzer: small documents of each format, changed. */
#include <stdlib.h>
#include <string.h>

#include "inputs.h"

enum { INPUTS = 3000, MOST_CHANGES = 6, ROOM = 4096 };

#define SEED(format, text)                                                                         \
    {                                                                                              \
        format, text, sizeof(text) - 1                                                             \
    }
#define RELATION(id, target) "<Relationship Id=\"" id "\" Target=\"" target "\"/>"

/* By number of the target's format; a NUL between two parts. */
static const struct {
    uint8_t format;
    const char *bytes;
    size_t size;
} seeds[] = {
    SEED(0, "{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0 X;}}{\\*\\x y}a\\u228?\\'e4{\\footnote n}"
            "\\par\\page b\\bin2 }}c\\uc2\\u-10179??\\u-8704??}"),
    SEED(1,
         "From a@b\nFrom: a@b\nTo: c\nSubject: =?utf-8?b?w6Q=?= =?koi8-r?q?=F0_?=\n"
         "Content-Type: multipart/mixed; boundary=\"x\"\n\n--x\nContent-Type: text/html\n"
         "Content-Transfer-Encoding: base64\n\nPGI+YTwvYj4=\n--x\n"
         "Content-Transfer-Encoding: quoted-printable\n\nb=C3=A4=\n> c\n-- \nd\n--x--\n\nFrom b\n"
         "From: b\n\ne\n"),
    SEED(2, "<w:d xmlns:w=\"w\"><w:p><w:r><w:t>a</w:t><w:br w:type=\"page\"/><w:del><w:t>b</w:t>"
            "</w:del><w:tab/></w:r></w:p></w:d>\0<f><p><r><t>n</t></r></p></f>"),
    SEED(3, "<p xmlns:r=\"r\"><sldId r:id=\"a\"/><sldId r:id=\"b\"/></p>\0<R>" RELATION(
                "a", "slides/slide1.xml")
                RELATION("b", "/ppt/slides/slide2.xml") "</R>\0"
                                                        "<s><sp><ph "
                                                        "type=\"ftr\"/><p><t>x</t></p></sp></"
                                                        "s>\0<s><sp><p><t>y</t></p></sp></s>"),
    SEED(4, "<w xmlns:r=\"r\"><sheet r:id=\"a\"/></w>\0<R>" RELATION(
                "a", "worksheets/sheet1.xml") "</R>"
                                              "\0<s><row><c "
                                              "t=\"s\"><v>1</v></c><c><v>2.5</v></c></row></s>\0"
                                              "<s><si><t>a</t></si><si><r><t>b</t></r><rPh><t>c</"
                                              "t></rPh></si></s>"),
    SEED(5, "<o xmlns:t=\"t\"><t:p>a<t:note><t:note-body><t:p>n</t:p></t:note-body></t:note><t:s/>b"
            "</t:p><t:soft-page-break/><t:h>c</t:h></o>\0<m/>"),
    SEED(6, "<o><table><p>a</p></table><table><p>b</p></table></o>"),
    SEED(7,
         "<c><rootfile full-path=\"a.opf\"/></c>\0<p><item id=\"a\" href=\"c1.xhtml\"/><item "
         "id=\"b\" "
         "href=\"x/../c2%2exhtml#f\"/><itemref idref=\"b\"/><itemref idref=\"a\"/></p>\0<p>a</p>\0"
         "<html><p>b &auml;</p></html>\0<e/>"),
    SEED(0x82, "PK\3\4\n\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0aa"),
};

/* One change: a byte, a stretch that is left out, doubled, or put elsewhere. */
static size_t change_document(struct inputs *inputs, uint8_t *bytes, size_t size)
{
    size_t at = 1 + inputs_random(inputs) % (size - 1);
    size_t length = 1 + inputs_random(inputs) % 16;
    length = length < size - at ? length : size - at;
    switch (inputs_random(inputs) % 4) {
    case 0:
        bytes[at] = (uint8_t)inputs_random(inputs);
        return size;
    case 1:
        memmove(bytes + at, bytes + at + length, size - at - length);
        return size - length > 2 ? size - length : size;
    case 2:
        memcpy(bytes + size, bytes + at, length);
        return size + length;
    default:
        memmove(bytes + 1 + inputs_random(inputs) % (size - length), bytes + at, length);
        return size;
    }
}

int main(int argument_count, char **arguments)
{
    struct inputs inputs = inputs_begin(argument_count, arguments, INPUTS);
    for (unsigned long i = 0; i < inputs.count; i++) {
        size_t which = i % (sizeof seeds / sizeof *seeds), size = seeds[which].size + 1;
        uint8_t bytes[ROOM];
        bytes[0] = seeds[which].format;
        memcpy(bytes + 1, seeds[which].bytes, size - 1);
        for (uint32_t changes = inputs_random(&inputs) % MOST_CHANGES; changes; changes--)
            size = change_document(&inputs, bytes, size);
        uint8_t *exact = malloc(size); /* a sanitizer sees a step beyond it */
        if (!exact)
            abort();
        memcpy(exact, bytes, size);
        inputs_use(&inputs, exact, size);
        free(exact);
    }
    return 0;
}
