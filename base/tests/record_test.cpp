// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Records by their tables: written, read back, refused by the name of the member, and as a schema.
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ostream>

#include "base/octets.hpp"
#include "base/record/json_reader.hpp"
#include "base/record/json_writer.hpp"
#include "base/record/schema.hpp"

namespace sample {

using namespace std::chrono_literals;
using base::record::constant;
using base::record::defaulted;
using base::record::Flag;
using base::record::Form;
using base::record::inlined;
using base::record::internal;
using base::record::required;
using base::record::table;

enum class Colour : std::uint8_t { red, green };
constexpr auto names_of(Colour) { return std::array{"red", "green"}; }

struct Rights {
  bool read = false, write = false;
};
constexpr auto flags_of(const Rights*) {
  return std::array{Flag<Rights>{"read", &Rights::read}, Flag<Rights>{"write", &Rights::write}};
}

struct Point {
  std::uint8_t x = 0;
  std::int16_t y = 0;
};
constexpr auto table_of(const Point*) {
  return table("point", required("x", &Point::x).from(1), defaulted("y", &Point::y));
}
struct Nothing {};
constexpr auto table_of(const Nothing*) { return table("nothing"); }

inline constexpr std::array sizes{"small", "large"};

struct Everything {
  Colour colour = Colour::red;
  Point where{1, 0};
  std::vector<Point> points;
  std::map<std::string, std::uint64_t> counts;
  std::map<Colour, int> colours;
  std::optional<std::uint32_t> frame;
  std::optional<bool> maybe;
  Rights rights;
  std::string size = "small", digits, note;
  base::Octets octets;
  std::array<std::byte, 2> two{};
  std::chrono::nanoseconds at{};
  int place = 0;
  std::variant<Nothing, Point> kind;
};
constexpr auto table_of(const Everything*) {
  return table(
      "everything", constant("version", 1), required("colour", &Everything::colour),
      required("where", &Everything::where), required("points", &Everything::points).nonempty(),
      required("counts", &Everything::counts), required("colours", &Everything::colours).from(1),
      required("frame", &Everything::frame), defaulted("maybe", &Everything::maybe),
      required("rights", &Everything::rights), required("size", &Everything::size).one_of(sizes),
      required("digits", &Everything::digits).form(Form::hex), defaulted("note", &Everything::note),
      required("octets", &Everything::octets), required("two", &Everything::two),
      required("at", &Everything::at), internal("place", &Everything::place),
      inlined(&Everything::kind));
}

Everything full() {
  Everything all;
  all.colour = Colour::green;
  all.where = {255, -3};
  all.points = {{1, 2}, {3, 4}};
  all.counts = {{"one", 1}};
  all.colours = {{Colour::green, 2}};
  all.frame = 7;
  all.maybe = false;
  all.rights.write = true;
  all.size = "large";
  all.digits = "0a";
  all.octets = {std::byte{1}, std::byte{0xff}};
  all.two = {std::byte{2}, std::byte{3}};
  all.at = 1234567890123ns;
  all.place = 5;
  all.kind = Point{9, 9};
  return all;
}

const char* const full_text =
    R"({"version":1,"colour":"green","where":{"x":255,"y":-3},"points":[{"x":1,"y":2},{"x":3,"y":4}],)"
    R"("counts":{"one":1},"colours":{"green":2},"frame":7,"maybe":false,"rights":["write"],"size":"large","digits":"0a",)"
    R"("note":"","octets":"01ff","two":"0203","at":1234.567890123,"type":"point","x":9,"y":9})";

}  // namespace sample

namespace base::record {
namespace {

using sample::Everything;

std::string fault_of(const Json& json, const ReadOptions& options = {}) {
  Everything out;
  const auto fault = from_json(json, out, options);
  return fault ? fault->text : "";
}

BOOST_AUTO_TEST_SUITE(records)

BOOST_AUTO_TEST_CASE(a_record_is_written_and_read_back) {
  BOOST_TEST(one_line(to_json(sample::full())) == sample::full_text);
  Everything back;
  const auto fault = from_json(Json::parse(sample::full_text), back);
  BOOST_REQUIRE_MESSAGE(!fault, (fault ? fault->text : ""));
  BOOST_TEST(one_line(to_json(back)) == sample::full_text);
  BOOST_TEST(back.at.count() == sample::full().at.count());
  BOOST_TEST(back.place == 0);
}

BOOST_AUTO_TEST_CASE(internal_members_and_attached_octets_stay_between_processes) {
  std::string attachment;
  const Json json = to_json(sample::full(), {.internal = true, .attachment = &attachment});
  BOOST_TEST(json.at("place") == 5);
  BOOST_TEST(json.at("octets") == 2U);
  BOOST_TEST(attachment == (std::string{1, '\xff', 2, 3}));
  Everything back;
  BOOST_TEST(!from_json(json, back, {.internal = true, .attachment = &attachment}));
  BOOST_TEST(back.place == 5);
  BOOST_TEST(one_line(to_json(back)) == sample::full_text);
  attachment.pop_back();
  BOOST_TEST(fault_of(json, {.internal = true, .attachment = &attachment}) ==
             "member \"two\" is longer than what is attached");
  attachment += "  ";
  BOOST_TEST(fault_of(json, {.internal = true, .attachment = &attachment})
                 .starts_with("the attachment is longer"));
}

BOOST_AUTO_TEST_CASE(what_has_a_default_may_be_left_out) {
  Json json = Json::parse(sample::full_text);
  json.erase("maybe");
  json.erase("note");
  json["frame"] = nullptr;
  Everything back;
  BOOST_TEST(!from_json(json, back));
  BOOST_TEST((!back.maybe && !back.frame));
  BOOST_TEST(to_json(back, {.in_full = false}) == json);
}

struct Wrong {
  const char* member;
  const char* value;
  const char* what;
};
std::ostream& operator<<(std::ostream& out, const Wrong& wrong) {
  return out << wrong.member << ": " << wrong.value;
}
const Wrong wrong_members[] = {
    {"version", "2", "member \"version\" must be 1, not 2"},
    {"colour", "\"blue\"", "member \"colour\" must be one of \"red\", \"green\", not \"blue\""},
    {"where", "[]", "member \"where\" must be an object, not []"},
    {"where", "{}", "member \"where.x\" is missing"},
    {"where", "{\"x\":256}", "member \"where.x\" must be an integer from 1 to 255, not 256"},
    {"where", "{\"x\":0}", "member \"where.x\" must be an integer from 1 to 255, not 0"},
    {"where", "{\"x\":1,\"y\":-32769}", "from -32768 to 32767"},
    {"where", "{\"x\":1,\"z\":1}", "member \"where.z\" is unknown"},
    {"points", "[]", "member \"points\" must not be empty"},
    {"points", "[{\"x\":1},{\"x\":true}]", "member \"points[1].x\" must be an integer"},
    {"counts", "{\"two\":-1}", "member \"counts.two\" must be an integer from 0"},
    {"colours", "{\"blue\":1}", "member \"colours.blue\" is unknown"},
    {"colours", "{\"red\":0}", "member \"colours.red\" must be an integer from 1"},
    {"frame", "\"7\"", "member \"frame\" must be an integer"},
    {"maybe", "null", "member \"maybe\" must be true or false, not null"},
    {"rights", "[\"rite\"]", "member \"rights\" must be a list of \"read\", \"write\""},
    {"size", "\"huge\"", "member \"size\" must be one of \"small\", \"large\", not \"huge\""},
    {"digits", "\"0A\"", "member \"digits\" must be octets as pairs of lower-case"},
    {"octets", "\"012\"", "member \"octets\" must be octets as pairs of lower-case"},
    {"two", "\"01\"", "member \"two\" must be 2 octets as 4 hexadecimal digits"},
    {"at", "\"1\"", "member \"at\" must be a number, not \"1\""},
    {"at", "1e300", "member \"at\" must be a number of seconds"},
    {"type", "\"circle\"", "type \"circle\" is unknown"},
    {"extra", "1", "member \"extra\" is unknown"},
    {"place", "1", "member \"place\" is unknown"},
};

BOOST_DATA_TEST_CASE(a_wrong_member_is_named, boost::unit_test::data::make(wrong_members), wrong) {
  Json json = Json::parse(sample::full_text);
  json[wrong.member] = Json::parse(wrong.value);
  const std::string fault = fault_of(json);
  BOOST_TEST(fault.find(wrong.what) != std::string::npos, fault);
}

BOOST_AUTO_TEST_CASE(what_is_unknown_may_be_ignored) {
  Json json = Json::parse(sample::full_text);
  json["extra"] = 1;
  json["where"]["extra"] = 1;
  BOOST_TEST(fault_of(json, {.refuse_unknown = false}).empty());
  BOOST_TEST(fault_of(Json::array()) == "the document must be an object, not []");
}

BOOST_AUTO_TEST_CASE(an_alternative_names_its_type_in_faults) {
  std::variant<sample::Nothing, sample::Point> kind;
  const auto fault = from_json(Json{{"type", "point"}, {"x", 0}}, kind);
  BOOST_REQUIRE(fault);
  BOOST_TEST(fault->text.starts_with("point: member \"x\" must be"), fault->text);
  BOOST_TEST(!fault->unknown_type);
  BOOST_TEST(!from_json(Json{{"type", "nothing"}}, kind));
  BOOST_TEST(from_json(Json{{"type", "line"}}, kind)->unknown_type);
}

struct Shape {
  std::string start;
  std::optional<std::string> end;
  std::vector<sample::Point> points;
};
constexpr auto table_of(const Shape*) {
  return table("shape", required("start", &Shape::start).form(Form::timestamp),
               required("end", &Shape::end), defaulted("points", &Shape::points));
}

BOOST_AUTO_TEST_CASE(a_published_schema_is_compared_by_what_it_demands) {
  const auto published = Schema::parse(R"({
    "title": "A shape", "type": "object", "additionalProperties": false,
    "required": ["start", "end"],
    "properties": {
      "start": {"description": "when", "type": "string",
                "pattern": "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$"},
      "end": {"type": ["string", "null"]},
      "points": {"type": "array", "items": {"$ref": "#/$defs/point"}}},
    "$defs": {"point": {
      "type": "object", "additionalProperties": false, "required": ["x"],
      "properties": {"x": {"type": "integer", "minimum": 1, "maximum": 255},
                     "y": {"type": "integer", "maximum": 32767}}}}})");
  BOOST_TEST(differences(published, schema_of<Shape>()) == std::vector<std::string>{},
             boost::test_tools::per_element());
  Schema other = published;
  other["$defs"]["point"]["required"] = {"x", "y"};
  BOOST_TEST(differences(other, schema_of<Shape>()).size() == 1U);
  other = published;
  other["properties"].erase("points");
  BOOST_TEST(differences(other, schema_of<Shape>()).size() == 1U);
  other = published;
  other["properties"]["end"]["type"] = "string";
  BOOST_TEST(!differences(other, schema_of<Shape>()).empty());
}

struct Numbered {
  std::uint8_t number = 0;
  std::variant<sample::Nothing, sample::Point> kind;
};
constexpr auto table_of(const Numbered*) {
  return table("numbered", required("number", &Numbered::number), inlined(&Numbered::kind));
}

BOOST_AUTO_TEST_CASE(the_schema_of_a_message_lists_its_types) {
  const Schema schema = schema_of<Numbered>();
  BOOST_REQUIRE(schema.at("oneOf").size() == 2U);
  const Schema& point = schema["oneOf"][1];
  BOOST_TEST(point["properties"]["type"]["const"] == "point");
  BOOST_TEST(point["properties"]["number"]["maximum"] == 255);
  BOOST_TEST(point["properties"]["x"]["minimum"] == 1);
  BOOST_TEST(point["required"] == (Schema{"number", "type", "x"}));
}

BOOST_AUTO_TEST_CASE(a_time_has_its_form) {
  const auto takes = [](const char* text) {
    Shape shape;
    return !from_json(Json{{"start", text}, {"end", nullptr}}, shape);
  };
  BOOST_TEST(takes("2026-01-02T03:04:05Z"));
  BOOST_TEST(takes("2026-01-02T03:04:05.000006Z"));
  for (const char* text : {"", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05",
                           "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05.1xZ", "2026-01-02T03:04Z"})
    BOOST_TEST(!takes(text), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace base::record
