// Names for what a recorded program touched: sites, units, globals, heap blocks, objects, variables,
// synchronization objects, found by address at the moment of first use. Slow paths only: an access of a known
// variable does not come here.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "trace/core/field_names.h"
#include "trace/core/stream.h"
#include "trace/core/table_growth.h"
#include "trace/core/trace.h"
#include "trace/recorded/modules.h"

namespace cleave {

// A place in a module's tables.
struct TableSite {
  const Module* module = nullptr;
  uint32_t site = kNoIndex;
  uint64_t address = 0, bytes = 0;  // of the whole access, where it is a range of memory
  explicit operator bool() const { return module != nullptr && site != kNoIndex; }
};

class AddressSpace {
 public:
  explicit AddressSpace(TraceBuilder& builder) : builder_(builder) {}

  // Takes in the globals of a module that was not there before.
  void add_module(const Module& module);

  SiteId site(const Module& module, uint32_t index) {
    if (module.number < site_ids_.size() && index < site_ids_[module.number].size()) {
      SiteId id = site_ids_[module.number][index];
      if (id != kNone<SiteId>) return id;
    }
    return site_slowly(module, index);
  }
  // Ids of all sites of a module as far as they are known, by index; kNone where site() has not been asked.
  const SiteId* sites(const Module& module) const {
    bool known = module.number < site_ids_.size() && !site_ids_[module.number].empty();
    return known ? site_ids_[module.number].data() : nullptr;
  }
  UnitNameId unit_name(const Module& module, uint32_t index) {
    if (module.number < unit_ids_.size() && index < unit_ids_[module.number].size()) {
      UnitNameId id = unit_ids_[module.number][index];
      if (id != kNone<UnitNameId>) return id;
    }
    return unit_name_slowly(module, index);
  }

  // Appends a variable for memory that has none yet. `value` is what the first access found there, if it was
  // a read.
  VariableId add_variable(uint64_t address, uint32_t bytes, TableSite site, const uint64_t* value);
  // Appends one for a part of a variable that is being split.
  VariableId add_part(VariableId whole, uint64_t address, uint32_t bytes, TableSite site);
  // Appends one for several words of memory that has none yet: as many of the words in [address, address +
  // bytes) as would be in one set, of one object and of one field, if each were a variable. At least the
  // first.
  VariableId add_stretch(uint64_t address, uint64_t bytes, TableSite site);
  // Shorter than this it does not pay.
  static constexpr uint64_t kLeastStretch = 32;
  // Whom to tell when it turns out that what lies in one stretch are several fields: the bounds of its parts.
  void on_cut(std::function<void(VariableId, std::span<const uint64_t>)> cut) { cut_ = std::move(cut); }

  SyncId sync(uint64_t address, SyncKind kind) {
    const SyncLine& line = sync_line(address);
    return line.address == address && line.kind == kind ? line.sync : sync_slowly(address, kind);
  }
  // One that was initialised again where another was: a new object.
  SyncId sync_anew(uint64_t address, SyncKind kind);
  // The object that a method of class `type` (of the module) was called on; kNone if there is no address.
  ObjectId self(uint64_t address, const Module& module, uint32_t type);

  // `called_for`: the call in the program's own code that asked for it, through however much of the
  // library's.
  ObjectId allocate(uint64_t address, uint64_t bytes, TableSite caller, TableSite called_for,
                    const char* how);
  // Whether the code of the site, or what it was inlined into, is not of the system's headers.
  bool in_program(TableSite site);
  // Of the block that begins there; 0 if none is known.
  uint64_t block_size(uint64_t address) const;
  // Its object; kNone if it is not known.
  ObjectId block_object(uint64_t address) const;
  // All that lies there. Variables are the caller's to end.
  void forget(uint64_t address, uint64_t bytes);
  // A container of the standard library has allocated the block at `block` for itself: that is part of what
  // holds the container. Or it has taken over what another container held (abi/hooks.h): a block that a
  // second object of the program comes to hold belongs to neither from then on, and its set is its own.
  void own(uint64_t container, uint64_t block);

  // An inner object that turned out to be a member, by value, of a later one: object and offset in it.
  struct Outer {
    ObjectId object;
    std::string prefix;  // path of the member: "inner."
  };
  const boost::unordered_flat_map<uint32_t, Outer>& outers() const { return outers_; }

  // From now on what ends is told to `ended`, and what is made takes the ids that were given back, the last
  // one first. An object ends when it lies nowhere and no variable and no other object is said to be in it.
  void reuse_ids(FreedIds& ended) { ended_ = &ended; }
  void give_back(const FreedIds& ids);
  bool reuses_ids() const { return ended_ != nullptr; }
  // The memory of these variables, which `ended` has, is no longer theirs.
  void end_variables(std::span<const VariableId> variables);
  // One that was split.
  void end_whole(VariableId variable);

  // An entry of the tables that is about to be changed, and which ones were.
  ThreadInfo& change(ThreadId id) { return note(touched_.threads, id), builder_.thread_info(id); }
  VariableInfo& change(VariableId id) { return note(touched_.variables, id), builder_.variable_info(id); }
  ObjectInfo& change(ObjectId id) { return note(touched_.objects, id), builder_.object_info(id); }
  SyncInfo& change(SyncId id) { return note(touched_.syncs, id), builder_.sync_info(id); }
  TouchedEntries& touched() { return touched_; }

 private:
  struct Global {
    uint64_t size = 0;
    const Module* module = nullptr;
    uint32_t index = 0;
  };
  struct Block {
    uint64_t size = 0;
    ObjectId object = kNone<ObjectId>;
    const std::string* name = nullptr;  // malloc@file:line
    bool owned = false;                 // by a container
    bool shared = false;                // passed from one holder to another: nobody's
    uint64_t container = 0;
    std::string element;  // Inventory::stock_[]: what a part of it is called, if the container is a field
  };
  struct Instance {
    uint64_t size = 0;
    ObjectId object = kNone<ObjectId>;
    const Module* module = nullptr;
    uint32_t type = kNoIndex;
  };
  struct Named {
    std::string name, field;
    ObjectId object = kNone<ObjectId>;
    uint32_t flags = 0;  // VariableInfo::Flags
    std::string home, set;
  };
  bool fits(uint64_t address, uint64_t base, uint64_t bytes, const SiteEntry& entry,
            const Module& module) const;
  void note_field(Named& named, const Module& module, uint32_t type, uint64_t offset) const;
  // How many objects of a class there were.
  uint64_t& instances_of(const Module& module, uint32_t type);
  using Count = std::pair<const std::string, uint64_t>;  // of counts_, where it stays
  // malloc@file:line, and how many blocks there were from there.
  Count& allocation_place(TableSite called_for, const char* how);
  void note_global(Named& named, const Module& module, const GlobalEntry& entry) const;

  SiteId site_slowly(const Module& module, uint32_t index);
  UnitNameId unit_name_slowly(const Module& module, uint32_t index);
  SyncId sync_slowly(uint64_t address, SyncKind kind);
  const std::pair<const uint64_t, Global>* global_at(uint64_t address) const;
  const std::pair<const uint64_t, Block>* block_at(uint64_t address) const;
  const std::pair<const uint64_t, Instance>* instance_at(uint64_t address) const;
  ObjectId self_slowly(uint64_t address, const Module& module, uint32_t type);
  const std::pair<const uint64_t, Instance>& instance(uint64_t base, const Module& module, uint32_t type);
  void redirect_inner(uint64_t base, const Instance& outer);
  void take_waiting(uint64_t base, const Instance& owner);
  void put_block(std::pair<const uint64_t, Block>& at, uint64_t container, uint64_t base,
                 const Instance& owner);
  void put_into(ObjectId part, ObjectId whole);
  VariableId place(VariableInfo info);
  VariableId make(VariableInfo info);
  ObjectId make(ObjectInfo info);
  SyncId make(SyncInfo info);
  void end_sync(SyncId sync) {
    if (ended_ != nullptr) ended_->syncs.push_back(sync);
  }
  void set_outer(ObjectId part, ObjectId whole);
  void hold(ObjectId object) {
    if (ended_ != nullptr && object != kNone<ObjectId>) ++uses_[raw(object)];
  }
  void drop(ObjectId object) {
    if (ended_ != nullptr && object != kNone<ObjectId> && --uses_[raw(object)] == 0) end_object(object);
  }
  void end_object(ObjectId object);
  void hand_over(uint64_t to, uint64_t from, unsigned how);
  void take_over(uint64_t address, Block& block, uint64_t container, bool surely);
  void let_go(uint64_t address, Block& block);
  void take_out(ObjectId part);
  ObjectId outermost(ObjectId object) const;
  bool lies_in(ObjectId part, ObjectId whole) const;  // or is it
  ObjectId holder_of(uint64_t container) const;
  bool is_of_library(ObjectId object) const;
  void place_fields(uint64_t base, const Instance& owner);
  void cut_stretches(uint64_t base, const Instance& owner);
  uint64_t reach(uint64_t address, const Named& named) const;
  std::string declared_name(uint64_t address, const std::pair<const uint64_t, Instance>& within) const;
  std::string declared_name(uint64_t address, const std::pair<const uint64_t, Global>& global) const;
  void name_innards(const std::pair<const uint64_t, Instance>& owner);
  bool makes_plain(TableSite site) const;
  Named name_of(uint64_t address, uint32_t bytes, TableSite site);
  std::string global_name(uint64_t address, const std::pair<const uint64_t, Global>& global,
                          bool stop_at_system) const;
  std::string sync_name(uint64_t address, SyncKind kind);
  std::string place_of(TableSite site) const;
  bool initial_of(uint64_t address, uint32_t bytes, uint64_t* value) const;

  template <typename Id>
  void note(std::vector<uint32_t>& touched, Id id) {
    if (touched_.wanted) touched.push_back(raw(id));
  }

  TraceBuilder& builder_;
  TouchedEntries touched_;
  std::vector<std::vector<SiteId>> site_ids_;  // by module, by index
  std::vector<std::vector<UnitNameId>> unit_ids_;
  std::map<std::string, UnitNameId> units_;
  std::map<uint64_t, Global> globals_;
  std::map<uint64_t, Block> blocks_;
  std::map<uint64_t, Instance> instances_;
  // Objects that methods were called on lately. An entry holds while no instance comes or goes where the
  // address is.
  struct Self {
    uint64_t address = 0, generation = 0;
    const Module* module = nullptr;
    uint32_t type = kNoIndex;
    ObjectId object = kNone<ObjectId>;
  };
  static constexpr size_t kSelves = 8192;
  std::vector<Self> selves_ = std::vector<Self>(kSelves);
  void instances_changed(uint64_t from, uint64_t end);
  uint64_t& generation_at(uint64_t address) { return generations_[(address >> 12) % kGenerations]; }
  static constexpr size_t kGenerations = 4096;
  std::vector<uint64_t> generations_ = std::vector<uint64_t>(kGenerations, 1);  // of instances_, by page
  std::map<uint64_t, VariableId>
      unplaced_;  // variables of no known class, until an object there tells its own
  std::map<uint64_t, VariableId>
      innards_;  // variables inside library objects, until it is known who declared those
  std::map<uint64_t, SyncId> syncs_;
  boost::unordered_flat_map<uint64_t, SyncId> sync_cache_;
  // Those that were used lately; an entry holds until its address is given back.
  struct SyncLine {
    uint64_t address = 0;
    SyncKind kind = SyncKind::Unknown;
    SyncId sync = kNone<SyncId>;
  };
  static constexpr size_t kSyncLines = 512;
  SyncLine& sync_line(uint64_t address) { return sync_lines_[address * 0x9e3779b97f4a7c15ull >> 55]; }
  std::vector<SyncLine> sync_lines_ = std::vector<SyncLine>(kSyncLines);
  std::map<std::string, uint64_t> counts_;                            // for names that need a number
  std::vector<std::vector<uint64_t*>> instance_counts_;               // in counts_, by module, by type
  boost::unordered_flat_map<uint64_t, Count*> allocation_places_[2];  // malloc, mmap; by module and site
  std::vector<std::vector<uint8_t>> in_program_;  // by module, by site: 0 not asked yet, 1 no, 2 yes
  FieldNames fields_;
  std::function<void(VariableId, std::span<const uint64_t>)> cut_;  // empty: there are no stretches
  uint64_t globals_begin_ = UINT64_MAX, globals_end_ = 0;
  boost::unordered_flat_map<uint32_t, Outer> outers_;
  std::set<std::pair<uint64_t, uint64_t>> held_;  // container, block
  std::set<std::pair<uint64_t, uint64_t>>
      waiting_;  // the same, until an object is known where the container lies
  FreedIds* ended_ = nullptr;
  FreedIds free_;  // to be used again
  std::vector<ObjectId> ending_;
  boost::unordered_flat_set<uint32_t>
      wholes_;  // variables that were split; what is learned of them is told till the end
  std::vector<uint32_t>
      uses_;  // of each object: where it lies, variables and objects in it; if ids are used again
};

}  // namespace cleave
