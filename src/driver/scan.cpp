#include "driver/scan.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <string_view>

namespace cleave {
namespace {

using Words = std::vector<std::string>;

// Flags whose value is the next word.
constexpr std::array kTakesValue = {"-o",
                                    "-I",
                                    "-D",
                                    "-U",
                                    "-L",
                                    "-F",
                                    "-include",
                                    "-isystem",
                                    "-iquote",
                                    "-idirafter",
                                    "-imacros",
                                    "-isysroot",
                                    "-iprefix",
                                    "-iwithprefix",
                                    "-iwithprefixbefore",
                                    "-MF",
                                    "-MT",
                                    "-MQ",
                                    "-MJ",
                                    "-Xclang",
                                    "-Xassembler",
                                    "-Xpreprocessor",
                                    "-Xanalyzer",
                                    "-arch",
                                    "-T",
                                    "-u",
                                    "-z",
                                    "-e",
                                    "-A",
                                    "-G",
                                    "-b",
                                    "-mllvm",
                                    "-rpath",
                                    "-framework",
                                    "--param",
                                    "-gcc-toolchain",
                                    "-ccc-gcc-name",
                                    "-working-directory",
                                    "-serialize-diagnostics",
                                    "-dependency-file",
                                    "-fmodule-cache-path",
                                    "--sysroot",
                                    "-include-pch",
                                    "-stdlib++-isystem",
                                    "-cxx-isystem",
                                    "--output",
                                    "--include",
                                    "--define-macro",
                                    "--undefine-macro",
                                    "--include-directory",
                                    "--library-directory",
                                    "-plugin-arg",
                                    "-install_name",
                                    "-Xopenmp-target",
                                    "-dwarf-debug-flags"};

constexpr std::array kStops = {"-c",
                               "-S",
                               "-E",
                               "-M",
                               "-MM",
                               "-fsyntax-only",
                               "--compile",
                               "--assemble",
                               "--preprocess",
                               "--precompile",
                               "--analyze",
                               "-emit-ast",
                               "-emit-pch",
                               "--help",
                               "-help",
                               "--version",
                               "-dumpversion",
                               "-dumpmachine",
                               "-emit-interface-stubs",
                               "--help-hidden"};

template <size_t N>
bool is_one_of(std::string_view word, const std::array<const char*, N>& list) {
  return std::ranges::find(list, word) != list.end();
}

// GNU response file syntax: blanks separate, quotes group, a backslash takes the next character as it is.
Words tokenize(const std::string& text) {
  Words words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      open = true;
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

void expand_into(Words& out, const Words& arguments, int depth) {
  for (const std::string& argument : arguments) {
    std::ifstream file;
    if (argument.size() > 1 && argument[0] == '@' && depth < 16) file.open(argument.substr(1));
    if (!file.is_open()) {
      out.push_back(argument);
      continue;
    }
    std::string text{std::istreambuf_iterator<char>(file), {}};
    expand_into(out, tokenize(text), depth + 1);
  }
}

constexpr std::array kHeaderEndings = {".h",   ".H",   ".hh",  ".HH",  ".hp", ".hpp",
                                       ".HPP", ".hxx", ".HXX", ".h++", ".tcc"};

// Alone such files are precompiled, and nothing is linked.
bool is_header(std::string_view file, std::string_view language) {
  if (!language.empty() && language != "none") return language.ends_with("-header");
  size_t dot = file.rfind('.');
  return dot != std::string_view::npos && is_one_of(file.substr(dot), kHeaderEndings);
}

// What is handed to the linker: -Wl,WORD,WORD or -Xlinker WORD.
void scan_linker_words(CommandScan& scan, std::string_view words) {
  while (!words.empty()) {
    size_t comma = std::min(words.find(','), words.size());
    std::string_view word = words.substr(0, comma);
    scan.relocatable |= word == "-r" || word == "-i" || word == "--relocatable";
    words.remove_prefix(std::min(comma + 1, words.size()));
  }
}

// Flags that are one word and say one thing.
void scan_flag(CommandScan& scan, std::string_view word) {
  if (is_one_of(word, kStops) || word.starts_with("-print-") || word.starts_with("--print-")) {
    scan.stops_early = true;
  } else if (word == "-r" || word == "--relocatable") {
    scan.relocatable = true;
  } else if (word == "-static" || word == "--static" || word == "-static-pie") {
    scan.is_static = true;
  } else if (word == "-m32" || word == "-mx32" || word == "-m64") {
    scan.narrow = word != "-m64";
  } else if (word == "-femulated-tls" || word == "-fno-emulated-tls") {
    scan.emulated_tls = word == "-femulated-tls";
  } else if (word == "-fno-lto") {
    scan.lto = false;
  } else if (word.starts_with("-flto") || word == "-fwhole-program-vtables" || word == "-ffat-lto-objects") {
    scan.lto = true;
  } else if (word == "-fvectorize" || word == "-ftree-vectorize" || word == "-fslp-vectorize" ||
             word == "-ftree-slp-vectorize") {
    scan.vectorize = true;
  } else if (word.starts_with("--target=")) {
    scan.target = word.substr(9);
  }
}

void scan_debug(CommandScan& scan, std::string_view word) {
  if (word == "-g0" || word == "-g1" || word == "-ggdb0" || word == "-ggdb1" ||
      word == "-gline-tables-only" || word == "-gline-directives-only" || word == "-gmlt") {
    scan.low_debug = true;
  } else if (word == "-g" || word == "-g2" || word == "-g3" || word.starts_with("-ggdb") ||
             word == "-glldb" || word == "-gfull") {
    scan.low_debug = false;
  }
}

void scan_sanitizers(CommandScan& scan, std::string_view word) {
  bool on = word.starts_with("-fsanitize=");
  if (!on && !word.starts_with("-fno-sanitize=")) return;
  std::string_view list = word.substr(word.find('=') + 1);
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    std::string name(list.substr(0, comma));
    if (on)
      scan.sanitizers.insert(name);
    else if (name == "all")
      scan.sanitizers.clear();
    else
      scan.sanitizers.erase(name);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

}  // namespace

Words expand_response_files(const Words& arguments) {
  Words out;
  expand_into(out, arguments, 0);
  return out;
}

CommandScan scan_command(const Words& expanded) {
  CommandScan scan;
  std::string_view language;
  bool headers = false, others = false;  // among the files
  auto file = [&](std::string_view name) {
    scan.has_input = true;
    (is_header(name, language) ? headers : others) = true;
  };
  for (size_t i = 0; i < expanded.size(); ++i) {
    std::string_view word = expanded[i],
                     next = i + 1 < expanded.size() ? expanded[i + 1] : std::string_view();
    if (word == "--") {  // the rest are files
      for (++i; i < expanded.size(); ++i) file(expanded[i]);
      break;
    }
    if (word == "-x" || word == "--language") {
      language = next;
      ++i;
    } else if (word.starts_with("-x") || word.starts_with("--language=")) {
      language = word.substr(word.starts_with("-x") ? 2 : 11);
    } else if (word == "-target" || word == "--target") {
      scan.target = next;
      ++i;
    } else if (word == "-Xlinker" || word == "-l") {
      scan.has_input = true;
      if (word == "-Xlinker") scan_linker_words(scan, next);
      ++i;
    } else if (is_one_of(word, kTakesValue)) {
      ++i;
    } else if (word == "-" || !word.starts_with("-")) {
      file(word);
    } else if (word.starts_with("-l") || word.starts_with("-Wl,")) {
      scan.has_input = true;
      if (word.starts_with("-Wl,")) scan_linker_words(scan, word.substr(4));
    } else {
      scan_flag(scan, word);
      scan_debug(scan, word);
      scan_sanitizers(scan, word);
    }
  }
  scan.stops_early |= headers && !others;
  return scan;
}

}  // namespace cleave
