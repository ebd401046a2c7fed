// simdjson behind a C interface. Nothing throws: it is compiled without exceptions.
#include "corpus/read/parse.h"

#include <new>
#include <simdjson.h>
#include <utility>

using namespace simdjson;

struct json {
    ondemand::parser parser;
    dom::parser whole;
};

/* Beyond, the parser's tables (five bytes and more a byte of the line) are given back. */
static const size_t keep_bytes = size_t(16) << 20;

static json_problem problem_of(error_code error)
{
    switch (error) {
    case SUCCESS:
        return JSON_FINE;
    case MEMALLOC:
        return JSON_MEMORY;
    case CAPACITY:
        return JSON_TOO_LONG;
    case UTF8_ERROR:
        return JSON_BAD_UTF8;
    case UNESCAPED_CHARS:
        return JSON_CONTROL;
    case UNCLOSED_STRING:
    case INCOMPLETE_ARRAY_OR_OBJECT:
        return JSON_OPEN;
    case INCORRECT_TYPE:
        return JSON_NO_OBJECT;
    default:
        return JSON_BROKEN;
    }
}

static json_problem visit(ondemand::parser &parser, const char *line, size_t size,
                          json_field_visitor *visitor, void *context)
{
    ondemand::document document;
    error_code error =
        parser.iterate(padded_string_view(line, size, size + SIMDJSON_PADDING)).get(document);
    if (error)
        return problem_of(error);
    ondemand::object object;
    error = document.get_object().get(object);
    if (error)
        return problem_of(error);
    for (auto result : object) {
        ondemand::field field;
        if (std::move(result).get(field))
            return JSON_BROKEN;
        std::string_view token = field.value().raw_json_token();
        visitor(context, field.key().raw(), token.data(), token.size());
    }
    return document.current_location().error() == OUT_OF_BOUNDS ? JSON_FINE : JSON_MORE;
}

extern "C" size_t json_extent(const char *value, size_t size)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        if (quoted && value[i] == '\\')
            i++;
        else if (value[i] == '"')
            quoted = !quoted;
        else if (!quoted && (value[i] == '{' || value[i] == '['))
            depth++;
        else if (!quoted && depth && (value[i] == '}' || value[i] == ']'))
            depth--;
        if (!quoted && !depth && i < size)
            return i + 1;
    }
    return 0;
}

/* The value, checked to the last byte. */
static json_problem parse_whole(dom::parser &parser, const char *value, size_t size,
                                dom::element &out)
{
    return problem_of(parser.parse(value, size, false).get(out));
}

static void give_back(dom::parser &parser)
{
    if (parser.capacity() > keep_bytes)
        parser = dom::parser();
}

extern "C" enum json_problem json_check_object(struct json *json, const char *value, size_t size)
{
    dom::element element;
    json_problem problem = parse_whole(json->whole, value, size, element);
    if (problem == JSON_FINE && !element.is_object())
        problem = JSON_NO_OBJECT;
    give_back(json->whole);
    return problem;
}

static json_problem visit_strings(dom::parser &parser, const char *value, size_t size,
                                  json_string_visitor *visitor, void *context)
{
    dom::element element;
    dom::array array;
    json_problem problem = parse_whole(parser, value, size, element);
    if (problem != JSON_FINE)
        return problem;
    if (element.get_array().get(array))
        return JSON_NO_OBJECT;
    for (dom::element one : array) {
        std::string_view string;
        if (one.get_string().get(string))
            return JSON_NO_OBJECT;
        if (!visitor(context, string.data(), string.size()))
            return JSON_FINE;
    }
    return JSON_FINE;
}

extern "C" enum json_problem json_visit_strings(struct json *json, const char *value, size_t size,
                                                json_string_visitor *visitor, void *context)
{
    json_problem problem = visit_strings(json->whole, value, size, visitor, context);
    give_back(json->whole);
    return problem;
}

extern "C" struct json *json_new(void)
{
    return new (std::nothrow) json;
}

extern "C" void json_free(struct json *json)
{
    delete json;
}

extern "C" enum json_problem json_visit(struct json *json, const char *line, size_t size,
                                        json_field_visitor *visitor, void *context)
{
    json_problem problem = visit(json->parser, line, size, visitor, context);
    if (json->parser.capacity() > keep_bytes)
        json->parser = ondemand::parser();
    return problem;
}
