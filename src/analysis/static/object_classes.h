// Which class of the program lies where in each object, learned from the accesses that the site tables
// describe.
#pragma once

#include <map>

#include "analysis/static/points_to.h"
#include "analysis/static/whole_program.h"

namespace cleave::static_analysis {

class ObjectClasses {
 public:
  ObjectClasses(const WholeProgram& whole, const PointsTo& points_to);

  struct Field {
    Location start;        // of the field, as deep as the program's own classes go
    std::string name;      // Class::field.part; empty: no class is known there
    bool library = false;  // the field is an object of the standard library
    std::string type;      // its class, if it has one
  };
  Field field(Location location) const;
  // Arrays among the fields, for a second look at the pointers.
  ArrayBounds arrays(const PointsTo& points_to) const;

 private:
  struct Place {
    const SiteTables* tables;
    uint32_t type;
    const TypeEntry& entry() const { return tables->types[type]; }
  };
  std::map<uint32_t, std::map<uint64_t, Place>> classes_;
};

}  // namespace cleave::static_analysis
