// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// ib_alloc_mr and ib_map_mr_sg of the kernel's verbs: lists of few pages, of as many as a region is
// allocated for, of one more; and regions that begin and end inside a page.
#include "suite/cases/kmem/registration_steps.hpp"

namespace suite::cases {

namespace {

/// Runs it as rows for lists of one page, of some, and of as many as the IUT states.
void for_each_length(Body& body, const std::function<void(std::uint32_t)>& what) {
  body.row("one page", [&] { what(1); });
  body.row("seven pages", [&] { what(7); });
  body.row("most pages", [&] {
    constexpr std::int64_t feasible = 1024;
    const auto most = body.iut.limits().find("max_pages");
    if (most == body.iut.limits().end() || most->second > feasible)
      throw lacking_limit("max_pages", "the IUT states no max_pages that can be tried");
    what(static_cast<std::uint32_t>(most->second));
  });
}

/// Registers so many pages, and reads around the boundaries of at most nine of them.
void expect_whole(Body& body, Region& region, std::uint32_t pages) {
  const std::uint32_t page = page_of(body), length = pages * page;
  expect_registered(body, region, 0, length, "kmem.pages.whole-list-registered");
  const auto readable = [&](std::uint32_t offset) {
    expect_readable(body, region, offset, part_of(region.contents, offset, 8),
                    "kmem.pages.whole-list-registered");
  };
  readable(0);
  const std::uint32_t step = pages / 8 + 1;
  for (std::uint32_t at = step; at < pages; at += step) readable(at * page - 4);
  readable(length - 8);
}

}  // namespace

CONFORMANCE_CASE(region_has_as_many_pages_as_it_was_allocated_for,
                 rules("kmem.pages.whole-list-registered"), needs(capability::fast_registration),
                 deadline_of(20s)) {
  for_each_length(*this, [&](std::uint32_t pages) {
    see_iut_send();
    Region region = iut.allocate_region(std::uint64_t{pages} * page_of(*this), pages);
    iut.write_memory(region, PayloadGenerator(pages).octets(region.length));
    expect_whole(*this, region, pages);
  });
}

CONFORMANCE_CASE(region_is_registered_for_no_more_pages_than_it_was_allocated_for,
                 rules("kmem.pages.no-more-than-allocated", "kmem.pages.whole-list-registered"),
                 needs(capability::fast_registration), deadline_of(20s)) {
  const auto refused = [&](Region& region, std::uint64_t offset, std::uint32_t length) {
    const Attempt attempt = iut.try_registration(region, remote_use, offset, length);
    expect_refused_or(attempt, completes_in_error(), "kmem.pages.no-more-than-allocated");
    return !attempt.taken();
  };
  for_each_length(*this, [&](std::uint32_t pages) {
    see_iut_send();
    const std::uint32_t page = page_of(*this);
    Region region = iut.allocate_region((std::uint64_t{pages} + 1) * page, pages);
    // A request that fails has ended the connection.
    if (refused(region, 0, pages * page + 1) && refused(region, page - 1, pages * page))
      expect_whole(*this, region, pages);
  });
}

CONFORMANCE_CASE(region_begins_and_ends_inside_its_pages,
                 rules("kmem.pages.first-and-last-in-part"), needs(capability::fast_registration),
                 in_both_roles) {
  constexpr std::uint32_t inset = 100;
  const std::uint32_t page = page_of(*this), length = page + 50;
  const auto registered = [&] {
    see_iut_send();
    Region region = iut.allocate_region(2 * page, 2);
    iut.register_part(region, remote_use, inset, length);
    return region;
  };
  row("all of it", [&] {
    const Region region = registered();
    peer.send(rdma_write(region.stag, region.base, payload(length)));
    expect(region, holds(payload(length), inset));
    expect_readable(*this, region, length - 8, part_of(payload(length), length - 8, 8),
                    "kmem.pages.first-and-last-in-part");
  });
  const auto beside = [&](const char* name, std::uint64_t offset) {
    row(fmt::format("written {}", name), [&] {
      const Region region = registered();
      peer.send(rdma_write(region.stag, region.base + offset, payload(8)));
      expect(peer, any_terminate() | torn_down());
      expect(region, unchanged);
    });
    row(fmt::format("read {}", name), [&] {
      const Region region = registered();
      peer.send(read_of(region.stag, region.base + offset, 8));
      expect(peer, any_terminate() | torn_down());
    });
  };
  beside("from one octet before", ~std::uint64_t{0});
  beside("to one octet behind", length - 7);
}

CASES_OF_FILE(kmem, page_lists)

}  // namespace suite::cases
