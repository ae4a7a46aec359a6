#include "units/dataflow.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "abi/record.h"
#include "trace/recorded/records.h"

namespace cleave::units {
namespace {

using dependence::Element;
using dependence::ElementKind;
using dependence::FunctionFlow;
using dependence::kNoElement;
using dependence::Origin;
using dependence::Origins;

// A module of the trace with its tables: which element stands behind a slot, found once.
struct ModuleView {
  const Module* module = nullptr;
  const dependence::ModuleFlow* flow = nullptr;
  std::vector<uint32_t> function;                    // by segment: index into flow->functions
  std::vector<std::pair<uint32_t, uint32_t>> whole;  // by segment: of a leg, the segment and the first slot
};

class Views {
 public:
  Views(const TraceFile& file, const dependence::ProgramFlow& program) {
    for (const Module& module : file.modules().all()) {
      ModuleView& view = views_[&module];
      view.module = &module;
      view.flow = program.find(module.identity);
      fill(view);
    }
  }
  const ModuleView* of(const Module* module) const {
    auto it = views_.find(module);
    return it == views_.end() || it->second.flow == nullptr ? nullptr : &it->second;
  }

 private:
  static void fill(ModuleView& view) {
    const std::vector<SegmentTable>& segments = view.module->tables.segments;
    view.function.assign(segments.size(), UINT32_MAX);
    view.whole.resize(segments.size());
    uint32_t base = 0, first = 0, left = 0;
    for (uint32_t s = 0; s < segments.size(); ++s) {
      const uint32_t function = segments[s].function;
      if (view.flow != nullptr && function != kNoIndex && function < view.module->tables.functions.size())
        view.function[s] = view.flow->find(view.module->tables.functions[function].linkage);
      if (left > 0) {  // a leg of `base`
        view.whole[s] = {base, first};
        const auto slots = static_cast<uint32_t>(segments[s].slots.size());
        first += slots;
        left -= std::min(left, slots);
        continue;
      }
      view.whole[s] = {s, 0};
      if ((segments[s].flags & CLEAVE_SEGMENT_LEGS) != 0)
        base = s, first = 0, left = static_cast<uint32_t>(segments[s].slots.size());
    }
  }
  std::map<const Module*, ModuleView> views_;
};

struct Frame {
  const ModuleView* view = nullptr;
  uint32_t number = UINT32_MAX;  // of the function in its module
  const FunctionFlow* function = nullptr;
  uint64_t token = 0;
  bool entered = false;  // has an Enter, and so will have an Exit
  std::vector<TagSet> parameters, results;
  TagSet control, decided;     // what decided that it was called
  uint32_t call = kNoElement;  // under way
  bool call_entered = false;
  std::vector<TagSet> arguments;  // of it
  TagSet call_control, call_decided;
  void reset(const ModuleView* in, uint32_t function_number) {
    view = in;
    number = function_number;
    function = number == UINT32_MAX ? nullptr : &view->flow->functions[number];
    token = 0;
    entered = call_entered = false;
    parameters.assign(function == nullptr ? 0 : function->parameters, {});
    results.assign(function == nullptr ? 0 : function->elements.size(), {});
    control.clear();
    decided.clear();
    call = kNoElement;
    arguments.clear();
    call_control.clear();
    call_decided.clear();
  }
};

class ThreadWalk {
 public:
  ThreadWalk(const RecordedTrace& recorded, const Views& views, ThreadId thread, std::vector<uint32_t> events,
             FlowListener& listener)
      : recorded_(recorded), views_(views), listener_(listener), events_(std::move(events)) {
    listener_.begin_thread(thread);
    cursor_ = std::make_unique<RecordCursor>(*recorded.file, recorded.lane_of_thread[raw(thread)]);
  }

  void run() {
    while (const Record* record = cursor_->next()) {
      if (record->kind == RecordKind::segment)
        segment(*record);
      else
        runtime(*record);
    }
    while (next_ < events_.size()) plain(events_[next_++]);
  }

 private:
  // The events up to this place of the records, and those of it.
  std::span<const uint32_t> events_at(uint64_t record, uint32_t slot) {
    auto before = [&](uint32_t event) {
      const EventOrigin& origin = recorded_.origins[event];
      return origin.record < record || (origin.record == record && origin.slot < slot);
    };
    while (next_ < events_.size() && before(events_[next_])) plain(events_[next_++]);
    const size_t first = next_;
    while (next_ < events_.size() && recorded_.origins[events_[next_]] == EventOrigin{record, slot}) ++next_;
    return {events_.data() + first, next_ - first};
  }
  // An event of which no instruction is known.
  void plain(uint32_t event) {
    const EventIndex index{event};
    if (!is_access(recorded_.trace.event(index).kind)) return listener_.event(index);
    access(index, nullptr);
  }

  void segment(const Record& record) {
    const SegmentPlan& plan = *record.segment;
    const ModuleView* view = views_.of(plan.module);
    const uint32_t function = view == nullptr ? UINT32_MAX : view->function[plan.index];
    for (uint32_t s = 0; s < plan.slots.size(); ++s) {
      const SlotPlan& slot = plan.slots[s];
      std::span<const uint32_t> events = events_at(record.number, s);
      const uint64_t value =
          slot.value_source == Source::Word ? record.words[slot.value_index] : slot.value_constant;
      if (slot.kind == SlotKind::Enter) {
        enter(view, function, true);
        top().token = value;
      } else if (slot.kind == SlotKind::Landing) {
        land(value);
      } else {
        be_in(view, function);
      }
      const Element* element = element_at(view, plan.index, s);
      for (uint32_t event : events) told(EventIndex{event}, element);
      if (slot.kind == SlotKind::Call) call(element);
      if (slot.kind == SlotKind::Exit) leave();
    }
  }

  // Atomics and ranges belong to an instruction; other records of the runtime do not.
  void runtime(const Record& record) {
    size_t word = SIZE_MAX;
    if (record.kind == RecordKind::atomic || record.kind == RecordKind::fence) word = 0;
    if (record.kind == RecordKind::range_read || record.kind == RecordKind::range_write) word = 1;
    const SegmentPlan* plan =
        word < record.words.size()
            ? recorded_.file->modules().find(record.words[word] & CLEAVE_HEADER_ADDRESS_MASK, UINT64_MAX - 1)
            : nullptr;
    std::span<const uint32_t> events = events_at(record.number, 0);
    const Element* element = nullptr;
    if (plan != nullptr) {
      const ModuleView* view = views_.of(plan->module);
      be_in(view, view == nullptr ? UINT32_MAX : view->function[plan->index]);
      element = element_at(view, plan->index, 0);
    }
    for (uint32_t event : events) told(EventIndex{event}, element);
  }

  void told(EventIndex event, const Element* element) {
    if (!is_access(recorded_.trace.event(event).kind)) return listener_.event(event);
    access(event, element);
  }

  const Element* element_at(const ModuleView* view, uint32_t segment, uint32_t slot) const {
    if (view == nullptr || frames_.empty() || top().function == nullptr) return nullptr;
    const auto [whole, first] = view->whole[segment];
    const auto place = view->flow->at(whole, first + slot);
    if (place.function != top().number || view != top().view) return nullptr;
    return &top().function->elements[place.element];
  }

  Frame& top() { return *frames_[depth_ - 1]; }
  const Frame& top() const { return *frames_[depth_ - 1]; }

  void enter(const ModuleView* view, uint32_t function, bool with_record) {
    Frame* caller = depth_ == 0 ? nullptr : &top();
    if (depth_ == frames_.size()) frames_.push_back(std::make_unique<Frame>());
    Frame& frame = *frames_[depth_++];
    frame.reset(view, function);
    frame.entered = with_record;
    if (caller == nullptr || caller->call == kNoElement) return;
    caller->call_entered = true;
    frame.control = caller->call_control;
    frame.decided = caller->call_decided;
    const Element& call = caller->function->elements[caller->call];
    // Code outside the program may call back with whatever it was given.
    const bool direct = call.kind == ElementKind::Call && caller->arguments.size() == frame.parameters.size();
    TagSet any;
    if (!direct) {
      for (const TagSet& argument : caller->arguments) any.add(argument);
    }
    for (size_t p = 0; p < frame.parameters.size(); ++p)
      frame.parameters[p] = direct ? caller->arguments[p] : any;
  }

  void leave() {
    Frame& frame = top();
    TagSet result;
    if (frame.function != nullptr) {
      result = values_of(frame.function->returned);
      if (result.size() > 1) listener_.meeting(result, false);
    }
    --depth_;
    if (depth_ == 0) return;
    Frame& caller = top();
    if (caller.call == kNoElement) return;
    const Element& call = caller.function->elements[caller.call];
    TagSet& known = caller.results[caller.call];
    if (call.kind == ElementKind::Opaque)
      known.add(result);
    else
      known = std::move(result);
  }

  void land(uint64_t token) {
    for (size_t d = depth_; d > 0; --d) {
      if (!frames_[d - 1]->entered || frames_[d - 1]->token != token) continue;
      depth_ = d;
      top().call = kNoElement;
      return;
    }
  }

  // What comes is of this function: leaf functions have no records of their beginning and end.
  void be_in(const ModuleView* view, uint32_t function) {
    auto here = [&] { return depth_ > 0 && top().view == view && top().number == function; };
    if (here()) return end_call();
    while (depth_ > 0 && !top().entered && !here()) leave();
    if (here()) return end_call();
    enter(view, function, false);
  }

  // Control is back from a call, if one was under way. Of one that left no record the tables tell the result.
  void end_call() {
    Frame& frame = top();
    if (frame.call == kNoElement) return;
    const Element& call = frame.function->elements[frame.call];
    if (!frame.call_entered && call.kind == ElementKind::Call) {
      const uint32_t callee = frame.view->flow->find(call.callee);
      TagSet result;
      for (size_t a = 0; a < frame.arguments.size(); ++a) {
        const Origin parameter{Origin::Kind::Parameter, static_cast<uint32_t>(a)};
        const bool returned =
            callee == UINT32_MAX ||
            std::binary_search(frame.view->flow->functions[callee].returned.begin(),
                               frame.view->flow->functions[callee].returned.end(), parameter);
        if (returned) result.add(frame.arguments[a]);
      }
      frame.results[frame.call] = std::move(result);
    }
    frame.call = kNoElement;
  }

  void call(const Element* element) {
    if (element == nullptr || (element->kind != ElementKind::Call && element->kind != ElementKind::Opaque))
      return;
    Frame& frame = top();
    frame.call = static_cast<uint32_t>(element - frame.function->elements.data());
    frame.call_entered = false;
    frame.call_decided.clear();
    frame.call_control = control_of(*element, frame.call_decided);
    frame.arguments.clear();
    TagSet all;
    for (const Origins& argument : element->arguments) {
      frame.arguments.push_back(values_of(argument));
      all.add(frame.arguments.back());
    }
    if (all.size() > 1) listener_.meeting(all, false);
    if (element->kind == ElementKind::Opaque) {
      all.add(frame.results[frame.call]);  // ranges that it has read
      frame.results[frame.call] = std::move(all);
    } else {
      frame.results[frame.call].clear();
    }
  }

  TagSet values_of(const Origins& origins) {
    TagSet set;
    Frame& frame = top();
    for (const Origin& origin : origins) {
      if (origin.kind == Origin::Kind::Element)
        set.add(frame.results[origin.index]);
      else
        set.add(frame.parameters[origin.index]);
    }
    return set;
  }
  TagSet control_of(const Element& element, TagSet& decided) {
    TagSet set;
    Frame& frame = top();
    set.add(frame.control, true);
    decided.add(frame.decided);
    for (uint32_t branch : element.decided_by) {
      const TagSet condition = values_of(frame.function->branches[branch].condition);
      if (condition.empty()) continue;
      if (condition.size() > 1) listener_.meeting(condition, true);
      const dependence::Branch& known = frame.function->branches[branch];
      if (!known.library && !known.fails) decided.add(condition);
      set.add(condition, true);
    }
    return set;
  }

  void access(EventIndex index, const Element* element) {
    const Event& event = recorded_.trace.event(index);
    AccessFlow flow;
    flow.event = index;
    if (element != nullptr) {
      flow.address = values_of(element->address);
      if (element->kind == ElementKind::Opaque || element->kind == ElementKind::Call) {
        for (const Origins& argument : element->arguments) flow.value.add(values_of(argument));
      }
      flow.value.add(values_of(element->value));
      flow.control = control_of(*element, flow.decided);
      flow.compares = element->compares;
    }
    TagSet* result = nullptr;
    if (element != nullptr)
      result = &top().results[static_cast<size_t>(element - top().function->elements.data())];
    const bool ranges = element != nullptr && element->kind != ElementKind::Read &&
                        element->kind != ElementKind::Write && element->kind != ElementKind::Update;
    if (ranges && writes(event.kind) && result != nullptr) flow.value.add(*result);
    listener_.access(flow);
    if (writes(event.kind) && flow.value.size() > 1) listener_.meeting(flow.value, false);
    if (reads(event.kind) && result != nullptr) {
      if (!ranges) result->clear();
      Tag tag = 0;
      if (listener_.tag(index, flow.compares, &tag)) result->add(tag);
      result->add(flow.address);
      auto carried = memory_.find(event.object);
      if (carried != memory_.end()) result->add(carried->second);
    }
    if (!writes(event.kind)) return;
    if (listener_.carries(event.variable())) {
      flow.value.add(flow.address);
      if (flow.value.empty())
        memory_.erase(event.object);
      else
        memory_[event.object] = std::move(flow.value);
    }
  }

  const RecordedTrace& recorded_;
  const Views& views_;
  FlowListener& listener_;
  std::vector<uint32_t> events_;
  size_t next_ = 0;
  std::unique_ptr<RecordCursor> cursor_;
  std::vector<std::unique_ptr<Frame>> frames_;  // those beyond depth_ keep their memory for later
  size_t depth_ = 0;
  boost::unordered_flat_map<uint32_t, TagSet> memory_;  // by variable: what the thread wrote there
};

}  // namespace

void follow_values(const RecordedTrace& recorded, const dependence::ProgramFlow& program,
                   FlowListener& listener) {
  if (!recorded.file || recorded.origins.empty()) return;
  std::vector<std::vector<uint32_t>> events(recorded.trace.threads().size());
  for (size_t e = 0; e < recorded.trace.size(); ++e)
    events[raw(recorded.trace.events()[e].thread)].push_back(static_cast<uint32_t>(e));
  const Views views(*recorded.file, program);
  for (size_t t = 0; t < events.size(); ++t) {
    if (t >= recorded.lane_of_thread.size() || recorded.lane_of_thread[t] == SIZE_MAX) continue;
    ThreadWalk(recorded, views, ThreadId{static_cast<uint32_t>(t)}, std::move(events[t]), listener).run();
  }
}

}  // namespace cleave::units
