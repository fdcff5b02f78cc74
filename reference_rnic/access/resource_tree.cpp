// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Release in an order in which no resource is used after its end.
#include "reference_rnic/access/resource_tree.hpp"

#include <algorithm>
#include <utility>

namespace rnic::access {

Resource ResourceTree::add(std::function<void()> release, std::initializer_list<Resource> parents) {
  const Resource resource{next_++};
  Node& node = nodes_[resource];
  node.release = std::move(release);
  for (const Resource parent : parents) rest_on(resource, parent);
  return resource;
}

void ResourceTree::rest_on(Resource child, Resource parent) {
  const auto found = nodes_.find(child);
  // Only on older ones: then there can be no cycle.
  if (found != nodes_.end() && parent < child && nodes_.contains(parent))
    found->second.parents.push_back(parent);
}

bool ResourceTree::release(Resource resource) {
  if (!nodes_.contains(resource)) return false;
  for (Resource child = latest_child(resource); child != Resource::none;
       child = latest_child(resource))
    release(child);
  const auto found = nodes_.find(resource);
  if (found == nodes_.end()) return true;  // the release of a child has released it
  const auto call = std::move(found->second.release);
  nodes_.erase(found);
  if (call) call();
  return true;
}

void ResourceTree::release_all() {
  while (!nodes_.empty()) release(nodes_.rbegin()->first);
}

void ResourceTree::forget(Resource resource) { nodes_.erase(resource); }

bool ResourceTree::has_children(Resource resource) const {
  return latest_child(resource) != Resource::none;
}

Resource ResourceTree::latest_child(Resource parent) const {
  for (auto node = nodes_.rbegin(); node != nodes_.rend() && node->first > parent; ++node)
    if (std::ranges::find(node->second.parents, parent) != node->second.parents.end())
      return node->first;
  return Resource::none;
}

}  // namespace rnic::access
