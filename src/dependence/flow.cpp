#include "dependence/flow.h"

namespace cleave::dependence {

void ModuleFlow::index() {
  by_linkage_.clear();
  by_slot_.clear();
  for (uint32_t f = 0; f < functions.size(); ++f) {
    by_linkage_.emplace(functions[f].linkage, f);
    const std::vector<Element>& elements = functions[f].elements;
    for (uint32_t e = 0; e < elements.size(); ++e) {
      if (elements[e].segment != UINT32_MAX)
        by_slot_.emplace(std::pair(elements[e].segment, elements[e].slot), Place{f, e});
    }
  }
}

uint32_t ModuleFlow::find(std::string_view linkage) const {
  auto it = by_linkage_.find(linkage);
  return it == by_linkage_.end() ? UINT32_MAX : it->second;
}

ModuleFlow::Place ModuleFlow::at(uint32_t segment, uint32_t slot) const {
  // Wide accesses have several slots: the last one that begins at or before this one. The slots of a call, or
  // of a copy, are in several segments.
  auto it = by_slot_.upper_bound({segment, slot});
  if (it == by_slot_.begin()) return {};
  --it;
  if (it->first.first == segment) return it->second;
  const ElementKind kind = functions[it->second.function].elements[it->second.element].kind;
  const bool single = kind == ElementKind::Read || kind == ElementKind::Write || kind == ElementKind::Update;
  return single ? Place{} : it->second;
}

const ModuleFlow* ProgramFlow::find(uint64_t identity) const {
  for (const ModuleFlow& module : modules) {
    if (module.identity == identity) return &module;
  }
  return nullptr;
}

}  // namespace cleave::dependence
