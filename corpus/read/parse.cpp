// simdjson behind a C interface. Nothing throws: it is compiled without exceptions.
#include "corpus/read/parse.h"

#include <cstdio>
#include <new>
#include <simdjson.h>
#include <utility>

using namespace simdjson;

struct json {
    ondemand::parser parser;
    dom::parser whole;
    json_path *paths[JSON_MAX_PATHS] = {};
    size_t path_count = 0;
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

/* Some of the paths, one bit each. */
using path_set = unsigned;

/* Of `among`, those whose step at this depth is `name`; what ends here has found its token. */
static path_set follow(const json &json, path_set among, size_t depth, std::string_view name,
                       std::string_view token)
{
    path_set deeper = 0;
    for (size_t i = 0; i < json.path_count; i++) {
        json_path &path = *json.paths[i];
        if (!(among >> i & 1) || name != path.steps[depth])
            continue;
        bool ends = path.count == depth + 1;
        path.token = ends ? token.data() : nullptr;
        path.token_size = token.size();
        deeper |= path_set(!ends) << i;
    }
    return deeper;
}

static bool is_of_type(ondemand::value &value, ondemand::json_type type)
{
    ondemand::json_type own;
    return !value.type().get(own) && own == type;
}

static bool descend(const json &json, path_set among, size_t depth, ondemand::value value);

static bool search_object(const json &json, path_set among, size_t depth, ondemand::object object)
{
    for (auto result : object) {
        ondemand::field field;
        std::string_view name;
        if (std::move(result).get(field) || field.unescaped_key().get(name))
            return false;
        path_set deeper = follow(json, among, depth, name, field.value().raw_json_token());
        if (deeper && !descend(json, deeper, depth + 1, field.value()))
            return false;
    }
    return true;
}

static bool search_array(const json &json, path_set among, size_t depth, ondemand::array array)
{
    size_t number = 0;
    for (auto result : array) {
        ondemand::value value;
        char name[24];
        if (std::move(result).get(value))
            return false;
        int size = snprintf(name, sizeof name, "%zu", number++);
        path_set deeper = follow(json, among, depth, std::string_view(name, size_t(size)),
                                 value.raw_json_token());
        if (deeper && !descend(json, deeper, depth + 1, value))
            return false;
    }
    return true;
}

/* False: the value is no JSON. What is neither object nor array has nothing. */
static bool descend(const json &json, path_set among, size_t depth, ondemand::value value)
{
    ondemand::object object;
    ondemand::array array;
    if (is_of_type(value, ondemand::json_type::object))
        return !value.get_object().get(object) && search_object(json, among, depth, object);
    if (is_of_type(value, ondemand::json_type::array))
        return !value.get_array().get(array) && search_array(json, among, depth, array);
    return true;
}

static json_problem visit(json &json, const char *line, size_t size, json_field_visitor *visitor,
                          void *context)
{
    ondemand::document document;
    error_code error =
        json.parser.iterate(padded_string_view(line, size, size + SIMDJSON_PADDING)).get(document);
    if (error)
        return problem_of(error);
    ondemand::object object;
    error = document.get_object().get(object);
    if (error)
        return problem_of(error);
    const path_set all = (path_set(1) << json.path_count) - 1;
    for (auto result : object) {
        ondemand::field field;
        std::string_view name;
        if (std::move(result).get(field))
            return JSON_BROKEN;
        std::string_view token = field.value().raw_json_token();
        visitor(context, field.key().raw(), token.data(), token.size());
        if (!all)
            continue;
        if (field.unescaped_key().get(name))
            return JSON_BROKEN;
        path_set deeper = follow(json, all, 0, name, token);
        if (deeper && !descend(json, deeper, 1, field.value()))
            return JSON_BROKEN;
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

extern "C" bool json_is_utf8(const char *bytes, size_t size)
{
    return simdjson::validate_utf8(bytes, size);
}

extern "C" struct json *json_new(void)
{
    return new (std::nothrow) json;
}

extern "C" void json_look_for(struct json *json, struct json_path *const *paths, size_t count)
{
    json->path_count = count < JSON_MAX_PATHS ? count : size_t(JSON_MAX_PATHS);
    for (size_t i = 0; i < json->path_count; i++)
        json->paths[i] = paths[i];
}

extern "C" void json_free(struct json *json)
{
    delete json;
}

extern "C" enum json_problem json_visit(struct json *json, const char *line, size_t size,
                                        json_field_visitor *visitor, void *context)
{
    for (size_t i = 0; i < json->path_count; i++)
        json->paths[i]->token = nullptr;
    json_problem problem = visit(*json, line, size, visitor, context);
    if (json->parser.capacity() > keep_bytes)
        json->parser = ondemand::parser();
    return problem;
}
