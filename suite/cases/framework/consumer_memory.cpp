// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The memory of the IUT's consumer: regions, windows, and their octets.
#include <fmt/format.h>

#include <algorithm>

#include "suite/cases/framework/consumer.hpp"

namespace suite::cases {

namespace {

// A line of the agent holds two digits an octet and has a greatest length
// (suite/iut/message_lines.hpp).
constexpr std::size_t longest_memory_command = std::size_t{1} << 20;

}  // namespace

Region Consumer::register_memory(iut::RegisterMemory command) {
  command.region = new_handle();
  return registered(command, call(command, fmt::format("register {} octets", command.length)));
}

std::optional<Region> Consumer::try_register(iut::RegisterMemory command) {
  command.region = new_handle();
  const iut::Reply reply =
      try_call(command, fmt::format("register {} octets, rights of the process: {}", command.length,
                                    command.process_rights.value_or("all")));
  if (reply.outcome != iut::Outcome::ok) return {};
  return registered(command, reply);
}

Region Consumer::registered(const iut::RegisterMemory& command, const iut::Reply& reply) {
  if (!reply.stag || !reply.base)
    throw CaseStop{Verdict::error, "a registration without STag or base"};
  return {command.region, *reply.stag, *reply.base, command.length, {}};
}

Region Consumer::register_filled(const iut::RegisterMemory& command) {
  Region region = register_memory(command);
  region.contents.assign(command.length, std::byte{command.fill});
  return region;
}

Region Consumer::register_memory(std::uint64_t length, const iut::Access& access, std::uint8_t fill,
                                 iut::Handle domain) {
  iut::RegisterMemory command;
  command.length = length;
  command.access = access;
  command.fill = fill;
  command.domain = domain;
  return register_filled(command);
}

Region Consumer::register_octets(const Octets& octets, const iut::Access& access) {
  Region region = register_memory(octets.size(), access);
  write_memory(region, octets);
  return region;
}

Region Consumer::register_zero_based(std::uint64_t length, const iut::Access& access) {
  iut::RegisterMemory command;
  command.length = length;
  command.access = access;
  command.zero_based = true;
  command.fill = 0xA5;
  return register_filled(command);
}

Region Consumer::register_at(std::uint64_t base, std::uint64_t length, const iut::Access& access) {
  iut::RegisterMemory command;
  command.length = length;
  command.access = access;
  command.base = base;
  command.fill = 0xA5;
  return register_filled(command);
}

Region Consumer::register_nothing(const iut::Access& access) {
  iut::RegisterMemory command;
  command.region = new_handle();
  command.access = access;
  const iut::Reply reply = try_call(command, "register 0 octets");
  if (reply.outcome != iut::Outcome::ok || !reply.stag || !reply.base)
    throw CaseStop{Verdict::not_applicable, "the API registers no empty region: " + reply.error};
  return {command.region, *reply.stag, *reply.base, 0, {}};
}

Region Consumer::allocate_region(std::uint64_t length, std::uint32_t pages) {
  iut::AllocateRegion command;
  command.region = new_handle();
  command.length = length;
  command.pages = pages;
  command.fill = 0xA5;
  const iut::Reply reply = call(command, fmt::format("allocate a region of {} pages", pages));
  if (!reply.stag) throw CaseStop{Verdict::error, "an allocated region without STag"};
  return {command.region, *reply.stag, 0, length, Octets(length, std::byte{command.fill})};
}

iut::PostWork registration_of(const Region& region, const iut::Access& access, std::uint64_t offset,
                              std::uint32_t length) {
  iut::PostWork command;
  command.operation = iut::operation::register_region;
  command.pieces = {{region.handle, offset, length}};
  command.registration = iut::Registration{static_cast<std::uint8_t>(region.stag + 1), access};
  return command;
}

Attempt Consumer::try_registration(Region& region, const iut::Access& access, std::uint64_t offset,
                                   std::uint32_t length, bool fence, iut::Handle endpoint) {
  iut::PostWork command = registration_of(region, access, offset, length);
  command.endpoint = endpoint;
  command.fence = fence;
  Attempt made = try_post(command);
  if (!made.taken()) return made;
  if (!made.reply.stag || !made.reply.base)
    throw CaseStop{Verdict::error, "a registration without STag or base"};
  region.stag = *made.reply.stag;
  region.base = *made.reply.base;
  return made;
}

Work Consumer::post_registration(Region& region, const iut::Access& access, std::uint64_t offset,
                                 std::uint32_t length, bool fence, iut::Handle endpoint) {
  const auto [reply, work] = try_registration(region, access, offset, length, fence, endpoint);
  checked(reply, "post register_region");
  return work;
}

void Consumer::deregister(const Region& region) {
  call(iut::DeregisterMemory{region.handle}, "deregister memory");
}

Octets Consumer::read_memory(const Region& region) {
  Octets all;
  while (all.size() < region.length) {
    const std::uint64_t length =
        std::min<std::uint64_t>(longest_memory_command, region.length - all.size());
    const iut::Reply reply =
        call(iut::ReadMemory{region.handle, all.size(), length}, "read memory");
    if (!reply.octets || reply.octets->size() != length)
      throw CaseStop{Verdict::error, "memory read with a wrong length"};
    all.insert(all.end(), reply.octets->begin(), reply.octets->end());
  }
  return all;
}

void Consumer::write_memory(Region& region, const Octets& octets, std::uint64_t offset) {
  for (std::size_t done = 0; done < octets.size();) {
    const std::size_t length = std::min(longest_memory_command, octets.size() - done);
    const auto from = octets.begin() + static_cast<std::ptrdiff_t>(done);
    const Octets part(from, from + static_cast<std::ptrdiff_t>(length));
    call(iut::WriteMemory{region.handle, offset + done, part},
         fmt::format("write {} octets to memory", length));
    done += length;
  }
  if (!region.contents.empty())
    std::ranges::copy(octets, region.contents.begin() + static_cast<std::ptrdiff_t>(offset));
}

iut::Handle Consumer::create_domain() {
  const iut::Handle domain = new_handle();
  call(iut::CreateDomain{domain}, "create a protection domain");
  return domain;
}

iut::Reply Consumer::carry_out(iut::PostWork command) {
  command.work = next_work_++;
  iut::Reply reply = call(command, "post " + command.operation);
  await_success({command.work, command.endpoint, {}}, command.operation);
  return reply;
}

void Consumer::await_success(const Work& work, std::string_view operation) {
  const auto event = take(
      [&](const iut::Event& candidate) {
        const auto* completion = std::get_if<iut::CompletionEvent>(&candidate);
        return completion != nullptr && completion->work == work.id;
      },
      completion_due());
  const std::string status =
      event ? std::get<iut::CompletionEvent>(*event).status : "no completion";
  if (status != "success")
    throw CaseStop{Verdict::inconclusive,
                   fmt::format("the IUT does not carry out {}: {}", operation, status)};
}

Window Consumer::bind_window(const Region& under, std::uint64_t offset, std::uint32_t length,
                             const iut::Access& access, iut::Handle endpoint) {
  const iut::Handle handle = new_handle();
  const iut::Reply allocated = call(iut::AllocateWindow{handle, 0}, "allocate a window");
  const iut::Handle on = endpoint != 0 ? endpoint : this->endpoint();
  return bind_again({handle, on, allocated.stag.value_or(0), 0}, under, offset, length, access);
}

Window Consumer::bind_again(const Window& window, const Region& under, std::uint64_t offset,
                            std::uint32_t length, const iut::Access& access) {
  iut::PostWork command;
  command.endpoint = window.endpoint;
  command.operation = iut::operation::bind_window;
  command.pieces = {{under.handle, offset, length}};
  command.window = window.handle;
  command.window_access = access;
  // Where binding does not change the STag, its reply need not state it.
  const std::uint32_t stag = carry_out(command).stag.value_or(window.stag);
  if (stag == 0) throw CaseStop{Verdict::error, "a window without STag"};
  return {window.handle, window.endpoint, stag, under.base + offset};
}

void Consumer::unbind(const Window& window) {
  iut::PostWork command;
  command.endpoint = window.endpoint;
  command.operation = iut::operation::bind_window;
  command.window = window.handle;
  static_cast<void>(carry_out(command));
}

void Consumer::invalidate(std::uint32_t stag, iut::Handle endpoint) {
  iut::PostWork command;
  command.endpoint = endpoint != 0 ? endpoint : this->endpoint();
  command.operation = iut::operation::local_invalidate;
  command.invalidate_stag = stag;
  static_cast<void>(carry_out(command));
}

void Consumer::register_part(Region& region, const iut::Access& access, std::uint64_t offset,
                             std::uint32_t length, iut::Handle endpoint) {
  await_success(post_registration(region, access, offset, length, false, endpoint),
                iut::operation::register_region);
}

}  // namespace suite::cases
