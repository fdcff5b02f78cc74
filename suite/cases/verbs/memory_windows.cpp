// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ibv_bind_mw(3) and ibv_dereg_mr(3): what a window may open of its region, and when it holds the
// region.
#include "suite/cases/framework/conformance_case.hpp"
#include "suite/cases/sec/window_steps.hpp"

namespace suite::cases {

namespace {

iut::PostWork binding(iut::Handle window, const Region& region, const iut::Access& access) {
  iut::PostWork work;
  work.operation = operation::bind_window;
  work.pieces = {{region.handle, 0, static_cast<std::uint32_t>(region.length)}};
  work.window = window;
  work.window_access = access;
  return work;
}

/// A window that is bound need not be unbound to be bound anew, where the API has such windows.
void bind_anew(Body& body, const Window& window, const Region& region) {
  const Attempt bound = body.iut.try_post(binding(window.handle, region, access::remote_read));
  const auto until = body.context().loop.now() + body.environment().quiet_window;
  if (!bound.taken() || !body.iut.take(success_of(bound.work).matches, until))
    body.stop(Verdict::not_applicable, "the API binds no window that is bound");
}

}  // namespace

CONFORMANCE_CASE(window_and_region_hold_to_each_other,
                 rules("verbs.region.held-by-bound-windows",
                       "verbs.window.changes-need-local-write"),
                 needs(capability::memory_windows)) {
  const auto deregister = [&](const Region& region, bool held) {
    const iut::Reply reply =
        iut.try_call(iut::DeregisterMemory{region.handle}, "deregister the region");
    const bool done = reply.outcome == iut::Outcome::ok;
    expect_that(done != held, held ? "refused" : "deregistered",
                done ? "deregistered" : "refused: " + reply.error);
  };
  const auto released_by = [&](const char* name,
                               const std::function<void(const Window&, const Region&)>& release) {
    row(name, [&] {
      establish({.opening = true});
      const Region region = iut.register_memory(64, access::under_windows);
      release(iut.bind_window(region, 0, 64, access::remote_read), region);
      deregister(region, false);
    });
  };
  released_by("unbound", [&](const Window& window, const Region&) { iut.unbind(window); });
  released_by("freed", [&](const Window& window, const Region&) {
    iut.call(iut::FreeWindow{window.handle}, "free the window");
  });
  released_by("bound anew, and unbound", [&](const Window& window, const Region& region) {
    bind_anew(*this, window, region);
    iut.unbind(window);
  });
  released_by("bound to another region", [&](const Window& window, const Region&) {
    bind_anew(*this, window, iut.register_memory(64, access::under_windows));
  });
  row("held by each of two windows", [&] {
    establish({.opening = true});
    const Region region = iut.register_memory(64, access::under_windows);
    const Window first = iut.bind_window(region, 0, 64, access::remote_read),
                 second = iut.bind_window(region, 0, 32, access::remote_read);
    deregister(region, true);
    iut.unbind(first);
    deregister(region, true);
    peer.send(read_of(second.stag, second.base, 32));
    expect(peer, message(Opcode::read_response, part_of(region.contents, 0, 32)));
    iut.unbind(second);
    deregister(region, false);
  });
  const auto refused = [&](const char* name, const iut::Access& access) {
    row(name, [&] {
      establish({.opening = true});
      iut::RegisterMemory command;
      command.length = 64;
      command.access = {.bind_window = true};
      const auto region = iut.try_register(command);
      if (!region) stop(Verdict::not_applicable, "the API registers no memory without local write");
      static_cast<void>(iut.bind_window(*region, 0, 64, {.remote_read = true}));
      const iut::Handle window = iut.new_handle();
      iut.call(iut::AllocateWindow{window, 0}, "allocate a window");
      expect_refused_or(iut.try_post(binding(window, *region, access)), completes_in_error(),
                        "verbs.window.changes-need-local-write");
    });
  };
  refused("for Writes", {.remote_write = true});
  if (iut.can(capability::atomics)) refused("for Atomics", {.remote_atomic = true});
}

CONFORMANCE_CASE(window_needs_a_region_that_is_registered_for_windows,
                 rules("verbs.window.needs-the-flag-of-its-region"),
                 needs(capability::memory_windows)) {
  establish({.opening = true});
  const Region region = iut.register_memory(64, access::local);
  expect_not_opened(*this, {region.handle, 0, 64}, region.base,
                    "verbs.window.needs-the-flag-of-its-region");
}

CASES_OF_FILE(verbs, memory_windows)

}  // namespace suite::cases
