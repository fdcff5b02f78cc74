// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The objects of the reference RNIC: made, validated, counted, destroyed.
#include "reference_rnic/verbs/soft_rnic.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "reference_rnic/verbs/memory_rights.hpp"
#include "reference_rnic/verbs/queue_pair.hpp"
#include "reference_rnic/verbs/soft_stream.hpp"
#include "reference_rnic/verbs/work_rules.hpp"

namespace rnic::verbs {

namespace {

constexpr std::uint32_t max_completions = 1U << 20;
constexpr std::uint32_t max_objects = 1U << 20;  // well below the 2^24 STag indices
constexpr std::uint64_t max_region = std::uint64_t{1} << 46;
constexpr std::uint32_t max_pages = 256;

RnicAttributes describe_rnic(const SoftRnicOptions& options) {
  return {.name = "reference",
          .vendor = "RNIC conformance suite",
          .version = "1",
          .max_ird = options.max_ird,
          .max_ord = options.max_ord,
          .max_pieces = options.max_pieces,
          .max_queue_depth = options.max_queue_depth,
          .max_completions = max_completions,
          .max_objects = max_objects,
          .max_pages = max_pages,
          .max_region = max_region};
}

[[nodiscard]] bool is_full(const auto& table) { return table.size() >= max_objects; }

[[nodiscard]] bool admissible_completions(std::uint32_t depth) {
  return depth != 0 && depth <= max_completions;
}

[[nodiscard]] bool admissible_depth(std::uint32_t depth, const RnicAttributes& attributes) {
  return depth != 0 && depth <= attributes.max_queue_depth;
}

std::unexpected<Error> failure(Error error) { return std::unexpected(error); }

}  // namespace

class SoftRnic::Core : public verbs::Core {
 public:
  Core(Host the_host, const SoftRnicOptions& the_options, RnicDecisions the_decisions)
      : verbs::Core(std::move(the_host), the_options, std::move(the_decisions)),
        attributes(describe_rnic(the_options)) {}
  RnicAttributes attributes;
};

SoftRnic::SoftRnic(Host host, SoftRnicOptions options, RnicDecisions decisions)
    : core_(std::make_unique<Core>(std::move(host), options, std::move(decisions))) {}
SoftRnic::~SoftRnic() = default;

const RnicAttributes& SoftRnic::attributes() const { return core_->attributes; }
void SoftRnic::set_async_handler(AsyncHandler handler) {
  core_->async_handler = std::move(handler);
}

// ---- domains ----

std::expected<DomainHandle, Error> SoftRnic::create_domain() {
  if (is_full(core_->domains)) return failure(Error::no_resources);
  return core_->domains.insert(
      [](DomainHandle handle) { return std::make_unique<Domain>(Domain{.handle = handle}); });
}

std::expected<void, Error> SoftRnic::destroy_domain(DomainHandle domain) {
  const Domain* found = core_->domains.find(domain);
  if (found == nullptr) return failure(Error::invalid_handle);
  if (found->users != 0) return failure(Error::in_use);
  core_->domains.remove(domain);
  return {};
}

// ---- memory ----

std::expected<RegionInfo, Error> SoftRnic::register_memory(DomainHandle domain,
                                                           const RegionAttributes& attributes) {
  Domain* found = core_->domains.find(domain);
  if (found == nullptr) return failure(Error::invalid_handle);
  if (is_full(core_->regions)) return failure(Error::no_resources);
  const std::uint64_t length = attributes.memory.size();
  if (length > max_region || (attributes.zero_based && attributes.base.value_or(0) != 0))
    return failure(Error::invalid_parameter);
  const std::uint64_t base =
      attributes.zero_based
          ? 0
          : attributes.base.value_or(reinterpret_cast<std::uintptr_t>(attributes.memory.data()));
  if (length != 0 && base > std::numeric_limits<std::uint64_t>::max() - (length - 1))
    return failure(Error::invalid_parameter);
  // ddp.security.prm-checks-buffer-rights
  bool granted = process_may_access(attributes.memory, attributes.access);
  core_->decisions.ask(&Decisions::registration_checked, attributes.memory, attributes.access,
                       granted);
  if (!granted) return failure(Error::invalid_parameter);
  Tag& tag = core_->tags.allocate();
  const RegionHandle handle = core_->regions.insert([&](RegionHandle region) {
    return std::make_unique<Region>(Region{.info = {.region = region,
                                                    .stag = tag.stag,
                                                    .base = base,
                                                    .length = length,
                                                    .access = attributes.access,
                                                    .valid = true},
                                           .domain = domain});
  });
  tag.domain = domain;
  tag.memory = attributes.memory;
  tag.base = base;
  tag.access = attributes.access;
  tag.region = handle;
  core_->open(tag);
  ++found->users;
  return core_->regions.find(handle)->info;
}

std::expected<RegionInfo, Error> SoftRnic::allocate_region(DomainHandle domain,
                                                           std::uint32_t pages) {
  Domain* found = core_->domains.find(domain);
  if (found == nullptr) return failure(Error::invalid_handle);
  if (pages == 0 || pages > max_pages) return failure(Error::invalid_parameter);
  if (is_full(core_->regions)) return failure(Error::no_resources);
  Tag& tag = core_->tags.allocate();
  tag.domain = domain;
  tag.region = core_->regions.insert([&](RegionHandle region) {
    return std::make_unique<Region>(
        Region{.info = {.region = region, .pages = pages, .stag = tag.stag, .valid = false},
               .domain = domain});
  });
  ++found->users;
  return core_->regions.find(tag.region)->info;
}

std::expected<RegionInfo, Error> SoftRnic::query_region(RegionHandle region) const {
  const Region* found = core_->regions.find(region);
  if (found == nullptr) return failure(Error::invalid_handle);
  return found->info;
}

std::expected<void, Error> SoftRnic::deregister(RegionHandle region) {
  const Region* found = core_->regions.find(region);
  if (found == nullptr) return failure(Error::invalid_handle);
  const bool held = found->windows != 0;  // verbs.region.held-by-bound-windows
  if (!core_->revokes(Decisions::Revocation::deregistered, !held)) return failure(Error::in_use);
  core_->tags.release(found->info.stag);
  if (Domain* domain = core_->domains.find(found->domain)) --domain->users;
  core_->regions.remove(region);
  return {};
}

std::expected<WindowInfo, Error> SoftRnic::allocate_window(DomainHandle domain, WindowScope scope) {
  Domain* found = core_->domains.find(domain);
  if (found == nullptr) return failure(Error::invalid_handle);
  if (scope > WindowScope::queue_pair) return failure(Error::invalid_parameter);
  if (is_full(core_->windows)) return failure(Error::no_resources);
  Tag& tag = core_->tags.allocate();
  tag.domain = domain;
  tag.window = core_->windows.insert([&](WindowHandle window) {
    return std::make_unique<Window>(
        Window{.info = {.window = window, .stag = tag.stag, .scope = scope, .bound = false},
               .domain = domain,
               .region = {}});
  });
  ++found->users;
  return core_->windows.find(tag.window)->info;
}

std::expected<WindowInfo, Error> SoftRnic::query_window(WindowHandle window) const {
  const Window* found = core_->windows.find(window);
  if (found == nullptr) return failure(Error::invalid_handle);
  return found->info;
}

std::expected<void, Error> SoftRnic::free_window(WindowHandle window) {
  Window* found = core_->windows.find(window);
  if (found == nullptr) return failure(Error::invalid_handle);
  if (found->info.bound) core_->unbind(*found);
  core_->tags.release(found->info.stag);
  if (Domain* domain = core_->domains.find(found->domain)) --domain->users;
  core_->windows.remove(window);
  return {};
}

// ---- completion queues ----

std::expected<CompletionQueueHandle, Error> SoftRnic::create_completion_queue(
    std::uint32_t depth, CompletionHandler handler) {
  if (!admissible_completions(depth)) return failure(Error::invalid_parameter);
  if (is_full(core_->completion_queues)) return failure(Error::no_resources);
  return core_->completion_queues.insert([&](CompletionQueueHandle handle) {
    return std::make_unique<CompletionQueue>(handle, depth, std::move(handler));
  });
}

std::expected<void, Error> SoftRnic::resize_completion_queue(CompletionQueueHandle queue,
                                                             std::uint32_t depth) {
  CompletionQueue* found = core_->completion_queues.find(queue);
  if (found == nullptr) return failure(Error::invalid_handle);
  if (!admissible_completions(depth)) return failure(Error::invalid_parameter);
  return found->resize(depth);
}

std::expected<void, Error> SoftRnic::destroy_completion_queue(CompletionQueueHandle queue) {
  const CompletionQueue* found = core_->completion_queues.find(queue);
  if (found == nullptr) return failure(Error::invalid_handle);
  const bool held = found->users != 0;  // verbs.completion-queue.held-by-its-endpoints
  if (!core_->revokes(Decisions::Revocation::completion_queue_destroyed, !held))
    return failure(Error::in_use);
  core_->completion_queues.remove(queue);
  return {};
}

std::expected<std::size_t, Error> SoftRnic::poll(CompletionQueueHandle queue,
                                                 std::span<Completion> out) {
  CompletionQueue* found = core_->completion_queues.find(queue);
  if (found == nullptr) return failure(Error::invalid_handle);
  return found->poll(out);
}

std::expected<void, Error> SoftRnic::arm(CompletionQueueHandle queue, Arm arm) {
  CompletionQueue* found = core_->completion_queues.find(queue);
  if (found == nullptr) return failure(Error::invalid_handle);
  if (arm > Arm::solicited) return failure(Error::invalid_parameter);
  found->arm(arm);  // verbs.completion.each-request-wakes
  found->asked_last = arm;
  return {};
}

// ---- shared receive queues ----

std::expected<SharedQueueHandle, Error> SoftRnic::create_shared_queue(
    DomainHandle domain, const SharedQueueAttributes& attributes) {
  Domain* found = core_->domains.find(domain);
  if (found == nullptr) return failure(Error::invalid_handle);
  if (!admissible_depth(attributes.depth, core_->attributes) ||
      attributes.max_pieces > core_->attributes.max_pieces)
    return failure(Error::invalid_parameter);
  if (is_full(core_->shared_queues)) return failure(Error::no_resources);
  ++found->users;
  return core_->shared_queues.insert([&](SharedQueueHandle handle) {
    return std::make_unique<SharedQueue>(
        SharedQueue{.handle = handle, .domain = domain, .attributes = attributes, .waiting = {}});
  });
}

std::expected<SharedQueueInfo, Error> SoftRnic::query_shared_queue(SharedQueueHandle queue) const {
  const SharedQueue* found = core_->shared_queues.find(queue);
  if (found == nullptr) return failure(Error::invalid_handle);
  return SharedQueueInfo{.attributes = found->attributes,
                         .posted = static_cast<std::uint32_t>(found->waiting.size()),
                         .limit = found->limit};
}

std::expected<void, Error> SoftRnic::resize_shared_queue(SharedQueueHandle queue,
                                                         std::uint32_t depth) {
  SharedQueue* found = core_->shared_queues.find(queue);
  if (found == nullptr) return failure(Error::invalid_handle);
  if (!admissible_depth(depth, core_->attributes) || depth < found->waiting.size())
    return failure(Error::invalid_parameter);
  found->attributes.depth = depth;
  return {};
}

std::expected<void, Error> SoftRnic::arm_limit(SharedQueueHandle queue, std::uint32_t limit) {
  SharedQueue* found = core_->shared_queues.find(queue);
  if (found == nullptr) return failure(Error::invalid_handle);
  if (limit > found->attributes.depth) return failure(Error::invalid_parameter);
  core_->decisions.ask(&Decisions::limit_armed, queue, found->limit, limit);
  found->limit = limit;
  return {};
}

std::expected<void, Error> SoftRnic::destroy_shared_queue(SharedQueueHandle queue) {
  const SharedQueue* found = core_->shared_queues.find(queue);
  if (found == nullptr) return failure(Error::invalid_handle);
  const bool held = found->users != 0;  // verbs.shared-receive.held-by-its-endpoints
  if (!core_->revokes(Decisions::Revocation::shared_queue_destroyed, !held))
    return failure(Error::in_use);
  if (Domain* domain = core_->domains.find(found->domain)) --domain->users;
  core_->shared_queues.remove(queue);
  return {};
}

std::expected<void, PostError> SoftRnic::post_receive(SharedQueueHandle queue,
                                                      std::span<const ReceiveRequest> requests) {
  SharedQueue* found = core_->shared_queues.find(queue);
  if (found == nullptr) return std::unexpected(PostError{Error::invalid_handle, 0});
  const auto result = core_->post_list(
      requests,
      [found](const ReceiveRequest& request) {
        auto error = fault_in(request, found->attributes.max_pieces);
        if (!error && found->waiting.size() >= found->attributes.depth) error = Error::queue_full;
        return error;
      },
      [found](const ReceiveRequest& request) { found->waiting.push_back(request); });
  core_->queue_pairs.for_each([queue](QueuePair& pair) {
    if (pair.attributes().shared_queue == queue) pair.receives_posted();
  });
  return result;
}

// ---- queue pairs ----

std::expected<QueuePairHandle, Error> SoftRnic::create_queue_pair(
    const QueuePairAttributes& attributes) {
  Domain* domain = core_->domains.find(attributes.domain);
  CompletionQueue* send = core_->completion_queues.find(attributes.send_completions);
  CompletionQueue* receive = core_->completion_queues.find(attributes.receive_completions);
  SharedQueue* shared = core_->shared_queues.find(attributes.shared_queue);
  if (domain == nullptr || send == nullptr || receive == nullptr)
    return failure(Error::invalid_handle);
  if (attributes.shared_queue && shared == nullptr) return failure(Error::invalid_handle);
  if (shared != nullptr && shared->domain != attributes.domain) return failure(Error::wrong_domain);
  const bool receives =
      shared != nullptr ||
      (attributes.receive_depth != 0 &&
       attributes.receive_depth <= core_->receives_held(core_->attributes.max_queue_depth));
  bool made = admissible_depth(attributes.send_depth, core_->attributes) && receives &&
              attributes.max_pieces <= core_->attributes.max_pieces;
  core_->decisions.ask(&Decisions::pair_asked, attributes, made);
  if (!made) return failure(Error::invalid_parameter);
  if (is_full(core_->queue_pairs)) return failure(Error::no_resources);
  ++domain->users;
  ++send->users;
  ++receive->users;
  if (shared != nullptr) ++shared->users;
  return core_->queue_pairs.insert([&](QueuePairHandle handle) {
    return std::make_unique<QueuePair>(*core_, handle, attributes);
  });
}

std::expected<QueuePairInfo, Error> SoftRnic::query_queue_pair(QueuePairHandle queue_pair) const {
  const auto* found = core_->queue_pairs.find(queue_pair);
  if (found == nullptr) return failure(Error::invalid_handle);
  return found->info();
}

std::expected<void, Error> SoftRnic::close(QueuePairHandle queue_pair) {
  auto* found = core_->queue_pairs.find(queue_pair);
  if (found == nullptr) return failure(Error::invalid_handle);
  return found->close();
}

std::expected<void, Error> SoftRnic::abort(QueuePairHandle queue_pair) {
  auto* found = core_->queue_pairs.find(queue_pair);
  if (found == nullptr) return failure(Error::invalid_handle);
  found->abort();
  return {};
}

std::expected<void, Error> SoftRnic::set_access(QueuePairHandle queue_pair, const Access& access) {
  auto* found = core_->queue_pairs.find(queue_pair);
  if (found == nullptr) return failure(Error::invalid_handle);
  found->set_access(access);
  return {};
}

std::expected<void, Error> SoftRnic::reset_queue_pair(QueuePairHandle queue_pair) {
  auto* found = core_->queue_pairs.find(queue_pair);
  if (found == nullptr) return failure(Error::invalid_handle);
  return found->reset();
}

std::expected<void, Error> SoftRnic::destroy_queue_pair(QueuePairHandle queue_pair) {
  const auto removed = core_->queue_pairs.remove(queue_pair);
  if (removed == nullptr) return failure(Error::invalid_handle);
  const QueuePairAttributes& attributes = removed->attributes();
  if (Domain* domain = core_->domains.find(attributes.domain)) --domain->users;
  if (CompletionQueue* queue = core_->completion_queues.find(attributes.send_completions))
    --queue->users;
  if (CompletionQueue* queue = core_->completion_queues.find(attributes.receive_completions))
    --queue->users;
  if (SharedQueue* shared = core_->shared_queues.find(attributes.shared_queue)) --shared->users;
  return {};
}

std::expected<void, PostError> SoftRnic::post_send(QueuePairHandle queue_pair,
                                                   std::span<const SendRequest> requests) {
  auto* found = core_->queue_pairs.find(queue_pair);
  if (found == nullptr) return std::unexpected(PostError{Error::invalid_handle, 0});
  return found->post_send(requests);
}

std::expected<void, PostError> SoftRnic::post_receive(QueuePairHandle queue_pair,
                                                      std::span<const ReceiveRequest> requests) {
  auto* found = core_->queue_pairs.find(queue_pair);
  if (found == nullptr) return std::unexpected(PostError{Error::invalid_handle, 0});
  return found->post_receive(requests);
}

// ---- streams ----

std::unique_ptr<RdmaStream> SoftRnic::open_stream(stream::Config config) {
  return std::make_unique<SoftStream>(*core_, std::move(config));
}

std::expected<void, Error> SoftRnic::attach(QueuePairHandle queue_pair, RdmaStream& stream) {
  auto* pair = core_->queue_pairs.find(queue_pair);
  auto* soft = dynamic_cast<SoftStream*>(&stream);
  if (pair == nullptr || soft == nullptr) return failure(Error::invalid_handle);
  if (!soft->attach(*pair)) return failure(Error::invalid_state);
  return {};
}

}  // namespace rnic::verbs
