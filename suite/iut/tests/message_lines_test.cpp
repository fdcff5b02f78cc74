// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Every message as a line written by hand, read and written again; and lines that are no message.
#include "suite/iut/message_lines.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ostream>
#include <set>

namespace suite::iut {
namespace {

template <class T>
std::string why_not(const Parsed<T>& parsed) {
  return parsed ? std::string() : parsed.error().what;
}

BOOST_AUTO_TEST_SUITE(message_lines)

/// In full, as the suite writes them; every member has a value that is not its default.
const char* const commands[] = {
    R"({"number":1,"type":"configure","revision":2,"crc":false,"markers":true,"peer_to_peer":true,"rtr":["write","read"]})",
    R"({"number":2,"type":"configure"})",
    R"({"number":3,"type":"reset"})",
    R"({"number":4,"type":"create_domain","domain":1})",
    R"({"number":5,"type":"destroy_domain","domain":1})",
    R"({"number":6,"type":"register_memory","region":2,"domain":1,"length":4096,"access":["local_write","remote_read","remote_write","remote_atomic","bind_window"],"zero_based":true,"fill":255,"base":18446744073709547520})",
    R"({"number":7,"type":"deregister_memory","region":2})",
    R"({"number":8,"type":"read_memory","region":2,"offset":4294967296,"length":16})",
    R"({"number":9,"type":"write_memory","region":2,"offset":8,"octets":"00ff10ab"})",
    R"({"number":10,"type":"allocate_window","window":5,"domain":1})",
    R"({"number":11,"type":"free_window","window":5})",
    R"({"number":12,"type":"create_shared_queue","queue":6,"domain":1,"depth":8,"max_pieces":2})",
    R"({"number":13,"type":"destroy_shared_queue","queue":6})",
    R"({"number":14,"type":"arm_shared_queue_limit","queue":6,"limit":2})",
    R"({"number":15,"type":"create_endpoint","endpoint":7,"domain":1,"shared_queue":6,"send_depth":1,"receive_depth":2,"max_pieces":3,"completion_depth":4,"completion_queue":10,"max_inline":5,"access":["remote_read"]})",
    R"({"number":16,"type":"destroy_endpoint","endpoint":7})",
    R"({"number":17,"type":"query_endpoint","endpoint":7})",
    R"({"number":18,"type":"listen","listener":8,"address":"fd77::2","family":"ipv6","port":65535,"backlog":3})",
    R"({"number":19,"type":"stop_listening","listener":8})",
    R"({"number":20,"type":"connect","endpoint":7,"address":"10.77.0.1","port":4711,"parameters":{"private_data":"c0ffee","ird":1,"ord":16383}})",
    R"({"number":21,"type":"accept","request":9,"endpoint":7,"parameters":{"private_data":""}})",
    R"({"number":22,"type":"reject","request":9,"private_data":"00"})",
    R"({"number":23,"type":"disconnect","endpoint":7,"abortive":true})",
    R"({"number":24,"type":"post_receive","endpoint":7,"shared_queue":6,"work":18446744073709551615,"pieces":[{"region":2,"offset":1,"length":2},{"region":3,"offset":0,"length":4294967295}]})",
    R"({"number":25,"type":"post_work","endpoint":7,"work":2,"operation":"compare_swap","pieces":[],"remote_stag":4294967295,"remote_offset":18446744073709551615,"invalidate_stag":3,"fence":true,"signaled":false,"inline_data":true,"add_or_swap":1,"compare":2,"add_or_swap_mask":3,"compare_mask":4,"immediate":"0123456789abcdef","window":5,"window_access":["remote_write"]})",
    R"({"number":26,"type":"resize_shared_queue","queue":6,"depth":16})",
    R"({"number":27,"type":"abort_endpoint","endpoint":7})",
    R"({"number":28,"type":"reset_endpoint","endpoint":7})",
    R"({"number":29,"type":"create_completion_queue","queue":10,"depth":8,"solicited_only":true})",
    R"({"number":30,"type":"destroy_completion_queue","queue":10})",
    R"({"number":31,"type":"post_receive_chain","requests":[{"endpoint":7,"shared_queue":0,"work":1,"pieces":[]},{"endpoint":7,"shared_queue":0,"work":2,"pieces":[]}]})",
    R"({"number":32,"type":"post_work_chain","requests":[{"endpoint":7,"work":3,"operation":"send","pieces":[],"remote_stag":0,"remote_offset":0,"invalidate_stag":0,"fence":false,"signaled":true,"inline_data":false,"add_or_swap":0,"compare":0,"immediate":"0000000000000000","window":0,"window_access":[]}]})",
    R"({"number":18446744073709551615,"type":"cancel","command":25})",
    R"({"number":33,"type":"arm_completion_queue","queue":10,"solicited_only":true})",
    R"({"number":38,"type":"create_completion_queue","queue":11,"depth":8,"solicited_only":false,"armed_once":true})",
    R"({"number":34,"type":"allocate_region","region":1,"domain":2,"length":8192,"pages":2,"fill":255})",
    R"({"number":36,"type":"set_endpoint_access","endpoint":7,"access":["remote_read","remote_write"]})",
    R"({"number":37,"type":"create_endpoint","endpoint":8,"domain":0,"shared_queue":0,"send_depth":1,"receive_depth":2,"max_pieces":3,"completion_depth":0,"completion_queue":0,"max_inline":0,"signal_all":true})",
    R"({"number":35,"type":"post_work","endpoint":7,"work":4,"operation":"register_region","pieces":[{"region":1,"offset":2,"length":3}],"remote_stag":0,"remote_offset":0,"invalidate_stag":0,"fence":false,"signaled":true,"inline_data":false,"add_or_swap":0,"compare":0,"immediate":"0000000000000000","window":0,"window_access":[],"registration":{"key":255,"access":["remote_read"]}})",
};

BOOST_DATA_TEST_CASE(a_command_survives, boost::unit_test::data::make(commands), line) {
  const auto parsed = parse_command(line);
  BOOST_REQUIRE_MESSAGE(parsed, why_not(parsed));
  BOOST_TEST(format(parsed.value().number, parsed.value().command) == line);
}

const char* const events[] = {
    R"({"type":"hello","version":1,"driver":"verbs","implementation":"siw0","driver_version":"6.1","firmware":"0","kernel":"6.1.0","capabilities":["ipv6","solicited"],"limits":{"lowest":-9223372036854775808,"max_ird":127}})",
    R"({"type":"reply","command":1,"outcome":"ok","code":0})",
    R"({"type":"reply","command":2,"outcome":"failed","error":"ibv_reg_mr: Invalid argument","code":22})",
    R"({"type":"reply","command":3,"outcome":"unsupported","code":-1})",
    R"({"type":"reply","command":4,"outcome":"cancelled","code":0,"stag":4294967295,"base":18446744073709551615,"octets":"","address":"10.77.0.2","port":1,"state":"idle","attributes":{"send_depth":1,"receive_depth":2,"max_pieces":3,"max_inline":4,"access":["remote_read"]},"bad_work":5})",
    R"({"type":"connect_request","listener":1,"request":2,"private_data":"00","ird":3,"ord":4})",
    R"({"type":"established","endpoint":1,"private_data":"ff","ird":0,"ord":0})",
    R"({"type":"established","endpoint":1})",
    R"({"type":"rejected","endpoint":1,"private_data":"ff"})",
    R"({"type":"connect_failed","endpoint":1,"reason":"unreachable"})",
    R"({"type":"connect_failed","endpoint":1,"reason":"refused"})",
    R"({"type":"connect_failed","endpoint":1,"reason":"timeout"})",
    R"({"type":"connect_failed","endpoint":1,"reason":"protocol"})",
    R"({"type":"connect_failed","endpoint":1,"reason":"lost"})",
    R"({"type":"disconnected","endpoint":1})",
    R"({"type":"completion","endpoint":1,"work":2,"operation":"receive","status":"success","length":3,"invalidated_stag":4,"immediate":"0011223344556677","solicited":true})",
    R"({"type":"completion","endpoint":1,"work":2,"operation":"write","status":"flushed","length":0})",
    R"({"type":"asynchronous","endpoint":1,"kind":"qp_access_error","detail":"why","shared_queue":2,"completion_queue":3})",
};

BOOST_DATA_TEST_CASE(an_event_survives, boost::unit_test::data::make(events), line) {
  const auto parsed = parse_event(line);
  BOOST_REQUIRE_MESSAGE(parsed, why_not(parsed));
  BOOST_TEST(format(parsed.value()) == line);
}

BOOST_AUTO_TEST_CASE(the_lines_above_show_every_type) {
  std::set<std::string> seen;
  for (const char* line : commands) seen.insert(type_name(parse_command(line).value().command));
  BOOST_TEST(seen.size() == std::variant_size_v<Command>);
  seen.clear();
  for (const char* line : events) seen.insert(type_name(parse_event(line).value()));
  BOOST_TEST(seen.size() == std::variant_size_v<Event> - 1);  // all but "gone"
}

BOOST_AUTO_TEST_CASE(members_reach_their_places) {
  const auto parsed = parse_command(commands[24]);
  const auto& work = std::get<PostWork>(parsed.value().command);
  BOOST_TEST(work.endpoint == 7u);
  BOOST_TEST(work.remote_stag == 0xffffffffu);
  BOOST_TEST(work.remote_offset == 0xffffffffffffffffu);
  BOOST_TEST(work.invalidate_stag == 3u);
  BOOST_TEST(work.add_or_swap == 1u);
  BOOST_TEST(work.compare == 2u);
  BOOST_TEST(work.add_or_swap_mask.value_or(0) == 3u);
  BOOST_TEST(work.compare_mask.value_or(0) == 4u);
  BOOST_TEST(std::to_integer<int>(work.immediate[7]) == 0xef);
  BOOST_TEST((work.window_access.remote_write && !work.window_access.remote_read));
  BOOST_TEST((work.fence && !work.signaled));
}

BOOST_AUTO_TEST_CASE(what_may_be_left_out_keeps_its_default) {
  const auto parsed =
      parse_command(R"({"type":"post_work","number":1,"endpoint":7,"work":2,"operation":"send"})");
  BOOST_REQUIRE_MESSAGE(parsed, why_not(parsed));
  const auto& work = std::get<PostWork>(parsed.value().command);
  BOOST_TEST((work.signaled && !work.fence));
  BOOST_TEST(!work.compare_mask.has_value());
}

struct Bad {
  const char* line;
  const char* what;  ///< is part of the error
};
std::ostream& operator<<(std::ostream& out, const Bad& bad) { return out << bad.line; }

const Bad bad_commands[] = {
    {"", "not JSON"},
    {"   ", "not JSON"},
    {"reset", "not JSON"},
    {"[]", "not a JSON object: []"},
    {"7", "not a JSON object"},
    {"{\"number\":1,\"type\":\"reset\"} {}", "not JSON"},
    {"{\"number\":1,\"type\":\"reset\"", "not JSON"},
    {"{\"number\":1,\"type\":\"res\xff\"}", "not JSON"},
    {"{\"number\":1,\"type\":\"reset\",}", "not JSON"},
    {"{'number':1}", "not JSON"},
    {R"({"type":"reset"})", "\"number\" is missing"},
    {R"({"number":0,"type":"reset"})", "\"number\" must be an integer from 1"},
    {R"({"number":-1,"type":"reset"})", "\"number\" must be an integer from 1"},
    {R"({"number":1.0,"type":"reset"})", "\"number\" must be an integer"},
    {R"({"number":18446744073709551616,"type":"reset"})", "\"number\" must be an integer"},
    {R"({"number":"1","type":"reset"})", "\"number\" must be an integer"},
    {R"({"number":1})", "\"type\" is missing"},
    {R"({"number":1,"type":7})", "\"type\" must be a string"},
    {R"({"number":1,"type":"rest"})", "type \"rest\" is unknown"},
    {R"({"number":1,"type":"completion"})", "type \"completion\" is unknown"},
    {R"({"number":1,"number":2,"type":"reset"})", "\"number\" is there twice"},
    {R"({"number":1,"type":"reset","extra":0})", "reset: member \"extra\" is unknown"},
    {R"({"number":1,"type":"create_domain"})", "create_domain: member \"domain\" is missing"},
    {R"({"number":1,"type":"create_domain","domain":null})", "\"domain\" must be an integer"},
    {R"({"number":1,"type":"create_domain","domain":4294967296})",
     "from 0 to 4294967295, not 4294967296"},
    {R"({"number":1,"type":"create_domain","domain":true})", "\"domain\" must be an integer"},
    {R"({"number":1,"type":"listen","listener":1,"port":65536})", "from 0 to 65535"},
    {R"({"number":1,"type":"listen","listener":1,"family":"ipv5"})",
     "one of \"ipv4\", \"ipv6\", not \"ipv5\""},
    {R"({"number":1,"type":"disconnect","endpoint":1,"abortive":1})",
     "\"abortive\" must be true or false"},
    {R"({"number":1,"type":"register_memory","region":1,"length":1,"access":["remote_wite"]})",
     "\"access\" must be a list of \"local_write\""},
    {R"({"number":1,"type":"register_memory","region":1,"length":1,"access":"remote_write"})",
     "\"access\" must be a list"},
    {R"({"number":1,"type":"register_memory","region":1,"length":1,"access":[],"fill":256})",
     "from 0 to 255"},
    {R"({"number":1,"type":"write_memory","region":1,"offset":0,"octets":"abc"})",
     "pairs of lower-case"},
    {R"({"number":1,"type":"write_memory","region":1,"offset":0,"octets":"AB"})",
     "pairs of lower-case"},
    {R"({"number":1,"type":"write_memory","region":1,"offset":0,"octets":"zz"})",
     "pairs of lower-case"},
    {R"({"number":1,"type":"write_memory","region":1,"offset":0,"octets":[1]})",
     "pairs of lower-case"},
    {R"({"number":1,"type":"post_work","endpoint":1,"work":1,"operation":"immediate","immediate":"00"})",
     "8 octets"},
    {R"({"number":1,"type":"post_receive","work":1,"pieces":[{"region":1}]})",
     "\"pieces[0].length\" is missing"},
    {R"({"number":1,"type":"post_receive","work":1,"pieces":[{"region":1,"length":1},{"region":1,"length":1,"lenght":2}]})",
     "\"pieces[1].lenght\" is unknown"},
    {R"({"number":1,"type":"post_receive","work":1,"pieces":[7]})",
     "\"pieces[0]\" must be an object"},
    {R"({"number":1,"type":"connect","endpoint":1,"address":"a","port":1,"parameters":{"ird":2147483648}})",
     "\"parameters.ird\" must be an integer"},
    {R"({"number":1,"type":"connect","endpoint":1,"address":"a","port":1,"parameters":[]})",
     "\"parameters\" must be an object"},
    {R"({"number":1,"type":"configure","rtr":["send",1]})", "\"rtr[1]\" must be a string"},
    {R"({"number":1,"type":"reset","a":{"b":{"c":{"d":{"e":{"f":{"g":{}}}}}}}})",
     "nested too deeply"},
};

BOOST_DATA_TEST_CASE(a_bad_command_is_refused, boost::unit_test::data::make(bad_commands), bad) {
  const auto parsed = parse_command(bad.line);
  BOOST_REQUIRE(!parsed);
  BOOST_TEST(parsed.error().what.find(bad.what) != std::string::npos, parsed.error().what);
  BOOST_TEST(parsed.error().what.find('\n') == std::string::npos);
}

const Bad bad_events[] = {
    {R"({"type":"gone","why":"crashed"})", "an agent does not send the type"},
    {R"({"type":"reset","number":1})", "type \"reset\" is unknown"},
    {R"({"type":"hello","version":1,"capabilities":[]})", "hello: member \"driver\" is missing"},
    {R"({"type":"hello","version":1,"driver":"x","capabilities":{}})", "a list of strings"},
    {R"({"type":"hello","version":1,"driver":"x","capabilities":[],"limits":{"max_ird":"4"}})",
     "\"limits.max_ird\" must be an integer"},
    {R"({"type":"hello","version":1,"driver":"x","capabilities":[],"limits":[]})",
     "an object of integers"},
    {R"({"type":"reply","command":1,"outcome":"OK"})", "one of \"ok\", \"failed\""},
    {R"({"type":"reply","command":1,"outcome":"ok","command":2})", "\"command\" is there twice"},
    {R"({"type":"completion","endpoint":1,"work":1,"operation":"send","status":"sucess"})",
     "one of \"success\""},
    {R"({"type":"connect_failed","endpoint":1,"reason":"bad luck"})", "one of \"unreachable\""},
    {R"({"type":"asynchronous","kind":"qp"})", "one of \"qp_fatal\""},
};

BOOST_DATA_TEST_CASE(a_bad_event_is_refused, boost::unit_test::data::make(bad_events), bad) {
  const auto parsed = parse_event(bad.line);
  BOOST_REQUIRE(!parsed);
  BOOST_TEST(parsed.error().what.find(bad.what) != std::string::npos, parsed.error().what);
}

BOOST_AUTO_TEST_CASE(the_number_is_reported_as_soon_as_it_is_known) {
  BOOST_TEST(parse_command(R"({"type":"fly","number":12})").error().number == 12u);
  BOOST_TEST(parse_command(R"({"type":"fly","number":12})").error().unknown_type);
  BOOST_TEST(parse_command(R"({"type":"listen","number":12})").error().number == 12u);
  BOOST_TEST(!parse_command(R"({"type":"listen","number":12})").error().unknown_type);
  BOOST_TEST(parse_command("{}").error().number == 0u);
}

BOOST_AUTO_TEST_CASE(a_line_may_be_so_long_and_no_longer) {
  const std::string head = R"({"number":1,"type":"write_memory","region":1,"offset":0,"octets":")";
  std::string line = head + std::string(max_line - head.size() - 2, '0') + "\"}";
  if ((max_line - head.size() - 2) % 2 != 0) line.replace(line.size() - 3, 3, "\"} ");
  BOOST_TEST(line.size() == max_line);
  const auto parsed = parse_command(line);
  BOOST_TEST(static_cast<bool>(parsed));
  line += ' ';
  BOOST_TEST(parse_command(line).error().what.find("longer than 4194304") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(hostile_nesting_costs_nothing) {
  const std::string line(max_line, '[');
  BOOST_TEST(parse_command(line).error().what == "nested too deeply");
}

BOOST_AUTO_TEST_CASE(text_that_is_not_utf8_is_mended) {
  Reply reply;
  reply.command = 1;
  reply.error = "bad \xff octet";
  BOOST_TEST(static_cast<bool>(parse_event(format(reply))));
}

BOOST_AUTO_TEST_CASE(any_cut_gives_the_same_lines) {
  const std::string text = "one\n\ntwo\r\nthree";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    LineBuffer buffer;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += step) {
      buffer.append(std::string_view(text).substr(at, step));
      while (const auto line = buffer.next()) lines.emplace_back(*line);
    }
    const std::vector<std::string> wanted{"one", "", "two\r"};
    BOOST_TEST(lines == wanted, boost::test_tools::per_element());
    BOOST_TEST(buffer.rest() == "three");
  }
}

BOOST_AUTO_TEST_CASE(an_endless_line_is_not_collected) {
  LineBuffer buffer;
  buffer.append("first\n");
  buffer.append(std::string(max_line, 'x'));
  BOOST_TEST(buffer.next().value_or("") == "first");
  BOOST_TEST(!buffer.next());
  BOOST_TEST(!buffer.oversize());
  buffer.append("x");
  BOOST_TEST(!buffer.next());
  BOOST_TEST(buffer.oversize());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace suite::iut
