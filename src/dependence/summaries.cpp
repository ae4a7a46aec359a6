#include "dependence/summaries.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace cleave::dependence {
namespace {

bool is_access(const Element& element) {
  return element.kind != ElementKind::Call && element.kind != ElementKind::Opaque;
}

bool reads(const Element& element) {
  return element.kind == ElementKind::Read || element.kind == ElementKind::Update ||
         element.kind == ElementKind::Copy;
}

template <typename Value>
void sort_unique(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void add_reached(std::vector<Reached>& all, const ElementRef& access, Reach how) {
  auto it = std::lower_bound(all.begin(), all.end(), access,
                             [](const Reached& a, const ElementRef& b) { return a.access < b; });
  if (it == all.end() || it->access != access)
    all.insert(it, {access, how});
  else
    it->how = static_cast<Reach>(static_cast<uint8_t>(it->how) | static_cast<uint8_t>(how));
}

}  // namespace

Summaries::Summaries(const ProgramFlow& program) : program_(&program) {
  link();
  for (const ModuleFlow& module : program.modules) {
    std::vector<Summary>& all = summaries_.emplace_back(module.functions.size());
    for (size_t f = 0; f < all.size(); ++f) {
      all[f].returned_parameters.assign(module.functions[f].parameters, false);
      all[f].parameter_reaches.resize(module.functions[f].parameters);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t m = 0; m < program.modules.size(); ++m) {
      for (uint32_t f = 0; f < program.modules[m].functions.size(); ++f) changed |= update({m, f});
    }
  }
}

// By name: in the same module first, then in the others, where static functions cannot be meant.
void Summaries::link() {
  std::map<std::string_view, FunctionRef> everywhere;
  for (uint32_t m = 0; m < program_->modules.size(); ++m) {
    const std::vector<FunctionFlow>& functions = program_->modules[m].functions;
    for (uint32_t f = 0; f < functions.size(); ++f) {
      if (!functions[f].internal) everywhere.emplace(functions[f].linkage, FunctionRef{m, f});
    }
  }
  for (uint32_t m = 0; m < program_->modules.size(); ++m) {
    const ModuleFlow& module = program_->modules[m];
    auto& of_module = calls_.emplace_back();
    for (const FunctionFlow& function : module.functions) {
      auto& targets = of_module.emplace_back(function.elements.size());
      for (size_t e = 0; e < targets.size(); ++e) {
        const Element& element = function.elements[e];
        if (element.kind != ElementKind::Call || element.callee.empty()) continue;
        const uint32_t here = module.find(element.callee);
        auto there = everywhere.find(element.callee);
        if (here != UINT32_MAX)
          targets[e] = {m, here};
        else if (there != everywhere.end())
          targets[e] = there->second;
      }
    }
  }
}

const Summary& Summaries::of(FunctionRef function) const {
  return summaries_[function.module][function.function];
}

FunctionRef Summaries::callee(const ElementRef& call) const {
  return calls_[call.module][call.function][call.element];
}

const Element& Summaries::element(const ElementRef& ref) const {
  return program_->modules[ref.module].functions[ref.function].elements[ref.element];
}

// What an element's result brings, and which other origins it depends on.
void Summaries::expand(FunctionRef function, uint32_t number, Behind& found,
                       std::vector<Origin>& open) const {
  const Element& element = flow(function).elements[number];
  if (is_access(element)) {
    if (reads(element)) found.reads.push_back({{function.module, function.function, number}, number});
    open.insert(open.end(), element.address.begin(), element.address.end());
    if (element.kind == ElementKind::Copy)
      open.insert(open.end(), element.value.begin(), element.value.end());
    return;
  }
  const FunctionRef target = callee({function.module, function.function, number});
  const Summary* summary = target.module == UINT32_MAX ? nullptr : &of(target);
  if (summary != nullptr) {
    for (const ElementRef& read : summary->returned_reads) found.reads.push_back({read, number});
  }
  for (size_t a = 0; a < element.arguments.size(); ++a) {
    const bool returned =
        summary == nullptr || (a < summary->returned_parameters.size() && summary->returned_parameters[a]);
    if (returned) open.insert(open.end(), element.arguments[a].begin(), element.arguments[a].end());
  }
}

Summaries::Behind Summaries::behind(FunctionRef function, const Origins& origins) const {
  Behind found;
  std::vector<Origin> open = origins;
  std::set<Origin> seen;
  while (!open.empty()) {
    const Origin origin = open.back();
    open.pop_back();
    if (!seen.insert(origin).second) continue;
    if (origin.kind == Origin::Kind::Parameter)
      found.parameters.push_back(origin.index);
    else
      expand(function, origin.index, found, open);
  }
  sort_unique(found.reads);
  sort_unique(found.parameters);
  return found;
}

Origins Summaries::conditions(const FunctionFlow& flow, const Element& element) const {
  Origins all;
  for (uint32_t branch : element.decided_by) {
    const Origins& condition = flow.branches[branch].condition;
    all.insert(all.end(), condition.begin(), condition.end());
  }
  sort_unique(all);
  return all;
}

// Which parameters of the function reach this element, and what it does.
void Summaries::add_parameters(FunctionRef function, uint32_t number, Summary& summary) const {
  const Element& element = flow(function).elements[number];
  const ElementRef here{function.module, function.function, number};
  const Behind control = behind(function, conditions(flow(function), element));
  if (is_access(element)) {
    for (const Origins* origins : {&element.value, &element.address}) {
      for (uint32_t p : behind(function, *origins).parameters)
        add_reached(summary.parameter_reaches[p], here, Reach::Data);
    }
    for (uint32_t p : control.parameters) add_reached(summary.parameter_reaches[p], here, Reach::Control);
    return;
  }
  const FunctionRef target = callee(here);
  if (target.module == UINT32_MAX) return;
  const Summary& called = of(target);
  for (size_t a = 0; a < element.arguments.size() && a < called.parameter_reaches.size(); ++a) {
    const std::vector<Reached> reaches = called.parameter_reaches[a];  // of a recursive call it changes
    for (uint32_t p : behind(function, element.arguments[a]).parameters) {
      for (const Reached& reached : reaches)
        add_reached(summary.parameter_reaches[p], reached.access, reached.how);
    }
  }
  for (uint32_t p : control.parameters) {
    for (const ElementRef& access : called.accesses)
      add_reached(summary.parameter_reaches[p], access, Reach::Control);
  }
}

bool Summaries::update(FunctionRef function) {
  const FunctionFlow& flow = this->flow(function);
  Summary fresh = of(function);
  for (uint32_t e = 0; e < flow.elements.size(); ++e) {
    const ElementRef here{function.module, function.function, e};
    if (is_access(flow.elements[e])) {
      fresh.accesses.push_back(here);
    } else if (const FunctionRef target = callee(here); target.module != UINT32_MAX) {
      const std::vector<ElementRef>& more = of(target).accesses;
      fresh.accesses.insert(fresh.accesses.end(), more.begin(), more.end());
    }
    add_parameters(function, e, fresh);
  }
  sort_unique(fresh.accesses);
  const Behind returned = behind(function, flow.returned);
  for (const Brought& brought : returned.reads) fresh.returned_reads.push_back(brought.read);
  sort_unique(fresh.returned_reads);
  for (uint32_t p : returned.parameters) fresh.returned_parameters[p] = true;
  Summary& known = summaries_[function.module][function.function];
  if (known.accesses == fresh.accesses && known.returned_reads == fresh.returned_reads &&
      known.returned_parameters == fresh.returned_parameters &&
      known.parameter_reaches == fresh.parameter_reaches)
    return false;
  known = std::move(fresh);
  return true;
}

std::vector<Summaries::Dependence> Summaries::dependences(FunctionRef function) const {
  const FunctionFlow& flow = this->flow(function);
  std::vector<Dependence> result;
  for (uint32_t e = 0; e < flow.elements.size(); ++e) {
    const Element& element = flow.elements[e];
    const ElementRef here{function.module, function.function, e};
    auto add = [&](const Behind& what, const ElementRef& access, Reach how) {
      for (const Brought& brought : what.reads) {
        if (brought.from != e) result.push_back({brought.read, brought.from, access, e, how});
      }
    };
    const Behind control = behind(function, conditions(flow, element));
    if (is_access(element)) {
      add(behind(function, element.value), here, Reach::Data);
      add(behind(function, element.address), here, Reach::Data);
      add(control, here, Reach::Control);
      continue;
    }
    const FunctionRef target = callee(here);
    if (target.module == UINT32_MAX) continue;
    const Summary& called = of(target);
    for (size_t a = 0; a < element.arguments.size() && a < called.parameter_reaches.size(); ++a) {
      const Behind argument = behind(function, element.arguments[a]);
      for (const Reached& reached : called.parameter_reaches[a]) add(argument, reached.access, reached.how);
    }
    for (const ElementRef& access : called.accesses) add(control, access, Reach::Control);
  }
  return result;
}

std::vector<Summaries::Meeting> Summaries::meetings(FunctionRef function) const {
  const FunctionFlow& flow = this->flow(function);
  std::vector<Meeting> result;
  auto meet = [&](const Origins& origins, Meeting::Where where) {
    const std::vector<Brought> reads = behind(function, origins).reads;
    for (size_t i = 0; i < reads.size(); ++i) {
      for (size_t j = i + 1; j < reads.size(); ++j) {
        if (reads[i].from == reads[j].from) continue;
        const bool in_order = reads[i].from < reads[j].from;
        const Brought &a = reads[in_order ? i : j], &b = reads[in_order ? j : i];
        result.push_back({a.read, b.read, a.from, b.from, where});
      }
    }
  };
  for (const Element& element : flow.elements) {
    if (is_access(element)) {
      meet(element.value, Meeting::Where::Write);
      continue;
    }
    Origins all;
    for (const Origins& argument : element.arguments) all.insert(all.end(), argument.begin(), argument.end());
    sort_unique(all);
    meet(all, Meeting::Where::Call);
  }
  for (const Branch& branch : flow.branches) meet(branch.condition, Meeting::Where::Branch);
  meet(flow.returned, Meeting::Where::Result);
  return result;
}

}  // namespace cleave::dependence
