// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The memory of the IUT as the model knows it: who may access what through its STags, and its
// octets (RFC 5040 section 7.2, RFC 5041 section 7.1, RFC 5042 section 2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "suite/iut/messages.hpp"
#include "suite/model/fault.hpp"

namespace suite::model {

using base::Octets;

/// Octets that states share, page by page, until one of them writes.
class Contents {
 public:
  Contents() = default;
  explicit Contents(base::Bytes octets);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// `offset + length` is at most the size.
  [[nodiscard]] Octets part(std::uint64_t offset, std::uint64_t length) const;
  [[nodiscard]] Octets all() const { return part(0, size_); }
  void write(std::uint64_t offset, base::Bytes octets);
  /// They are these.
  [[nodiscard]] bool are(base::Bytes octets) const;
  /// Equal for equal octets, and different for most others.
  [[nodiscard]] std::size_t digest() const;
  bool operator==(const Contents& other) const;

 private:
  static constexpr std::size_t page_size = 4096;
  struct Page {
    std::array<std::byte, page_size> octets{};
    std::optional<std::size_t> digest;  ///< once it was asked for
  };
  using Pages = std::vector<std::shared_ptr<Page>>;

  Pages& own_pages();

  std::size_t size_ = 0;
  std::shared_ptr<Pages> pages_;
};

/// Octets of a region that a stream, or the consumer, has written.
struct Placed {
  static constexpr std::size_t consumer = ~std::size_t{0};
  std::size_t by = 0;
  std::uint64_t from = 0, to = 0;
  bool operator==(const Placed&) const = default;
};

struct Region {
  iut::Handle handle = 0, domain = 0;
  std::uint32_t stag = 0;
  /// Tagged offset of its first octet.
  std::uint64_t base = 0;
  iut::Access access;
  Contents contents;
  /// Its STag can be used: registered and not invalidated.
  bool valid = true;
  bool registered = true;
  /// Bit n: stream n has written to it or read from it.
  std::uint32_t users = 0;
  /// What the inputs that are being taken in have placed in it.
  std::vector<Placed> placed{};
  /// Rules by which messages that named its STag have not invalidated it.
  std::vector<RuleId> named_by{};
  /// Its contents are not known (RFC 5040 section 5.5: a buffer in use is indeterminate).
  bool indeterminate = false;

  /// Nothing orders the octets of several streams, or of a stream and the consumer, nor keeps those of one
  /// segment together (RFC 5040 section 5.5 rules 1, 3 and 7).
  void note_placement(const Placed& part);
  [[nodiscard]] std::uint64_t length() const { return contents.size(); }
  bool operator==(const Region& other) const;
};

/// A memory window: a part of a region that the peer uses by another STag.
struct Window {
  iut::Handle handle = 0, domain = 0;
  std::uint32_t stag = 0;
  bool bound = false;
  /// While bound: what to, with the tagged offset of the first octet, and what it grants.
  iut::Handle region = 0;
  std::uint64_t base = 0, length = 0;
  iut::Access access;
  /// The stream that it was bound on, if it is open to no other.
  std::optional<std::size_t> stream;

  bool operator==(const Window& other) const;
};

/// What a valid STag opens to the peer: a region, or a window on a part of it.
struct Grant {
  Region* region = nullptr;
  Window* window = nullptr;

  [[nodiscard]] iut::Handle domain() const { return window ? window->domain : region->domain; }
  [[nodiscard]] std::uint64_t base() const { return window ? window->base : region->base; }
  [[nodiscard]] std::uint64_t length() const { return window ? window->length : region->length(); }
  [[nodiscard]] const iut::Access& access() const {
    return window ? window->access : region->access;
  }
  [[nodiscard]] std::optional<std::size_t> stream() const {
    return window ? window->stream : std::nullopt;
  }
};

/// Who asks for access.
struct Accessor {
  std::size_t stream = 0;
  iut::Handle domain = 0;
};
enum class Use : std::uint8_t { write, read, atomic };
/// Of words that Atomics work on (RFC 7306 sections 5.1.1 and 5.1.2); found out by their results.
enum class ByteOrder : std::uint8_t { unknown, little, big };

/// What a Request asks for.
struct Source {
  std::uint32_t stag = 0;
  std::uint64_t offset = 0, length = 0;
  Use use = Use::read;
  bool operator==(const Source&) const = default;
};

struct Memory;
/// Rules about an STag that is no longer valid.
void concern_revoked(const Memory& memory, std::uint32_t stag, Faults& faults);

struct Memory {
  std::vector<Region> regions;
  std::vector<Window> windows;
  /// A window is open only to the stream that it was bound on.
  bool stream_windows = false;
  ByteOrder byte_order = ByteOrder::unknown;

  [[nodiscard]] Region* find(iut::Handle handle);
  [[nodiscard]] const Region* find(iut::Handle handle) const;
  [[nodiscard]] std::optional<Grant> of_stag(std::uint32_t stag);
  [[nodiscard]] Window* window(iut::Handle handle);
  /// A window is bound to the region.
  [[nodiscard]] bool has_windows(iut::Handle region) const;
  /// The STag becomes invalid.
  void revoke(std::uint32_t stag);
  /// A region or window of this STag is open.
  [[nodiscard]] bool is_open(std::uint32_t stag) const;
  /// Adds the checks that the range fails (RFC 5041 section 7.1; for a Read's source RFC 5040
  /// section 7.2). `length` is not 0: an empty range is not checked (RFC 5041 section 5.2).
  void check(std::uint32_t stag, std::uint64_t offset, std::uint64_t length, Use use,
             const Accessor& by, Faults& faults);
  bool operator==(const Memory&) const = default;
};

}  // namespace suite::model
