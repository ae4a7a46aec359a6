// Builds a module's SiteTables from its IR. Everything is entered once and numbered in the order it is met,
// so the same module gives the same bytes.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "pass/mark/accessors.h"
#include "tables/site_tables.h"

namespace cleave {

// What an access touches, as the source calls it.
struct AccessName {
  llvm::StringRef variable, type;
  const llvm::DICompositeType* object = nullptr;  // the outermost class known
  uint64_t offset = 0;                            // from its start
  bool through_own = false;                       // SiteEntry::kThroughOwn
};

class TableBuilder {
 public:
  explicit TableBuilder(llvm::Module& module);

  uint32_t string(llvm::StringRef text);
  uint32_t function(const llvm::Function& function);
  uint32_t function(const llvm::DISubprogram* function);
  uint32_t type(const llvm::DIType* type);  // kNoIndex when it is no class
  uint32_t site(const llvm::DILocation* location, const llvm::Function& function,
                const AccessName& name = {});
  uint32_t unit(const std::string& name, uint32_t source, uint32_t function, uint32_t type);
  // Index of a global for Source::Global, or kNoIndex when its address must be recorded: it is defined
  // elsewhere, is thread-local, or could be dropped by the linker on its own.
  uint32_t global(llvm::GlobalVariable& variable);
  // Enters every variable that the module defines, so that an address can be named whoever uses it.
  void add_defined_globals();

  // Calls there are SiteEntry::kThroughOwn.
  void note_call_through_own(const llvm::DILocation* location);
  // The function is a plain getter or setter.
  void note_accessor(const llvm::DISubprogram* function, Accessor accessor);
  // CLEAVE_SET, CLEAVE_OWNED on the field of `type` at `offset`.
  void annotate_field(const llvm::DICompositeType* type, uint64_t offset, llvm::StringRef annotation);

  SiteTables tables;
  std::vector<llvm::GlobalVariable*> globals;

 private:
  uint32_t function_named(llvm::StringRef linkage, const llvm::DISubprogram* function);
  uint32_t plain_site(const SiteEntry& entry);
  void fill_type(uint32_t index, const llvm::DICompositeType* type);
  void fill_field(FieldEntry& field, const llvm::DIDerivedType* member);
  void fill_global(GlobalEntry& entry, llvm::GlobalVariable& variable);

  llvm::Module& module_;
  llvm::StringMap<uint32_t> strings_;
  llvm::StringMap<uint32_t> functions_;
  llvm::DenseMap<const llvm::DICompositeType*, uint32_t> types_;
  llvm::StringMap<uint32_t> types_by_identifier_;
  llvm::DenseMap<const llvm::GlobalVariable*, uint32_t> globals_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                      uint32_t, uint32_t>,
           uint32_t>
      sites_;
  std::set<std::tuple<const void*, unsigned, unsigned>> calls_through_own_;  // scope, line, column
  std::map<std::tuple<std::string, uint32_t, uint32_t>, uint32_t> units_;
};

}  // namespace cleave
