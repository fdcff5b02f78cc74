// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Commands that make and destroy domains, memory, windows, shared queues and endpoints.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "suite/upper_tester/reference/reference_driver.hpp"
#include "suite/upper_tester/reference/replies.hpp"
#include "suite/upper_tester/reference/translation.hpp"

namespace suite::upper_tester::reference {

namespace verbs = rnic::verbs;

// ---- domains ----

auto ReferenceDriver::domain(iut::Handle handle) const -> const Held<verbs::DomainHandle>* {
  const auto found = domains_.find(handle);
  return found == domains_.end() ? nullptr : &found->second;
}

iut::Reply ReferenceDriver::perform(const iut::CreateDomain& command) {
  if (command.domain == 0 || domains_.contains(command.domain))
    return bad_handle("domain", command.domain);
  const auto created = rnic_->create_domain();
  if (!created) return failed(created.error(), "create domain");
  const verbs::DomainHandle handle = *created;
  domains_[command.domain] = {
      handle, resources_.add([this, handle] { must(rnic_->destroy_domain(handle)); })};
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::DestroyDomain& command) {
  const auto* held = command.domain == 0 ? nullptr : domain(command.domain);
  if (held == nullptr) return bad_handle("domain", command.domain);
  if (const auto destroyed = rnic_->destroy_domain(held->object); !destroyed)
    return failed(destroyed.error(), "destroy domain");
  resources_.forget(held->resource);
  domains_.erase(command.domain);
  return {};
}

// ---- memory ----

auto ReferenceDriver::allocate(const iut::RegisterMemory& command)
    -> std::expected<Region, iut::Reply> {
  if (command.length > max_region_octets)
    return std::unexpected(failed(ENOMEM, "a region has at most 1 GiB"));
  Region region;
  if (!command.process_rights) {
    try {
      region.octets.assign(command.length, std::byte{command.fill});
    } catch (const std::bad_alloc&) {
      return std::unexpected(failed(ENOMEM, "no memory for the region"));
    }
    return region;
  }
  region.pages = std::make_unique<Buffer>(command.length, command.fill, *command.process_rights);
  if (!*region.pages) return std::unexpected(failed(errno, "mmap"));
  return region;
}

/// The next region has offsets and pages of its own.
void ReferenceDriver::keep(iut::Handle name, Region region, Resource domain) {
  next_base_ += (region.memory().size() / verbs::region_page + 2) * verbs::region_page;
  const verbs::RegionHandle handle = region.info.region;
  region.resource = resources_.add([this, handle] { must(rnic_->deregister(handle)); }, {domain});
  regions_[name] = std::move(region);
}

iut::Reply ReferenceDriver::perform(const iut::RegisterMemory& command) {
  if (command.region == 0 || regions_.contains(command.region))
    return bad_handle("region", command.region);
  const auto* home = domain(command.domain);
  if (home == nullptr) return bad_handle("domain", command.domain);
  auto allocated = allocate(command);
  if (!allocated) return allocated.error();
  Region region = std::move(*allocated);
  verbs::RegionAttributes attributes{.memory = region.memory(),
                                     .access = access_of(command.access),
                                     .zero_based = command.zero_based};
  attributes.base = command.base;
  if (!command.zero_based && !command.base) attributes.base = next_base_;
  const auto registered = rnic_->register_memory(home->object, attributes);
  // What this RNIC places is written by its process, which a signal would end without the right.
  if (region.pages && !region.pages->open_fully()) return failed(errno, "mmap");
  if (!registered) return failed(registered.error(), "register memory");
  region.info = *registered;
  keep(command.region, std::move(region), home->resource);
  iut::Reply reply;
  reply.stag = registered->stag;
  reply.base = registered->base;
  return reply;
}

iut::Reply ReferenceDriver::perform(const iut::AllocateRegion& command) {
  if (command.region == 0 || regions_.contains(command.region))
    return bad_handle("region", command.region);
  const auto* home = domain(command.domain);
  if (home == nullptr) return bad_handle("domain", command.domain);
  iut::RegisterMemory memory;
  memory.length = command.length;
  memory.fill = command.fill;
  auto region = allocate(memory);
  if (!region) return region.error();
  const auto made = rnic_->allocate_region(home->object, command.pages);
  if (!made) return failed(made.error(), "allocate region");
  region->info = *made;
  region->info.base = next_base_;
  keep(command.region, std::move(*region), home->resource);
  iut::Reply reply;
  reply.stag = made->stag;
  return reply;
}

iut::Reply ReferenceDriver::perform(const iut::DeregisterMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return bad_handle("region", command.region);
  if (const auto done = rnic_->deregister(found->second.info.region); !done)
    return failed(done.error(), "deregister");
  resources_.forget(found->second.resource);
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::ReadMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return bad_handle("region", command.region);
  const rnic::wire::Bytes octets = found->second.memory();
  if (command.offset > octets.size() || command.length > octets.size() - command.offset)
    return failed(EINVAL, "outside of the region");
  iut::Reply reply;
  const auto part = octets.subspan(command.offset, command.length);
  reply.octets.emplace(part.begin(), part.end());
  return reply;
}

iut::Reply ReferenceDriver::perform(const iut::WriteMemory& command) {
  const auto found = regions_.find(command.region);
  if (found == regions_.end()) return bad_handle("region", command.region);
  const rnic::wire::MutableBytes octets = found->second.memory();
  if (command.offset > octets.size() || command.octets.size() > octets.size() - command.offset)
    return failed(EINVAL, "outside of the region");
  std::ranges::copy(command.octets, octets.begin() + static_cast<std::ptrdiff_t>(command.offset));
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::AllocateWindow& command) {
  if (command.window == 0 || windows_.contains(command.window))
    return bad_handle("window", command.window);
  const auto* home = domain(command.domain);
  if (home == nullptr) return bad_handle("domain", command.domain);
  const auto allocated = rnic_->allocate_window(home->object, verbs::WindowScope::queue_pair);
  if (!allocated) return failed(allocated.error(), "allocate window");
  const verbs::WindowHandle handle = allocated->window;
  windows_[command.window] = {
      handle,
      resources_.add([this, handle] { must(rnic_->free_window(handle)); }, {home->resource})};
  iut::Reply reply;
  reply.stag = allocated->stag;
  return reply;
}

iut::Reply ReferenceDriver::perform(const iut::FreeWindow& command) {
  const auto found = windows_.find(command.window);
  if (found == windows_.end()) return bad_handle("window", command.window);
  resources_.release(found->second.resource);
  windows_.erase(found);
  return {};
}

// ---- shared receive queues ----

iut::Reply ReferenceDriver::perform(const iut::CreateSharedQueue& command) {
  if (command.queue == 0 || shared_queues_.contains(command.queue))
    return bad_handle("shared queue", command.queue);
  const auto* home = domain(command.domain);
  if (home == nullptr) return bad_handle("domain", command.domain);
  const auto created = rnic_->create_shared_queue(
      home->object, {.depth = command.depth, .max_pieces = command.max_pieces});
  if (!created) return failed(created.error(), "create shared queue");
  const verbs::SharedQueueHandle handle = *created;
  shared_queues_[command.queue] = {
      handle, resources_.add([this, handle] { must(rnic_->destroy_shared_queue(handle)); },
                             {home->resource})};
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::ResizeSharedQueue& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return bad_handle("shared queue", command.queue);
  if (const auto resized = rnic_->resize_shared_queue(found->second.object, command.depth);
      !resized)
    return failed(resized.error(), "resize shared queue");
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::DestroySharedQueue& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return bad_handle("shared queue", command.queue);
  if (const auto destroyed = rnic_->destroy_shared_queue(found->second.object); !destroyed)
    return failed(destroyed.error(), "destroy shared queue");
  resources_.forget(found->second.resource);
  shared_queues_.erase(found);
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::ArmSharedQueueLimit& command) {
  const auto found = shared_queues_.find(command.queue);
  if (found == shared_queues_.end()) return bad_handle("shared queue", command.queue);
  if (const auto armed = rnic_->arm_limit(found->second.object, command.limit); !armed)
    return failed(armed.error(), "arm limit");
  return {};
}

// ---- completion queues ----

auto ReferenceDriver::make_completion_queue(std::uint64_t depth, std::optional<Drained> drained)
    -> std::expected<verbs::CompletionQueueHandle, verbs::Error> {
  const auto most = std::min<std::uint64_t>(depth, rnic_->attributes().max_completions);
  const auto queue = rnic_->create_completion_queue(
      static_cast<std::uint32_t>(most),
      [this](verbs::CompletionQueueHandle woken) { completed(woken); });
  if (!queue || !drained) return queue;
  drained_[*queue] = *drained;
  must(rnic_->arm(*queue, drained->arm));
  return queue;
}

iut::Reply ReferenceDriver::perform(const iut::CreateCompletionQueue& command) {
  if (command.queue == 0 || completion_queues_.contains(command.queue))
    return bad_handle("completion queue", command.queue);
  const auto made = make_completion_queue(
      command.depth,
      Drained{.arm = command.solicited_only ? verbs::Arm::solicited : verbs::Arm::next,
              .again = !command.armed_once.value_or(false)});
  if (!made) return failed(made.error(), "create completion queue");
  const verbs::CompletionQueueHandle handle = *made;
  completion_queues_[command.queue] = {handle, resources_.add([this, handle] {
                                         drained_.erase(handle);
                                         must(rnic_->destroy_completion_queue(handle));
                                       })};
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::DestroyCompletionQueue& command) {
  const auto found = completion_queues_.find(command.queue);
  if (found == completion_queues_.end()) return bad_handle("completion queue", command.queue);
  if (const auto done = rnic_->destroy_completion_queue(found->second.object); !done)
    return failed(done.error(), "destroy completion queue");
  drained_.erase(found->second.object);
  resources_.forget(found->second.resource);
  completion_queues_.erase(found);
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::ArmCompletionQueue& command) {
  const auto found = completion_queues_.find(command.queue);
  if (found == completion_queues_.end()) return bad_handle("completion queue", command.queue);
  must(rnic_->arm(found->second.object,
                  command.solicited_only ? verbs::Arm::solicited : verbs::Arm::next));
  return {};
}

// ---- endpoints ----

/// Room for everything that can be posted at one time, or as little as was requested.
auto ReferenceDriver::completions_for(const iut::CreateEndpoint& command, std::uint64_t receives)
    -> std::expected<verbs::CompletionQueueHandle, iut::Reply> {
  if (command.completion_queue != 0) {
    const auto shared = completion_queues_.find(command.completion_queue);
    if (shared == completion_queues_.end())
      return std::unexpected(bad_handle("completion queue", command.completion_queue));
    return shared->second.object;
  }
  // Completions that are reported late wait in the queue beside those of later work.
  constexpr std::uint64_t late_completions = 4096;
  const std::uint64_t spare = offer_.completion_delay.count() != 0 ? late_completions : 0;
  const auto queue = command.completion_depth == 0
                         ? make_completion_queue(receives + command.send_depth + spare, Drained{})
                         : make_completion_queue(command.completion_depth, std::nullopt);
  if (!queue) return std::unexpected(failed(queue.error(), "create completion queue"));
  return *queue;
}

iut::Reply ReferenceDriver::perform(const iut::CreateEndpoint& command) {
  if (command.endpoint == 0 || endpoints_.contains(command.endpoint))
    return bad_handle("endpoint", command.endpoint);
  const auto* home = domain(command.domain);
  if (home == nullptr) return bad_handle("domain", command.domain);
  if (command.max_inline > max_inline_octets)
    return failed(EINVAL, "a request has at most " + std::to_string(max_inline_octets) +
                              " octets of inline data");
  const auto shared = shared_queues_.find(command.shared_queue);
  if (command.shared_queue != 0 && shared == shared_queues_.end())
    return bad_handle("shared queue", command.shared_queue);
  verbs::QueuePairAttributes attributes{.domain = home->object,
                                        .send_depth = command.send_depth,
                                        .receive_depth = command.receive_depth,
                                        .max_pieces = command.max_pieces,
                                        .max_inline = command.max_inline};
  if (command.access) attributes.access = access_of(*command.access);
  attributes.signal_all = command.signal_all.value_or(false);
  std::uint64_t receives = command.receive_depth;
  if (command.shared_queue != 0) {
    attributes.shared_queue = shared->second.object;
    receives = rnic_->query_shared_queue(shared->second.object)->attributes.depth;
  }
  const auto queue = completions_for(command, receives);
  if (!queue) return queue.error();
  const iut::Handle name = command.endpoint;
  Endpoint endpoint{
      .queue_pair = {}, .completions = *queue, .shares_completions = command.completion_queue != 0};
  attributes.send_completions = attributes.receive_completions = *queue;
  const auto pair = rnic_->create_queue_pair(attributes);
  if (!pair) {
    release_completions(endpoint);
    return failed(pair.error(), "create queue pair");
  }
  endpoint.queue_pair = *pair;
  const Resource shared_resource =
      command.shared_queue != 0 ? shared->second.resource : Resource::none;
  const Resource completions_resource =
      endpoint.shares_completions ? completion_queues_.at(command.completion_queue).resource
                                  : Resource::none;
  endpoint.resource = resources_.add([this, name] { release_endpoint(name); },
                                     {home->resource, shared_resource, completions_resource});
  endpoints_[name] = endpoint;
  return {};
}

void ReferenceDriver::release_completions(const Endpoint& endpoint) {
  if (endpoint.shares_completions) return;
  drained_.erase(endpoint.completions);
  must(rnic_->destroy_completion_queue(endpoint.completions));
}

void ReferenceDriver::release_endpoint(iut::Handle handle) {
  const auto found = endpoints_.find(handle);
  if (found == endpoints_.end()) return;
  const Endpoint endpoint = found->second;
  endpoints_.erase(found);
  connections_->drop(endpoint.queue_pair);
  must(rnic_->destroy_queue_pair(endpoint.queue_pair));
  release_completions(endpoint);
}

iut::Reply ReferenceDriver::perform(const iut::DestroyEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return bad_handle("endpoint", command.endpoint);
  resources_.release(found->second.resource);
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::SetEndpointAccess& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return bad_handle("endpoint", command.endpoint);
  if (const auto set = rnic_->set_access(found->second.queue_pair, access_of(command.access)); !set)
    return failed(set.error(), "set access");
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::QueryEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return bad_handle("endpoint", command.endpoint);
  const verbs::QueuePairInfo info = *rnic_->query_queue_pair(found->second.queue_pair);
  const bool connecting = info.state == verbs::QueuePairState::idle &&
                          connections_->is_connecting(found->second.queue_pair);
  iut::Reply reply;
  reply.state = connecting ? "connecting" : state_name(info.state);
  reply.attributes = {info.attributes.send_depth, info.attributes.receive_depth,
                      info.attributes.max_pieces, info.attributes.max_inline,
                      access_of(info.attributes.access)};
  return reply;
}

iut::Reply ReferenceDriver::perform(const iut::AbortEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return bad_handle("endpoint", command.endpoint);
  if (const auto aborted = rnic_->abort(found->second.queue_pair); !aborted)
    return failed(aborted.error(), "abort");
  return {};
}

iut::Reply ReferenceDriver::perform(const iut::ResetEndpoint& command) {
  const auto found = endpoints_.find(command.endpoint);
  if (found == endpoints_.end()) return bad_handle("endpoint", command.endpoint);
  if (const auto reset = rnic_->reset_queue_pair(found->second.queue_pair); !reset)
    return failed(reset.error(), "reset queue pair");
  return {};
}

iut::Handle ReferenceDriver::endpoint_of(verbs::QueuePairHandle queue_pair) const {
  for (const auto& [handle, endpoint] : endpoints_)
    if (endpoint.queue_pair == queue_pair) return handle;
  return 0;
}

iut::Handle ReferenceDriver::endpoint_of(verbs::CompletionQueueHandle queue) const {
  for (const auto& [handle, endpoint] : endpoints_)
    if (endpoint.completions == queue && !endpoint.shares_completions) return handle;
  return 0;
}

}  // namespace suite::upper_tester::reference
