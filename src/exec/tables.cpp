#include "exec/tables.h"

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <span>

#include "abi/record.h"
#include "abi/trace_file.h"
#include "base/mapped_file.h"

namespace cleave::exec {
namespace {

bool parse_module(std::span<const uint8_t> body, ModuleTables* module) {
  cleave_module_chunk header;
  if (body.size() < sizeof header) return false;
  std::memcpy(&header, body.data(), sizeof header);
  body = body.subspan(sizeof header);
  // Every part is held against what is left before its length is used: none of the sums can wrap around.
  const uint64_t segment_bytes = header.segment_count * sizeof(cleave_segment);
  const uint64_t global_bytes = uint64_t{header.global_count} * 8;
  if (header.segment_count > body.size() || header.name_bytes > body.size() || global_bytes > body.size() ||
      header.table_bytes > body.size() ||
      header.name_bytes + segment_bytes + global_bytes + header.table_bytes > body.size())
    return false;
  module->name.assign(reinterpret_cast<const char*>(body.data()), header.name_bytes);
  module->identity = header.identity;
  body = body.subspan(header.name_bytes + segment_bytes);
  module->globals.resize(header.global_count);
  if (global_bytes > 0) std::memcpy(module->globals.data(), body.data(), global_bytes);
  Result<SiteTables> tables = decode_site_tables(body.subspan(global_bytes, header.table_bytes));
  if (!tables) return false;
  module->tables = std::move(tables).value();
  return true;
}

const std::string& text_of(const SiteTables& tables, uint32_t index) {
  static const std::string nothing;
  return index < tables.strings.size() ? tables.strings[index] : nothing;
}

bool stands_at(const SiteTables& tables, uint32_t index, const Milestone& milestone) {
  if (index >= tables.sites.size()) return false;
  const SiteEntry& site = tables.sites[index];
  if (site.line != milestone.line || (milestone.column != 0 && site.column != milestone.column)) return false;
  if (text_of(tables, site.file) != milestone.file) return false;
  return milestone.function.empty() || site.function >= tables.functions.size() ||
         tables.functions[site.function].name == milestone.function;
}

bool stands_near(const SiteTables& tables, uint32_t index, Milestone place) {
  if (index >= tables.sites.size()) return false;
  const std::string& file = text_of(tables, tables.sites[index].file);
  if (file.ends_with("/" + place.file)) place.file = file;
  return stands_at(tables, index, place);
}

std::string_view word_of(SlotKind kind) {
  switch (kind) {
    case SlotKind::Read:
      return "read of ";
    case SlotKind::Write:
      return "write of ";
    case SlotKind::Call:
      return "call";
    case SlotKind::Hook:
      return "operation on ";
    default:
      return "";
  }
}

bool is_system(const SiteTables& tables, const SiteEntry& site) {
  return site.function < tables.functions.size() &&
         (tables.functions[site.function].flags & FunctionEntry::kSystem) != 0;
}

// Where in the program it is: of something that was inlined from the system's headers, where that was called.
const SiteEntry& own_place(const SiteTables& tables, const SiteEntry& site) {
  const SiteEntry* place = &site;
  while (is_system(tables, *place) && place->inlined_at < tables.sites.size())
    place = &tables.sites[place->inlined_at];
  return is_system(tables, *place) ? site : *place;
}

std::string describe_slot(const SiteTables& tables, const Slot& slot) {
  const SiteEntry& site = tables.sites[slot.site];
  const SiteEntry& own = own_place(tables, site);
  std::string what(word_of(slot.kind));
  if (slot.kind == SlotKind::Call) {
    if (slot.aux < tables.functions.size()) what += " of " + tables.functions[slot.aux].name;
  } else if (!what.empty()) {
    const std::string& variable = text_of(tables, site.variable);
    what += variable.empty() ? "memory" : variable;
  }
  std::string where = fmt::format("{}:{}", text_of(tables, own.file), own.line);
  if (own.function < tables.functions.size())
    where += fmt::format(" ({})", tables.functions[own.function].name);
  return what.empty() ? where : what + " at " + where;
}

}  // namespace

bool gives(const Slot& slot, EventKind kind) {
  switch (kind) {
    case EventKind::Read:
      return slot.kind == SlotKind::Read || slot.kind == SlotKind::Hook;
    case EventKind::Write:
      return slot.kind == SlotKind::Write || slot.kind == SlotKind::Hook;
    case EventKind::Update:
      return slot.kind == SlotKind::Hook;
    case EventKind::Begin:
      return slot.kind == SlotKind::UnitBegin || slot.kind == SlotKind::Enter;
    case EventKind::End:
      return slot.kind == SlotKind::UnitEnd || slot.kind == SlotKind::Exit;
    default:
      return slot.kind == SlotKind::Call;
  }
}

Result<ProgramTables> ProgramTables::read(const std::string& trace) {
  Result<MappedFile> file = MappedFile::open(trace);
  if (!file) return file.error();
  const std::string_view bytes = file.value().bytes();
  cleave_file_header header{};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != CLEAVE_TRACE_MAGIC) return Error{trace, "is not a trace that cleave record wrote"};
  ProgramTables tables;
  cleave_chunk_header chunk{};
  for (uint64_t at = header.header_bytes; at <= bytes.size() && bytes.size() - at >= sizeof chunk;) {
    std::memcpy(&chunk, bytes.data() + at, sizeof chunk);
    at += sizeof chunk;
    if (chunk.magic != CLEAVE_CHUNK_MAGIC || chunk.stored_bytes > bytes.size() - at) break;
    ModuleTables module;
    if (chunk.kind == CLEAVE_CHUNK_MODULE &&
        parse_module({reinterpret_cast<const uint8_t*>(bytes.data()) + at, chunk.stored_bytes}, &module))
      tables.modules_.push_back(std::move(module));
    at += chunk.stored_bytes;
  }
  return tables;
}

template <typename Fits>
std::vector<SegmentPlace> ProgramTables::places_of(EventKind kind, const Fits& fits) const {
  std::vector<SegmentPlace> places;
  for (const ModuleTables& module : modules_) {
    for (uint32_t index = 0; index < module.tables.segments.size(); ++index) {
      for (const Slot& slot : module.tables.segments[index].slots) {
        if (!gives(slot, kind) || !fits(module.tables, slot.site)) continue;
        places.push_back({module.identity, index});
        break;
      }
    }
  }
  return places;
}

std::vector<SegmentPlace> ProgramTables::find(const Milestone& milestone) const {
  return places_of(milestone.kind, [&](const SiteTables& tables, uint32_t site) {
    return stands_at(tables, site, milestone);
  });
}

std::vector<SegmentPlace> ProgramTables::find_by_end(const Milestone& place) const {
  return places_of(place.kind,
                   [&](const SiteTables& tables, uint32_t site) { return stands_near(tables, site, place); });
}

std::vector<SegmentPlace> ProgramTables::writers_like(const Milestone& place) const {
  std::set<std::string> names;
  for (const ModuleTables& module : modules_) {
    for (const SegmentTable& segment : module.tables.segments)
      for (const Slot& slot : segment.slots)
        if (gives(slot, place.kind) && stands_near(module.tables, slot.site, place))
          names.insert(text_of(module.tables, module.tables.sites[slot.site].variable));
  }
  names.erase("");
  return places_of(EventKind::Write, [&](const SiteTables& tables, uint32_t site) {
    return site < tables.sites.size() && names.contains(text_of(tables, tables.sites[site].variable));
  });
}

std::string ProgramTables::describe(uint64_t identity, uint32_t segment, bool its_end) const {
  for (const ModuleTables& module : modules_) {
    if (module.identity != identity || segment >= module.tables.segments.size()) continue;
    const Slot* best = nullptr;
    for (const Slot& slot : module.tables.segments[segment].slots) {
      if (slot.site >= module.tables.sites.size()) continue;
      bool better =
          !word_of(slot.kind).empty() && (its_end || (best != nullptr && word_of(best->kind).empty()));
      if (best == nullptr || better) best = &slot;
    }
    return best != nullptr ? describe_slot(module.tables, *best) : module.name;
  }
  return "";
}

std::string ProgramTables::name_of(uint64_t address) const {
  for (const ModuleTables& module : modules_) {
    for (size_t i = 0; i < module.globals.size() && i < module.tables.globals.size(); ++i) {
      const GlobalEntry& global = module.tables.globals[i];
      if (global.name.empty() || module.globals[i] == 0 || address < module.globals[i]) continue;
      uint64_t offset = address - module.globals[i];
      if (offset >= std::max<uint64_t>(global.size, 1)) continue;
      return offset == 0 ? global.name : fmt::format("{}+{}", global.name, offset);
    }
  }
  return "";
}

}  // namespace cleave::exec
