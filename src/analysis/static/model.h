// All that is known of a program before rules are applied to it; each part builds on those before it.
#pragma once

#include <memory>

#include "analysis/static/accesses.h"
#include "analysis/static/control_flow.h"
#include "analysis/static/dependences.h"
#include "analysis/static/points_to.h"
#include "analysis/static/processes.h"
#include "analysis/static/section_views.h"
#include "analysis/static/sections.h"
#include "analysis/static/static_analysis.h"
#include "analysis/static/whole_program.h"

namespace cleave::static_analysis {

struct Model {
  Model(WholeProgram& program, const StaticOptions& chosen)
      : options(chosen),
        whole(program),
        points_to(program.module(), array_bounds(program)),
        processes(program.module(), points_to, flows),
        sections(program, points_to, processes),
        accesses(program, points_to, processes, chosen.paper),
        views(accesses, sections, flows, !chosen.paper && !chosen.artho),
        dependences(accesses, points_to, processes, sections, flows, program.module()) {}

  // A first look at the pointers tells which classes objects are of, and so where arrays in them end.
  static ArrayBounds array_bounds(const WholeProgram& program) {
    const PointsTo first(program.module());
    return ObjectClasses(program, first).arrays(first);
  }

  const StaticOptions& options;
  const WholeProgram& whole;
  ControlFlows flows;
  PointsTo points_to;
  Processes processes;
  Sections sections;
  Accesses accesses;
  SectionViews views;
  DependenceFinder dependences;

  const ControlFlow& flows_of(const llvm::Function& function) { return flows.of(function); }
  // The paper knows no locks that two sections share, and no threads that have not begun or have ended.
  bool parallel(const llvm::Instruction* a, uint32_t p, const llvm::Instruction* b, uint32_t q) const {
    if (options.paper || options.artho) return p != q || processes.all()[p].several;
    return processes.parallel(a, p, b, q);
  }
};

}  // namespace cleave::static_analysis
