#include "program/program.h"

#include <elf.h>
#include <zstd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>

#include "abi/package.h"

namespace cleave {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint64_t kLargestBitcode = uint64_t{1} << 31;

template <typename T>
std::optional<T> read_at(Bytes bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<Bytes> part(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  return bytes.subspan(offset, size);
}

// All sections of that name, in file order. Empty when the file is no ELF file of this machine or a table is
// damaged.
std::vector<Bytes> sections_named(Bytes file, const std::string& name) {
  std::vector<Bytes> found;
  auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || header->e_shentsize != sizeof(Elf64_Shdr)) return found;
  // With more sections than the header can count, the first one says how many.
  auto first = read_at<Elf64_Shdr>(file, header->e_shoff);
  if (!first) return found;
  uint64_t count = header->e_shnum != 0 ? header->e_shnum : first->sh_size;
  uint64_t names = header->e_shstrndx != SHN_XINDEX ? header->e_shstrndx : first->sh_link;
  auto section = [&](uint64_t index) {
    return read_at<Elf64_Shdr>(file, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  auto strings = section(names);
  if (!strings || count > file.size()) return found;
  for (uint64_t i = 0; i < count; ++i) {
    auto entry = section(i);
    if (!entry) break;
    auto text = part(file, strings->sh_offset + entry->sh_name, name.size() + 1);
    if (!text || memcmp(text->data(), name.c_str(), name.size() + 1) != 0) continue;
    if (auto contents = part(file, entry->sh_offset, entry->sh_size)) found.push_back(*contents);
  }
  return found;
}

bool is_elf(Bytes file) {
  return file.size() > EI_CLASS && memcmp(file.data(), ELFMAG, SELFMAG) == 0 && file[EI_CLASS] == ELFCLASS64;
}

// A section holds packages end to end; what other tools put between them is stepped over.
Status read_packages(Bytes section, std::vector<ProgramModule>& modules) {
  for (uint64_t at = 0; at + sizeof(cleave_package_header) <= section.size();) {
    auto header = *read_at<cleave_package_header>(section, at);
    if (header.magic != CLEAVE_PACKAGE_MAGIC) {
      at += 8;
      continue;
    }
    uint64_t tables_at = at + sizeof header;
    auto tables = part(section, tables_at, header.table_bytes);
    auto packed = tables ? part(section, tables_at + header.table_bytes, header.packed_bytes) : std::nullopt;
    if (!packed) return Error{"", "what Cleave stored in it is cut off; build it again"};
    Result<SiteTables> decoded = decode_site_tables(*tables);
    if (!decoded.ok()) return decoded.error();
    ProgramModule& module = modules.emplace_back();
    module.identity = header.identity;
    module.tables = std::move(decoded).value();
    module.packed.assign(packed->begin(), packed->end());
    module.bitcode_bytes = header.bitcode_bytes;
    at = (tables_at + header.table_bytes + header.packed_bytes + 7) / 8 * 8;
  }
  return Done{};
}

}  // namespace

Result<std::vector<uint8_t>> ProgramModule::bitcode() const {
  if (bitcode_bytes > kLargestBitcode) return Error{tables.source, "the bitcode in the binary is damaged"};
  std::vector<uint8_t> plain(bitcode_bytes);
  size_t size = ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) || size != plain.size())
    return Error{tables.source, "the bitcode in the binary is damaged"};
  return plain;
}

Result<Program> Program::open(const std::string& path) {
  std::error_code failure;
  std::ifstream stream;
  if (std::filesystem::is_regular_file(path, failure)) stream.open(path, std::ios::binary);
  if (!stream.is_open()) return Error{path, "cannot be read"};
  std::vector<uint8_t> file{std::istreambuf_iterator<char>(stream), {}};
  if (!is_elf(file))
    return Error{path, "not a program; expected an executable built with cleave-cc or cleave-c++"};
  Program program;
  program.path = path;
  for (Bytes section : sections_named(file, CLEAVE_PACKAGE_SECTION)) {
    if (Status status = read_packages(section, program.modules); !status.ok()) {
      return Error{path, status.error().message};
    }
  }
  if (program.modules.empty()) {
    return Error{
        path,
        "not built with Cleave, or stripped of what Cleave needs; build it with cleave-cc or cleave-c++"};
  }
  return program;
}

const ProgramModule* Program::find(uint64_t identity) const {
  for (const ProgramModule& module : modules) {
    if (module.identity == identity) return &module;
  }
  return nullptr;
}

}  // namespace cleave
