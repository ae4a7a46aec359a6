#include "analysis/static/section_views.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>

#include <algorithm>

namespace cleave::static_analysis {

using namespace llvm;

namespace {

bool inside(const Sections& sections, const Instruction* at, SectionId id) {
  const std::vector<SectionId>& around = sections.around(at);
  return std::find(around.begin(), around.end(), id) != around.end();
}

// All ways in which the access may extend the views.
std::set<View> extended(const std::set<View>& views, const Touch& touch, bool write) {
  if (!touch) return views;
  std::set<View> result;
  for (const View& view : views) {
    for (const std::vector<VarId>& alternative : touch.alternatives) {
      View next = view;
      (write ? next.writes : next.reads).insert(alternative.begin(), alternative.end());
      result.insert(std::move(next));
    }
  }
  return result;
}

}  // namespace

SectionViews::SectionViews(const Accesses& accesses, const Sections& sections, ControlFlows& flows,
                           bool paths)
    : contents_(sections.all().size()), views_(sections.all().size()) {
  for (const Access& access : accesses.all()) {
    for (SectionId id : sections.around(access.at)) {
      Contents& contents = contents_[id];
      contents.accesses.push_back(&access);
      contents.reads.insert(access.read.variables.begin(), access.read.variables.end());
      contents.writes.insert(access.write.variables.begin(), access.write.variables.end());
    }
  }
  for (SectionId id = 0; id < contents_.size(); ++id) {
    if (paths) walk(id, sections, accesses, flows);
    if (views_[id].empty()) views_[id] = {whole(id)};
    if (sections[id].claim) continue;
    for (const View& view : views_[id]) {
      if (view.writes.size() > 64) continue;
      for (VarId a : view.writes) {
        for (VarId b : view.writes) together_.insert({a, b});
      }
    }
  }
}

View SectionViews::whole(SectionId id) const { return {id, contents_[id].reads, contents_[id].writes}; }

// Blocks in reverse post-order, each loop taken at most once. What functions that were not expanded access is
// part of every path.
void SectionViews::walk(SectionId id, const Sections& sections, const Accesses& accesses,
                        ControlFlows& flows) {
  const Instruction* begin = sections[id].begin;
  const Function* function = begin->getFunction();
  View first{id, {}, {}};
  for (const Access* access : contents_[id].accesses) {
    if (access->at->getFunction() == function) continue;
    first.reads.insert(access->read.variables.begin(), access->read.variables.end());
    first.writes.insert(access->write.variables.begin(), access->write.variables.end());
  }
  std::map<const BasicBlock*, std::set<View>> states;
  std::map<const BasicBlock*, size_t> position;
  std::set<View> finished;
  ReversePostOrderTraversal<const Function*> order(function);
  size_t count = 0;
  for (const BasicBlock* block : order) position[block] = count++;
  for (const BasicBlock* block : order) {
    std::set<View> state = states[block];
    const Instruction* at = &block->front();
    if (block == begin->getParent()) {
      finished.insert(state.begin(), state.end());
      state = {first};
      at = begin->getNextNode();
    }
    for (; at != nullptr && !state.empty(); at = at->getNextNode()) {
      if (!inside(sections, at, id)) {
        finished.insert(state.begin(), state.end());
        state.clear();
        break;
      }
      if (const Access* access = accesses.at(at))
        state = extended(extended(state, access->read, false), access->write, true);
      if (state.size() > kMostPaths || finished.size() > kMostPaths) {
        ++merged_;
        return;
      }
    }
    for (const BasicBlock* next : flows.of(*function).ways(block)) {
      if (position[next] <= position[block]) {  // another round
        finished.insert(state.begin(), state.end());
      } else {
        states[next].insert(state.begin(), state.end());
      }
    }
  }
  views_[id].assign(finished.begin(), finished.end());
}

}  // namespace cleave::static_analysis
