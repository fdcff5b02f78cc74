// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Who depends on whom among a consumer's resources, so that one release takes everything built on
// it down first.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <vector>

namespace rnic::access {

enum class Resource : std::uint64_t { none = 0 };  // NOLINT(performance-enum-size): a number

/// A resource may rest on several others (a queue pair on its domain and its completion queues).
class ResourceTree {
 public:
  ResourceTree() = default;
  ~ResourceTree() { release_all(); }
  ResourceTree(const ResourceTree&) = delete;
  ResourceTree& operator=(const ResourceTree&) = delete;

  /// `release` is called once, when this resource goes and nothing rests on it any more. Parents
  /// that are none or gone are passed over.
  Resource add(std::function<void()> release, std::initializer_list<Resource> parents = {});
  /// Another parent, for what came to rest on it later.
  void rest_on(Resource child, Resource parent);
  /// Releases what rests on it, the latest first, then itself. False if it is not there.
  bool release(Resource resource);
  /// Everything, the latest first.
  void release_all();
  /// Forgets it without a call, for what is gone by itself.
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
