/* XML by libxml2, as a stream: no tree, no network, no entities of others. */
#include "documents/xml.h"

#include <string.h>

#include <libxml/parser.h>
#include <libxml/xmlerror.h>

struct xml_reading {
    xmlParserCtxtPtr parser;
    unsigned depth;
    const struct xml_handler *handler;
    void *context;
};

enum { MOST_DEPTH = 256 };

static void begin_xml_element(void *data, const xmlChar *name, const xmlChar *prefix,
                              const xmlChar *space, int space_count, const xmlChar **spaces,
                              int count, int defaulted, const xmlChar **items)
{
    struct xml_reading *reading = data;
    const struct xml_attributes attributes = {items, count};
    (void)prefix, (void)space, (void)space_count, (void)spaces, (void)defaulted;
    if (++reading->depth > MOST_DEPTH)
        xmlStopParser(reading->parser);
    else
        reading->handler->begin(reading->context, (const char *)name, &attributes);
}

static void end_xml_element(void *data, const xmlChar *name, const xmlChar *prefix,
                            const xmlChar *space)
{
    struct xml_reading *reading = data;
    (void)prefix, (void)space;
    reading->depth--;
    if (reading->handler->end)
        reading->handler->end(reading->context, (const char *)name);
}

static void take_xml_text(void *data, const xmlChar *bytes, int size)
{
    struct xml_reading *reading = data;
    if (reading->handler->text)
        reading->handler->text(reading->context, (const char *)bytes, (size_t)size);
}

enum { NAME, PREFIX, SPACE, VALUE, VALUE_END, FIELDS };

bool xml_attribute(const struct xml_attributes *attributes, const char *name, char *out,
                   size_t size)
{
    const char *colon = strchr(name, ':'), *local = colon ? colon + 1 : name;
    for (int i = 0; i < attributes->count; i++) {
        const unsigned char **item = attributes->items + i * FIELDS;
        if (!item[PREFIX] != !colon || strcmp((const char *)item[NAME], local) != 0)
            continue;
        size_t length = (size_t)(item[VALUE_END] - item[VALUE]);
        if (length >= size)
            return false;
        memcpy(out, item[VALUE], length);
        out[length] = '\0';
        return true;
    }
    return false;
}

static xmlParserInputPtr load_nothing(const char *url, const char *id, xmlParserCtxtPtr parser)
{
    (void)url, (void)id, (void)parser;
    return NULL;
}

static enum doppel_status describe_failure(const struct xml_reading *reading,
                                           struct doppel_error *error)
{
    xmlParserCtxtPtr parser = reading->parser;
    if (reading->depth > MOST_DEPTH)
        return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged: its XML is nested too deeply");
    if (parser->errNo == XML_ERR_NO_MEMORY)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for its XML");
    int line = parser->input ? parser->input->line : 0;
    return doppel_fail(error, DOPPEL_E_CORRUPT, "is damaged: its XML breaks off in line %d", line);
}

/* So long as to be done with before the next: what is not, libxml2 keeps. */
enum { CHUNK_BYTES = 64 << 10 };

enum doppel_status xml_read(const char *bytes, size_t size, const struct xml_handler *handler,
                            void *context, struct doppel_error *error)
{
    struct xml_reading reading = {.handler = handler, .context = context};
    xmlSAXHandler sax = {.initialized = XML_SAX2_MAGIC,
                         .startElementNs = begin_xml_element,
                         .endElementNs = end_xml_element,
                         .characters = take_xml_text,
                         .cdataBlock = take_xml_text};
    xmlSetExternalEntityLoader(load_nothing);
    xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&sax, &reading, NULL, 0, NULL);
    if (!parser)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for its XML");
    reading.parser = parser;
    xmlCtxtUseOptions(parser, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    int failed = 0;
    for (size_t at = 0; at < size && !failed; at += CHUNK_BYTES)
        failed = xmlParseChunk(parser, bytes + at,
                               (int)(size - at < CHUNK_BYTES ? size - at : CHUNK_BYTES), 0);
    if (!failed)
        failed = xmlParseChunk(parser, NULL, 0, 1);
    enum doppel_status status =
        failed || !parser->wellFormed ? describe_failure(&reading, error) : DOPPEL_OK;
    xmlFreeDoc(parser->myDoc); /* of what a document type declares */
    xmlFreeParserCtxt(parser);
    return status;
}
