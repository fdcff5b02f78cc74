// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The smallest agent in C++, to begin one of your own with: it has memory and nothing else. Where
// it says "your API", yours goes; docs/porting.md has the order of work.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "suite/upper_tester/agent_session.hpp"
#include "suite/upper_tester/buffer.hpp"
#include "suite/upper_tester/common_replies.hpp"
#include "suite/upper_tester/driver.hpp"

namespace {

using namespace suite;
using namespace suite::upper_tester;

class MemoryDriver final : public Driver {
 public:
  explicit MemoryDriver(Sink sink) : Driver(std::move(sink)) {}

  iut::Hello hello() override {
    iut::Hello hello;
    hello.driver = "memory";
    hello.capabilities = {iut::capability::zero_based};
    hello.limits = {{"max_ird", 0}};
    return hello;
  }

  void execute(std::uint64_t number, const iut::Command& command) override {
    iut::Reply reply =
        std::visit([this](const auto& each) { return this->carry_out(each); }, command);
    reply.command = number;
    emit(reply);
  }
  // Your API has a descriptor that polls readable while it has events, or an epoll descriptor that
  // holds its sockets: return it from event_fd(), and take the events in dispatch().

 private:
  iut::Reply carry_out(const iut::Reset&) {
    regions_.clear();  // and connections, abortively
    return {};
  }
  iut::Reply carry_out(const iut::RegisterMemory& command) {
    if (command.region == 0 || regions_.count(command.region) != 0)
      return exists("region", command.region);
    if (command.length > max_region) return refused("the region is too large", ENOMEM);
    auto memory = std::make_unique<Buffer>(command.length);
    if (!*memory) return refused("there is no memory for the region", ENOMEM);
    std::fill_n(memory->data(), memory->size(), std::byte{command.fill});
    iut::Reply reply;  // your API registers the memory, with these rights, and knows its STag
    reply.stag = 0x100 * command.region;
    reply.base = 0;
    regions_.emplace(command.region, std::move(memory));
    return reply;
  }
  iut::Reply carry_out(const iut::ReadMemory& command) {
    const auto at = regions_.find(command.region);
    return at == regions_.end() ? no_such("region", command.region)
                                : read_memory(*at->second, command);
  }
  iut::Reply carry_out(const iut::WriteMemory& command) {
    const auto at = regions_.find(command.region);
    return at == regions_.end() ? no_such("region", command.region)
                                : write_memory(*at->second, command);
  }
  template <typename Command>
  iut::Reply carry_out(const Command&) {
    return unsupported("this agent has memory alone");
  }

  std::map<iut::Handle, std::unique_ptr<Buffer>> regions_;
};

}  // namespace

int main() {
  // What a library prints to descriptor 1 goes to standard error from here on.
  const int words = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  std::signal(SIGPIPE, SIG_IGN);
  AgentSession session(STDIN_FILENO, words, false);
  MemoryDriver driver(session.sink());
  session.begin(driver, true);
  run_polled(session, driver);
  if (session.state() != AgentSession::State::bad_client) return 0;
  std::fprintf(stderr, "not a command: %s\n", session.complaint().c_str());
  return 1;
}
