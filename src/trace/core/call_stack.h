// Calling contexts of a recorded program: a tree of call sites, shared by all threads, and each thread's
// place in it. A context is one number an event; the frames that inlining removed come back from the sites'
// inlined_at.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "trace/core/trace.h"
#include "trace/recorded/address_space.h"

namespace cleave {

class ContextTree {
 public:
  ContextTree(TraceBuilder& builder, AddressSpace& directory) : builder_(builder), directory_(directory) {}

  ContextId node(ContextId parent, SiteId call_site) {
    uint64_t key = uint64_t{raw(parent)} << 32 | raw(call_site);
    Line& line = lines_[key * 0x9e3779b97f4a7c15ull >> 52];
    if (line.key == key && line.context != kNone<ContextId>) return line.context;
    auto [it, fresh] = nodes_.emplace(key, kNone<ContextId>);
    if (fresh) it->second = builder_.add_context({parent, call_site});
    line = {key, it->second};
    return it->second;
  }
  // The context of code at a site that was inlined into the call at `inlined_at`.
  ContextId inlined(ContextId frame, const Module& module, uint32_t inlined_at) {
    if (inlined_at == kNoIndex) return frame;
    uint64_t key = uint64_t{raw(frame)} << 32 | inlined_at;
    InlinedLine& line = inlined_lines_[key * 0x9e3779b97f4a7c15ull >> 52];
    if (line.key == key && line.module == &module) return line.context;
    ContextId outer =
        inlined(frame, module, module.tables.sites[inlined_at].inlined_at);  // depth: that of the tables
    ContextId context = node(outer, directory_.site(module, inlined_at));
    line = {key, &module, context};
    return context;
  }

 private:
  // What was asked for lately, by hash: a call costs no lookup in the tree as a rule.
  struct Line {
    uint64_t key = 0;
    ContextId context = kNone<ContextId>;
  };
  struct InlinedLine {
    uint64_t key = 0;
    const Module* module = nullptr;
    ContextId context = kNone<ContextId>;
  };
  static constexpr size_t kLines = 4096;
  std::vector<Line> lines_ = std::vector<Line>(kLines);
  std::vector<InlinedLine> inlined_lines_ = std::vector<InlinedLine>(kLines);
  TraceBuilder& builder_;
  AddressSpace& directory_;
  boost::unordered_flat_map<uint64_t, ContextId> nodes_;
};

// One thread's stack, rebuilt from the slots Call, Enter, Exit and Landing.
class CallStack {
 public:
  struct Frame {
    ContextId context = kNone<ContextId>;
    uint64_t token = 0;                   // names the frame for a landing; 0: nobody lands here
    ContextId callee = kNone<ContextId>;  // context of whatever is entered next
    TableSite call;                       // the last call made from here
    // The inlined context asked for last.
    const Module* module = nullptr;
    uint32_t inlined_at = kNoIndex;
    ContextId inlined = kNone<ContextId>;
  };

  CallStack() { frames_.emplace_back(); }

  size_t depth() const { return frames_.size(); }
  const TableSite& last_call() const { return frames_.back().call; }
  // The innermost call for which `fits`; the last call if there is none. O(depth).
  template <typename Fits>
  const TableSite& last_call_that(Fits&& fits) const {
    for (size_t i = frames_.size(); i > 0; --i) {
      if (frames_[i - 1].call && fits(frames_[i - 1].call)) return frames_[i - 1].call;
    }
    return last_call();
  }

  void call(ContextTree& tree, AddressSpace& directory, const Module& module, uint32_t site,
            uint32_t inlined_at) {
    ContextId here = context(tree, module, inlined_at);
    Frame& frame = frames_.back();
    frame.call = {&module, site};
    frame.callee = site == kNoIndex ? here : tree.node(here, directory.site(module, site));
  }
  void enter(uint64_t token) {
    ContextId callee = frames_.back().callee;
    if (callee == kNone<ContextId>) callee = frames_.back().context;
    frames_.push_back({.context = callee, .token = token});
  }
  void exit() {
    if (frames_.size() > 1) frames_.pop_back();
  }
  // Back in the frame with this token; frames above it are gone. A token nobody has changes nothing.
  void land(uint64_t token) {
    for (size_t i = frames_.size(); i > 1; --i) {
      if (frames_[i - 1].token != token) continue;
      frames_.resize(i);
      return;
    }
  }
  ContextId context(ContextTree& tree, const Module& module, uint32_t inlined_at) {
    Frame& frame = frames_.back();
    if (inlined_at == kNoIndex) return frame.context;
    if (frame.inlined_at != inlined_at || frame.module != &module) {
      frame.inlined = tree.inlined(frame.context, module, inlined_at);
      frame.inlined_at = inlined_at;
      frame.module = &module;
    }
    return frame.inlined;
  }

 private:
  std::vector<Frame> frames_;
};

}  // namespace cleave
