// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which of a consumer's resources depend on which, so that the release of one first releases
// everything that depends on it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <vector>

namespace rnic::access {

enum class Resource : std::uint64_t { none = 0 };  // NOLINT(performance-enum-size): a number

/// A resource may depend on several others (a queue pair on its domain and its completion queues).
class ResourceTree {
 public:
  ResourceTree() = default;
  ~ResourceTree() { release_all(); }
  ResourceTree(const ResourceTree&) = delete;
  ResourceTree& operator=(const ResourceTree&) = delete;

  /// `release` is called once, when this resource is released and nothing depends on it any more.
  /// Parents that are none or gone are ignored.
  Resource add(std::function<void()> release, std::initializer_list<Resource> parents = {});
  /// Adds another parent, for a dependency that arises later.
  void rest_on(Resource child, Resource parent);
  /// Releases what depends on it, the latest first, then itself. False if it does not exist.
  bool release(Resource resource);
  /// Releases everything, the latest first.
  void release_all();
  /// Forgets it without calling `release`, for a resource that has ended by itself.
  void forget(Resource resource);
  [[nodiscard]] bool contains(Resource resource) const { return nodes_.contains(resource); }
  [[nodiscard]] bool has_children(Resource resource) const;
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    std::function<void()> release;
    std::vector<Resource> parents;
  };
  [[nodiscard]] Resource latest_child(Resource parent) const;

  std::map<Resource, Node> nodes_;
  std::uint64_t next_ = 1;
};

}  // namespace rnic::access
