// Programs compiled by cleave-cc or cleave-c++ and recorded, for tests of the walk.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "feasibility/lift/walk.h"

namespace cleave {

struct Walked {
  RecordedTrace recorded;
  WalkReport report;
  std::string program;

  std::string remarks() const {
    std::string text;
    for (const std::string& remark : report.remarks) text += remark + "\n";
    return text;
  }
};

inline int shell(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()); }

// A folder of the test process, gone with it.
inline const std::filesystem::path& scratch_folder() {
  struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("cleave-walk-" + std::to_string(getpid()));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static Folder folder;
  return folder.path;
}

inline std::unique_ptr<Walked> load_recorded(const std::string& trace, const std::string& program) {
  Result<RecordedTrace> loaded = load_recorded_trace(trace);
  EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().sentence());
  if (!loaded.ok()) return nullptr;
  return std::make_unique<Walked>(Walked{std::move(loaded).value(), {}, program});
}

// `name` ends in .c or .cpp. Null after a failure.
inline std::unique_ptr<Walked> record_program(const std::string& name, const std::string& source,
                                              const std::string& flags) {
  std::filesystem::path file = scratch_folder() / name;
  std::string program = (scratch_folder() / file.stem()).string(), bin = CLEAVE_BINARY_DIR "/bin/";
  std::ofstream(file) << source;
  std::string compiler =
      file.extension() == ".c" ? "cleave-cc -std=c11 -D_GNU_SOURCE" : "cleave-c++ -std=c++20";
  EXPECT_EQ(shell(bin + compiler + " -g -pthread " + flags + " " + file.string() + " -o " + program), 0)
      << name << flags;
  EXPECT_EQ(shell(bin + "cleave record -o " + program + ".cleave -- " + program), 0) << name << flags;
  return load_recorded(program + ".cleave", program);
}

}  // namespace cleave
