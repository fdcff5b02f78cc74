// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "suite/cases/dat/framework/dat_peer.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>
#include <vector>

namespace suite::cases::dat {

namespace {

constexpr int exit_failed = 1;

iut::ChildProcess started(const DatBody& body, PeerRole role) {
  const DatTarget& target = body.target();
  std::vector<std::string> argv{"/proc/self/exe", "--serve", std::string(role_text(role)), "--ia",
                                target.ia};
  if (!target.address.empty()) argv.insert(argv.end(), {"--address", target.address});
  auto child = iut::ChildProcess::start(argv);
  if (!child) body.stop(Verdict::error, child.error());
  return std::move(*child);
}

}  // namespace

std::string_view role_text(PeerRole role) {
  switch (role) {
    case PeerRole::accepts:
      return "accept";
    case PeerRole::holds:
      return "hold";
    case PeerRole::registers:
      return "register";
  }
  std::unreachable();
}

Peer::Peer(DatBody& body, PeerRole role) : body_(body), child_(started(body, role)) {
  const std::string word = next_word();
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), qualifier_);
  if (error != std::errc() || end != word.data() + word.size())
    body.stop(Verdict::inconclusive, "the second process does not listen: " + word);
}

void Peer::await(std::string_view word) {
  const std::string said = next_word();
  if (said != word)
    body_.stop(Verdict::inconclusive,
               fmt::format("the second process: {} instead of {}", said, word));
}

void Peer::kill() {
  child_.kill();
  pollfd gone{.fd = child_.exited(), .events = POLLIN, .revents = 0};
  while (!child_.reap()) ::poll(&gone, 1, -1);
}

std::string Peer::next_word() {
  for (;;) {
    if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
      const std::string word = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return word;
    }
    pollfd readable{.fd = child_.channel(), .events = POLLIN, .revents = 0};
    ::poll(&readable, 1, -1);  // the case's deadline bounds it
    std::array<char, 256> chunk{};
    const ssize_t count = ::read(child_.channel(), chunk.data(), chunk.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return "nothing, it has ended";
    unread_.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

// ---------------------------------------------------------------- in the other process

namespace {

void say(const std::string& word) {
  const std::string line = word + "\n";
  [[maybe_unused]] const ssize_t told = ::write(STDOUT_FILENO, line.data(), line.size());
}

/// An object of every kind of an IA, so that the end of the process has something to free.
class Server {
 public:
  explicit Server(const DatTarget& target)
      : ia_(target),
        cno_(ia_.cno()),
        pz_(ia_.pz()),
        lmr_(ia_, pz_.get(), 4096),
        requests_(ia_.evd(DAT_EVD_CR_FLAG, 32, cno_.get())) {
    // Another process might get one of dat_psp_create_any as soon as this one ends.
    const DAT_CONN_QUAL qualifier = free_qualifier(ia_);
    DAT_PSP_HANDLE handle = DAT_HANDLE_NULL;
    if (dat_psp_create(ia_.get(), qualifier, requests_.get(), DAT_PSP_CONSUMER_FLAG, &handle) !=
        DAT_SUCCESS)
      throw CaseStop{Verdict::inconclusive, "no PSP"};
    psp_ = Psp(handle);
    say(std::to_string(qualifier));
  }

  void accept_next() {
    const DAT_CR_HANDLE cr = next_request();
    DAT_CR_PARAM param{};
    if (dat_cr_query(cr, DAT_CR_FIELD_ALL, &param) != DAT_SUCCESS) return say("no request");
    sides_.push_back(make_side(ia_, pz_));
    const Side& side = sides_.back();
    DAT_LMR_TRIPLET whole = lmr_.triplet();
    if (dat_ep_post_recv(side.ep.get(), 1, &whole, {}, DAT_COMPLETION_DEFAULT_FLAG) != DAT_SUCCESS)
      return say("no receive");
    if (dat_cr_accept(cr, side.ep.get(), param.private_data_size, param.private_data) !=
        DAT_SUCCESS)
      return say("no accept");
    if (next_event(side.connection).event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
      say("established");
  }
  void hold_next() {
    static_cast<void>(next_request());
    say("request");
  }
  void register_regions() {
    say(drawn_contexts(ia_));
    static_cast<void>(next_request());  // until it is killed
  }

 private:
  DAT_CR_HANDLE next_request() {
    const DAT_EVENT event = next_event(requests_);
    if (event.event_number != DAT_CONNECTION_REQUEST_EVENT)
      throw CaseStop{Verdict::inconclusive, "no request"};
    return event.event_data.cr_arrival_event_data.cr_handle;
  }

  Ia ia_;
  Cno cno_;
  Pz pz_;
  Lmr lmr_;
  Evd requests_;
  Psp psp_;
  std::vector<Side> sides_;
};

}  // namespace

int serve(const DatTarget& target, std::string_view role) {
  try {
    Server server(target);
    for (;;) {
      if (role == role_text(PeerRole::accepts))
        server.accept_next();
      else if (role == role_text(PeerRole::registers))
        server.register_regions();
      else
        server.hold_next();
    }
  } catch (const CaseStop& stop) {
    say(stop.reason);
    return exit_failed;
  }
}

}  // namespace suite::cases::dat
