// simdjson behind a C interface. Nothing throws: it is compiled without exceptions.
#include "embed/brought/line_values.h"

#include <cmath>
#include <cstdlib>
#include <new>
#include <simdjson.h>

using namespace simdjson;

struct line_parser {
    dom::parser parser;
    float *vector = nullptr;
    size_t room = 0;
};

struct line_parser *line_parser_new(void)
{
    return new (std::nothrow) line_parser;
}

void line_parser_free(struct line_parser *parser)
{
    if (parser)
        free(parser->vector);
    delete parser;
}

static void take_id(const dom::object &object, line_values &out)
{
    dom::element id;
    std::string_view text;
    if (object.at_key("id").get(id) != SUCCESS)
        return;
    if (id.get(text) == SUCCESS) {
        out.id = LINE_ID_TEXT;
        out.text = text.data();
        out.text_size = text.size();
    } else {
        out.id = id.is_int64() && id.get(out.number) == SUCCESS ? LINE_ID_NUMBER : LINE_ID_OTHER;
    }
}

static const char *take_vector(line_parser &parser, const dom::array &array, line_values &out)
{
    const size_t most = array.number_of_slots(); // two for each number
    if (parser.room < most) {
        float *room = static_cast<float *>(realloc(parser.vector, most * sizeof *room));
        if (!room)
            return "";
        parser.vector = room;
        parser.room = most;
    }
    for (dom::element element : array) {
        double number;
        if (element.get(number) != SUCCESS)
            return "its \"vector\" holds what is no number";
        if (std::fabs(number) > out.largest)
            out.largest = std::fabs(number);
        parser.vector[out.dimension++] = static_cast<float>(number);
    }
    out.vector = parser.vector;
    return nullptr;
}

const char *line_parser_parse(struct line_parser *parser, const char *line, size_t size,
                              struct line_values *out)
{
    dom::element whole;
    dom::object object;
    dom::array array;
    *out = line_values{};
    const error_code problem = parser->parser.parse(line, size).get(whole);
    if (problem)
        return problem == MEMALLOC ? "" : error_message(problem);
    if (whole.get(object) != SUCCESS)
        return "no object";
    if (object.at_key("vector").get(array) != SUCCESS)
        return "has no \"vector\" that is an array";
    take_id(object, *out);
    return take_vector(*parser, array, *out);
}
