// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/framework/consumer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace suite::cases {

using base::TimePoint;

namespace {

struct DescribeEvent {
  std::string operator()(const iut::Hello& e) const { return fmt::format("hello of {}", e.driver); }
  std::string operator()(const iut::Reply& e) const {
    return fmt::format("reply to command {}", e.command);
  }
  std::string operator()(const iut::ConnectRequestEvent& e) const {
    return fmt::format("connection request, {} octets of private data", e.private_data.size());
  }
  std::string operator()(const iut::EstablishedEvent& e) const {
    return fmt::format("endpoint {} established", e.endpoint);
  }
  std::string operator()(const iut::RejectedEvent& e) const {
    return fmt::format("endpoint {} rejected", e.endpoint);
  }
  std::string operator()(const iut::ConnectFailedEvent& e) const {
    return fmt::format("endpoint {} not connected: {}", e.endpoint, e.reason);
  }
  std::string operator()(const iut::DisconnectedEvent& e) const {
    return fmt::format("endpoint {} disconnected", e.endpoint);
  }
  std::string operator()(const iut::CompletionEvent& e) const {
    return fmt::format("completion of {} {}: {}, {} octets", e.operation, e.work, e.status,
                       e.length);
  }
  std::string operator()(const iut::AsynchronousEvent& e) const {
    return fmt::format("asynchronous event {} of endpoint {}", e.kind, e.endpoint);
  }
  std::string operator()(const iut::GoneEvent& e) const {
    return fmt::format("the IUT is gone: {}", e.detail);
  }
};

}  // namespace

std::string describe(const iut::Event& event) { return std::visit(DescribeEvent{}, event); }

// ---------------------------------------------------------------- commands and events

void Consumer::keep(iut::Event event) {
  if (!std::holds_alternative<iut::Reply>(event)) note(describe(event));
  if (const auto* gone = std::get_if<iut::GoneEvent>(&event)) stop_as_gone(*gone);
  events_.push_back(std::move(event));
}

bool Consumer::fetch(TimePoint deadline) {
  auto event = iut_.next_event(deadline);
  if (!event) return false;
  keep(std::move(*event));
  return true;
}

void Consumer::poll() {
  while (fetch(now())) {
  }
}

std::optional<iut::Event> Consumer::take(const std::function<bool(const iut::Event&)>& wanted,
                                         TimePoint deadline) {
  const TimePoint since = now();
  deadline = end_of_look(deadline);
  auto at = events_.begin();
  while (true) {
    at = std::find_if(at, events_.end(), wanted);
    if (at != events_.end()) break;
    const bool was_empty = events_.empty();
    const auto last = was_empty ? events_.end() : std::prev(events_.end());
    if (!fetch(deadline)) return std::nullopt;
    at = was_empty ? events_.begin() : std::next(last);
  }
  came(since);
  iut::Event event = std::move(*at);
  events_.erase(at);
  return event;
}

std::string Consumer::untaken() const {
  std::string text;
  for (const iut::Event& event : events_) text += (text.empty() ? "" : "; ") + describe(event);
  return text.empty() ? "no event" : text;
}

iut::Reply Consumer::try_call(iut::Command command, std::string_view what) {
  const TimePoint since = now();
  iut::Reply reply = try_call(std::move(command), what, reply_due());
  replied(since);
  return supported(std::move(reply), what);
}

iut::Reply Consumer::try_call(iut::Command command, std::string_view what, TimePoint deadline) {
  const ObjectChange objects = change_of(command);
  giving(command);
  const std::uint64_t number = iut_.post(std::move(command));
  const auto is_reply = [number](const iut::Event& event) {
    const auto* reply = std::get_if<iut::Reply>(&event);
    return reply != nullptr && reply->command == number;
  };
  const auto event = take(is_reply, deadline);
  if (!event)
    throw CaseStop{.verdict = Verdict::error,
                   .reason = fmt::format("no reply of {} to: {}", who(), what),
                   .silence = Silence::no_reply};
  const iut::Reply& reply = std::get<iut::Reply>(*event);
  note(fmt::format("{}{}{}", what,
                   reply.outcome == iut::Outcome::ok ? "" : " failed: ", reply.error));
  if (objects.limit != nullptr && reply.outcome == iut::Outcome::ok)
    objects_[objects.limit] += objects.change;
  return reply;
}

Consumer::ObjectChange Consumer::change_of(const iut::Command& command) {
  if (std::holds_alternative<iut::RegisterMemory>(command)) return {"max_regions", 1};
  if (std::holds_alternative<iut::AllocateRegion>(command)) return {"max_regions", 1};
  if (std::holds_alternative<iut::DeregisterMemory>(command)) return {"max_regions", -1};
  if (std::holds_alternative<iut::CreateEndpoint>(command)) return {"max_endpoints", 1};
  if (std::holds_alternative<iut::DestroyEndpoint>(command)) return {"max_endpoints", -1};
  return {};
}

iut::Reply Consumer::call(iut::Command command, std::string_view what) {
  if (const auto beyond = beyond_limits(command, limits()))
    throw lacking_limit(beyond->limit, fmt::format("{} cannot {}: {}", who(), what, beyond->text));
  if (const ObjectChange objects = change_of(command); objects.change > 0) {
    const auto limit = limits().find(objects.limit);
    if (limit != limits().end() && objects_[objects.limit] >= limit->second)
      throw lacking_limit(objects.limit,
                          fmt::format("{} cannot {}: the IUT states {} {}, and the case needs more",
                                      who(), what, objects.limit, limit->second));
  }
  const auto* receive = std::get_if<iut::PostReceive>(&command);
  const auto* work = std::get_if<iut::PostWork>(&command);
  Posts* posts = receive != nullptr ? posts_to(receives_, receive->endpoint)
                 : work != nullptr  ? posts_to(sends_, work->endpoint)
                                    : nullptr;
  const iut::Reply reply = try_call(std::move(command), what);
  if (posts != nullptr) count(*posts, reply, what);
  return checked(reply, what);
}

Consumer::Posts* Consumer::posts_to(std::map<iut::Handle, Posts>& queues, iut::Handle endpoint) {
  const auto found = queues.find(endpoint);
  return found == queues.end() ? nullptr : &found->second;
}

// A queue that the IUT cannot make as deep as usual may be full before the case has posted
// everything.
void Consumer::count(Posts& posts, const iut::Reply& reply, std::string_view what) {
  if (reply.outcome == iut::Outcome::ok) {
    ++posts.count;
  } else if (reply.outcome == iut::Outcome::failed && posts.count >= posts.depth) {
    throw lacking_limit(posts.limit,
                        fmt::format("{}: the IUT states {} {}, and the case posts more", what,
                                    posts.limit, posts.depth));
  }
}

// Whatever a case does with a refusal, an unsupported command is not one.
iut::Reply Consumer::supported(iut::Reply reply, std::string_view what) const {
  if (reply.outcome == iut::Outcome::unsupported)
    throw CaseStop{Verdict::not_applicable,
                   fmt::format("{} cannot {}: {}", who(), what, reply.error)};
  return reply;
}

iut::Reply Consumer::checked(iut::Reply reply, std::string_view what) const {
  if (supported(reply, what).outcome != iut::Outcome::ok)
    throw CaseStop{.verdict = Verdict::error,
                   .reason = fmt::format("{} could not {}: {}", who(), what, reply.error),
                   .refused = true};
  return reply;
}

void Consumer::forget_all() {
  events_.clear();
  objects_.clear();
  listening_.clear();
  next_handle_ = 1;
  endpoint_ = 0;
}

bool Consumer::can(std::string_view capability) const {
  return std::ranges::find(iut_.hello().capabilities, capability) !=
         iut_.hello().capabilities.end();
}

// ---------------------------------------------------------------- connections

iut::Handle Consumer::endpoint() {
  if (endpoint_ == 0) endpoint_ = create_endpoint();
  return endpoint_;
}

iut::Handle Consumer::create_endpoint(iut::CreateEndpoint wanted) {
  const auto fit = [&](std::uint32_t& depth, std::uint32_t usual, const char* name) {
    if (depth == usual) depth = static_cast<std::uint32_t>(within_limit(limits(), name, usual));
  };
  const iut::CreateEndpoint usual;
  fit(wanted.send_depth, usual.send_depth, "max_send_depth");
  fit(wanted.receive_depth, usual.receive_depth, "max_receive_depth");
  fit(wanted.max_pieces, usual.max_pieces, "max_pieces");
  wanted.endpoint = new_handle();
  call(wanted, "create an endpoint");
  if (wanted.send_depth < usual.send_depth)
    sends_[wanted.endpoint] = {"max_send_depth", wanted.send_depth, 0};
  if (wanted.receive_depth < usual.receive_depth)
    receives_[wanted.endpoint] = {"max_receive_depth", wanted.receive_depth, 0};
  return wanted.endpoint;
}

std::string Consumer::state(iut::Handle endpoint) {
  return call(iut::QueryEndpoint{endpoint}, "query the endpoint").state.value_or("");
}

std::uint16_t Consumer::listen(const std::string& own, base::Family family) {
  if (const auto found = listening_.find(own); found != listening_.end()) return found->second;
  const iut::Listen command{new_handle(), own, family == base::Family::ipv4 ? "ipv4" : "ipv6", 0};
  const iut::Reply reply = call(command, "listen on " + own);
  if (!reply.port) throw CaseStop{Verdict::error, "a listener without a port"};
  return listening_[own] = *reply.port;
}

void Consumer::connect(iut::Handle endpoint, const std::string& remote, std::uint16_t port,
                       const iut::ConnectParameters& parameters) {
  call(iut::Connect{endpoint, remote, port, parameters},
       fmt::format("connect endpoint {} to {} port {}", endpoint, remote, port));
}

void Consumer::accept(iut::Handle request, iut::Handle endpoint,
                      const iut::ConnectParameters& parameters) {
  call(iut::Accept{request, endpoint, parameters}, "accept the connection");
}

void Consumer::reject(iut::Handle request, const Octets& private_data) {
  call(iut::Reject{request, private_data}, "reject the connection");
}

void Consumer::disconnect(iut::Handle endpoint, bool abortive) {
  call(iut::Disconnect{endpoint, abortive}, abortive ? "disconnect abortively" : "disconnect");
}

// ---------------------------------------------------------------- work

Work Consumer::post_receive(std::uint32_t length) { return post_receive(length, endpoint()); }

Work Consumer::post_receive(std::uint32_t length, iut::Handle endpoint) {
  iut::PostReceive command;
  command.endpoint = endpoint;
  Region buffer;
  if (length > 0) {
    buffer = register_memory(length);
    command.pieces = {{buffer.handle, 0, length}};
  }
  Work work = post_receive(std::move(command));
  work.buffer = std::move(buffer);
  return work;
}

Work Consumer::post_receive(std::vector<iut::Piece> pieces) {
  iut::PostReceive command;
  command.endpoint = endpoint();
  command.pieces = std::move(pieces);
  return post_receive(std::move(command));
}

Work Consumer::post_receive(iut::PostReceive command) {
  command.work = next_work_++;
  const Work work{command.work, command.endpoint, {}};
  std::uint64_t length = 0;
  for (const iut::Piece& piece : command.pieces) length += piece.length;
  call(std::move(command), fmt::format("post receive {} of {} octets", work.id, length));
  return work;
}

iut::Handle Consumer::create_shared_queue(std::uint32_t depth) {
  iut::CreateSharedQueue command;
  command.queue = new_handle();
  command.depth = depth;
  call(command, "create a shared receive queue");
  return command.queue;
}

Work Consumer::post(iut::PostWork command) {
  if (command.endpoint == 0) command.endpoint = endpoint();
  if (command.work == 0) command.work = next_work_++;
  const Work work{command.work, command.endpoint, {}};
  call(command, fmt::format("post {} {}", command.operation, command.work));
  return work;
}

Attempt Consumer::try_post(iut::PostWork command) {
  if (command.endpoint == 0) command.endpoint = endpoint();
  if (command.work == 0) command.work = next_work_++;
  const Work work{command.work, command.endpoint, {}};
  const std::string what = fmt::format("post {} {}", command.operation, command.work);
  return {try_call(std::move(command), what), work};
}

Attempt Consumer::try_post(iut::PostReceive command) {
  command.work = next_work_++;
  const Work work{command.work, command.endpoint, {}};
  return {try_call(std::move(command), fmt::format("post receive {}", work.id)), work};
}

Work Consumer::post_send(const Octets& data, const char* operation,
                         const std::function<void(iut::PostWork&)>& change) {
  iut::PostWork command;
  command.operation = operation;
  Region source;
  if (!data.empty()) {
    source = register_octets(data);
    command.pieces = {{source.handle, 0, static_cast<std::uint32_t>(data.size())}};
  }
  if (change) change(command);
  Work work = post(command);
  work.buffer = std::move(source);
  return work;
}

Work Consumer::post_write(const Octets& data, std::uint32_t remote_stag,
                          std::uint64_t remote_offset, iut::Handle endpoint) {
  return post_send(data, iut::operation::write, [&](iut::PostWork& work) {
    work.endpoint = endpoint;
    work.remote_stag = remote_stag;
    work.remote_offset = remote_offset;
  });
}

Work Consumer::post_read(std::uint32_t length, std::uint32_t remote_stag,
                         std::uint64_t remote_offset, iut::Handle endpoint) {
  iut::PostWork command;
  command.endpoint = endpoint;
  command.operation = iut::operation::read;
  command.remote_stag = remote_stag;
  command.remote_offset = remote_offset;
  Region sink;
  if (length > 0) {
    // On iWARP the sink of a Read is a tagged buffer that the peer writes to.
    sink = register_memory(length, access::remote_write);
    command.pieces = {{sink.handle, 0, length}};
  }
  Work work = post(command);
  work.buffer = std::move(sink);
  return work;
}

}  // namespace suite::cases
