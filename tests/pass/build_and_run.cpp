#include "pass/build_and_run.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

namespace cleave {
namespace {

std::string slot_word(SlotKind kind) {
  switch (kind) {
    case SlotKind::Read:
      return "Read";
    case SlotKind::Write:
      return "Write";
    case SlotKind::Enter:
      return "Enter";
    case SlotKind::Exit:
      return "Exit";
    case SlotKind::Landing:
      return "Landing";
    case SlotKind::UnitBegin:
      return "UnitBegin";
    case SlotKind::UnitEnd:
      return "UnitEnd";
    case SlotKind::Call:
      return "Call";
    case SlotKind::CallResult:
      return "CallResult";
    case SlotKind::Switch:
      return "Switch";
    case SlotKind::Hook:
      return "Hook";
  }
  return "?";
}

std::string outcome_text(uint64_t bits) {
  std::string text;
  for (; bits > 1; bits >>= 1) text.insert(text.begin(), bits & 1 ? '1' : '0');
  return text;
}

struct Loaded {
  const SiteTables* tables;
  uint64_t segments;
  std::vector<uint64_t> globals;
};

class Decoder {
 public:
  explicit Decoder(const Program& program) : program_(program) {}

  void line(const std::string& text) {
    std::istringstream stream(text);
    std::string word;
    stream >> word;
    if (word == "module") return module(stream);
    if (word == "branches") {
      stream >> std::hex;
      uint64_t bits = 0;
      stream >> bits;
      events_.push_back({.kind = "branches", .outcomes = outcome_text(bits)});
      return;
    }
    uint64_t segment = 0, bits = 0;
    stream >> std::hex >> segment >> bits;
    if (word == "segment") return records(segment, bits, stream);
    hook(word, segment, bits, stream);
  }
  std::vector<Recorded> take() { return std::move(events_); }

 private:
  void module(std::istringstream& stream) {
    uint64_t identity = 0, segments = 0, count = 0, address = 0;
    stream >> std::hex >> identity >> segments >> std::dec >> count >> std::hex;
    const ProgramModule* found = program_.find(identity);
    ASSERT_NE(found, nullptr) << "a module that the binary does not carry";
    ASSERT_EQ(found->tables.segments.size(), count);
    Loaded loaded{&found->tables, segments, {}};
    while (stream >> address) loaded.globals.push_back(address);
    ASSERT_EQ(found->tables.globals.size(), loaded.globals.size());
    loaded_.push_back(std::move(loaded));
  }

  std::pair<const Loaded*, const SegmentTable*> find(uint64_t address) const {
    for (const Loaded& loaded : loaded_) {
      uint64_t index = (address - loaded.segments) / 4;
      if (address >= loaded.segments && index < loaded.tables->segments.size()) {
        return {&loaded, &loaded.tables->segments[index]};
      }
    }
    ADD_FAILURE() << "a record of no known segment";
    return {nullptr, nullptr};
  }

  static std::string name_of(const SiteTables& tables, const Slot& slot) {
    if (slot.kind == SlotKind::UnitBegin || slot.kind == SlotKind::UnitEnd) {
      return slot.aux == kNoIndex ? "" : tables.units[slot.aux].name;
    }
    if (slot.aux != kNoIndex) return tables.functions[slot.aux].name;
    uint32_t variable = slot.site == kNoIndex ? kNoIndex : tables.sites[slot.site].variable;
    return variable == kNoIndex ? "" : tables.strings[variable];
  }

  void records(uint64_t address, uint64_t bits, std::istringstream& stream) {
    auto [loaded, table] = find(address);
    if (table == nullptr) return;
    std::vector<uint64_t> words;
    for (uint64_t word = 0; stream >> word;) words.push_back(word);
    ASSERT_EQ(words.size(), table->words);
    std::vector<uint64_t> addresses;
    for (const Slot& slot : table->slots) {
      Recorded event{
          .kind = slot_word(slot.kind), .name = name_of(*loaded->tables, slot), .width = slot.width};
      auto constant = [](const Operand& o) { return static_cast<uint64_t>(o.constant); };
      switch (slot.address.source) {
        case Source::Word:
          event.address = words[slot.address.index] + constant(slot.address);
          break;
        case Source::Derived:
          event.address = addresses[slot.address.index] + constant(slot.address);
          break;
        case Source::Global:
          event.address = loaded->globals[slot.address.index] + constant(slot.address);
          break;
        default:
          break;
      }
      if (slot.value.source == Source::Word) event.value = words[slot.value.index];
      if (slot.value.source == Source::Constant) event.value = constant(slot.value);
      if (&slot == &table->slots.front()) event.outcomes = outcome_text(bits);
      addresses.push_back(event.address);
      events_.push_back(std::move(event));
    }
  }

  void hook(const std::string& word, uint64_t segment, uint64_t bits, std::istringstream& stream) {
    auto [loaded, table] = find(segment);
    if (table == nullptr) return;
    ASSERT_EQ(table->slots.size(), 1u);
    ASSERT_EQ(table->slots[0].kind, SlotKind::Hook);
    Recorded event{
        .kind = word, .name = name_of(*loaded->tables, table->slots[0]), .outcomes = outcome_text(bits)};
    uint64_t ignored = 0;
    if (word == "fence") {
      stream >> std::dec >> event.order;
    } else if (word == "atomic") {
      stream >> event.address >> std::dec >> ignored >> event.operation >> event.order >> event.bytes >>
          std::hex >> event.old_value >> ignored >> event.value;
    } else {
      stream >> event.address >> std::dec >> event.bytes;
    }
    events_.push_back(std::move(event));
  }

  const Program& program_;
  std::vector<Loaded> loaded_;
  std::vector<Recorded> events_;
};

}  // namespace

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "cleave-pass-XXXXXX").string();
  root_ = mkdtemp(pattern.data());
}

Folder::~Folder() { std::filesystem::remove_all(root_); }

std::string Folder::write(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories((root_ / name).parent_path());
  std::ofstream(root_ / name) << text;
  return path(name);
}

Output Folder::run(const std::string& command) const {
  std::string line = "cd '" + root_.string() +
                     "' && export CC='" CLEAVE_BINARY_DIR "/bin/cleave-cc' CXX='" CLEAVE_BINARY_DIR
                     "/bin/cleave-c++' && { " +
                     command + "; } 2>&1";
  FILE* pipe = popen(line.c_str(), "r");
  Output output;
  std::array<char, 4096> buffer{};
  for (size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.text.append(buffer.data(), got);
  int status = pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

std::vector<Recorded> Folder::record(const std::string& program) const {
  Output ran = run("RECORDER_OUT=" + path("records") +
                   " LD_LIBRARY_PATH=" CLEAVE_BINARY_DIR "/tests/recorder ./" + program);
  EXPECT_EQ(ran.status, 0) << ran.text;
  Result<Program> opened = Program::open(path(program));
  if (!opened.ok()) {
    ADD_FAILURE() << opened.error().sentence();
    return {};
  }
  Decoder decoder(opened.value());
  std::ifstream stream(path("records"));
  for (std::string line; std::getline(stream, line);) decoder.line(line);
  return decoder.take();
}

std::vector<std::string> lines(const std::vector<Recorded>& events, const std::vector<std::string>& kinds) {
  std::vector<std::string> result;
  for (const Recorded& event : events) {
    if (std::ranges::find(kinds, event.kind) == kinds.end()) continue;
    std::string line = event.kind + " " + event.name;
    if (event.kind == "Read" || event.kind == "Write" || event.kind == "Switch") {
      line += " " + std::to_string(static_cast<int64_t>(event.value));
    }
    result.push_back(line);
  }
  return result;
}

}  // namespace cleave
