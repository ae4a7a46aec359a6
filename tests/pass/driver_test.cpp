// cleave-cc and cleave-c++ in the places where people put a compiler.
#include "driver/command.h"

#include <algorithm>

#include "driver/scan.h"
#include "pass/build_and_run.h"

namespace cleave {
namespace {

const Toolchain kTools{"clang", "plugin.so", "include", "lib"};

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::vector<std::string> command(const std::vector<std::string>& arguments) {
  Result<std::vector<std::string>> words = compiler_command(arguments, kTools);
  EXPECT_TRUE(words.ok()) << words.error().sentence();
  return words.ok() ? words.value() : std::vector<std::string>{};
}

TEST(DriverCommand, LinksTheRuntimeOnlyWhenSomethingIsLinked) {
  EXPECT_TRUE(has(command({"a.c"}), "-lcleave_rt"));
  EXPECT_TRUE(has(command({"a.o", "-o", "a"}), "-lcleave_rt"));
  EXPECT_TRUE(has(command({"-shared", "a.o"}), "-lcleave_rt"));
  EXPECT_TRUE(has(command({"-Wl,--version"}), "-lcleave_rt"));
  for (const char* flag :
       {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-print-search-dirs", "-r"}) {
    EXPECT_FALSE(has(command({flag, "a.c"}), "-lcleave_rt")) << flag;
  }
  EXPECT_FALSE(has(command({"-v"}), "-lcleave_rt"));
  EXPECT_FALSE(has(command({}), "-lcleave_rt"));
  EXPECT_FALSE(has(command({"-o", "a.c"}), "-lcleave_rt")) << "a.c is the output here";
}

TEST(DriverCommand, TheRuntimeStandsBeforeTheUsersLibraries) {
  std::vector<std::string> words = command({"a.o", "-lc"});
  EXPECT_LT(std::ranges::find(words, "-lcleave_rt"), std::ranges::find(words, "-lc"));
}

TEST(DriverCommand, KeepsEveryArgumentInItsOrder) {
  std::vector<std::string> given = {"-O2", "-DX=\"a b\"", "a.c", "-o",  "out", "-MD",
                                    "-MF", "a.d",         "-x",  "c++", "b.c"};
  std::vector<std::string> words = command(given);
  auto at = words.begin();
  for (const std::string& word : given) {
    at = std::find(at, words.end(), word);
    ASSERT_NE(at, words.end()) << word;
    ++at;
  }
}

TEST(DriverCommand, DebugInformationIsAlwaysFull) {
  auto last_is_full = [](const std::vector<std::string>& words) {
    std::string last;
    for (const std::string& word : words) {
      if (word == "-g" || word == "-g0" || word == "-g1" || word == "-g3" || word == "-gline-tables-only")
        last = word;
    }
    return last == "-g" || last == "-g3";
  };
  EXPECT_TRUE(last_is_full(command({"a.c"})));
  EXPECT_TRUE(last_is_full(command({"-g0", "a.c"})));
  EXPECT_TRUE(last_is_full(command({"-g3", "-g1", "a.c"})));
  EXPECT_TRUE(last_is_full(command({"-gline-tables-only", "a.c"})));
  EXPECT_TRUE(last_is_full(command({"-g0", "-g3", "a.c"})));
}

TEST(DriverCommand, WhatDoesNotGoTogetherGetsOneSentence) {
  auto message = [](const std::vector<std::string>& arguments) {
    Result<std::vector<std::string>> words = compiler_command(arguments, kTools);
    return words.ok() ? std::string() : words.error().sentence();
  };
  EXPECT_NE(message({"-fsanitize=thread", "a.c"}).find("-fsanitize=thread"), std::string::npos);
  EXPECT_NE(message({"-fsanitize=undefined,address", "-c", "a.c"}).find("-fsanitize=address"),
            std::string::npos);
  EXPECT_EQ(message({"-fsanitize=address", "-fno-sanitize=address", "a.c"}), "");
  EXPECT_EQ(message({"-fsanitize=address", "-fno-sanitize=all", "a.c"}), "");
  EXPECT_EQ(message({"-fsanitize=undefined", "a.c"}), "");
  EXPECT_NE(message({"-static", "a.c"}).find("-static"), std::string::npos);
  EXPECT_EQ(message({"-static", "-c", "a.c"}), "");
  EXPECT_EQ(message({"-static-libgcc", "-static-libstdc++", "a.c"}), "");
  EXPECT_NE(message({"-m32", "a.c"}).find("-m32"), std::string::npos);
}

TEST(DriverCommand, FilesAfterTwoDashesStayLast) {
  std::vector<std::string> words = command({"-c", "--", "-odd.c"});
  EXPECT_EQ(words.back(), "-odd.c");
  EXPECT_EQ(words[words.size() - 2], "--");
}

TEST(Driver, EveryStageOfCompilation) {
  Folder folder;
  folder.write("a.c",
               "#include <stdio.h>\nint total;\nint add(int);\nint main(void) { printf(\"%d\\n\", add(2)); "
               "return 0; }\n");
  folder.write("b.c", "extern int total;\nint add(int x) { return total += x; }\n");
  for (const char* line :
       {"$CC a.c b.c -o one && ./one", "$CC -c a.c && $CC -c b.c && $CC a.o b.o -o two && ./two",
        "$CC -S a.c && $CC -S b.c && $CC a.s b.s -o three && ./three",
        "$CC -E a.c > a.i && $CC -E b.c > b.i && $CC a.i b.i -o four && ./four",
        "$CC -c b.c && ar rcs libb.a b.o && $CC a.c -L. -lb -o five && ./five",
        "$CC -shared -fPIC b.c -o libs.so && $CC a.c ./libs.so -o six && ./six",
        "printf '%s' '-O2 a.c \"b.c\" -o seven' > args && $CC @args && ./seven",
        "cat b.c | $CC -x c -c - -o b2.o && $CC a.c b2.o -o eight && ./eight",
        "$CC -flto -O2 -c a.c b.c && $CC -flto a.o b.o -o nine && ./nine",
        "$CC -flto=thin -O2 a.c b.c -o ten && ./ten",
        "$CC -emit-llvm -c b.c -o b.bc && $CC a.c b.bc -o eleven && ./eleven",
        "$CC -r a.c b.c -o both.o && $CC both.o -o twelve && ./twelve",
        "$CC -ffunction-sections -fdata-sections -Wl,--gc-sections -O2 a.c b.c -o thirteen && ./thirteen",
        "$CC -fuse-ld=lld-19 a.c b.c -o fourteen && ./fourteen",
        "$CC -g0 -fno-pie -no-pie a.c b.c -o fifteen && ./fifteen"}) {
    Output output = folder.run(line);
    EXPECT_EQ(output.status, 0) << line << "\n" << output.text;
    EXPECT_EQ(output.text, "2\n") << line;
  }
  for (const char* program :
       {"one", "two", "four", "five", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"}) {
    Result<Program> opened = Program::open(folder.path(program));
    ASSERT_TRUE(opened.ok()) << opened.error().sentence();
    EXPECT_EQ(opened.value().modules.size(), 2u) << program;
  }
  Result<Program> library = Program::open(folder.path("libs.so"));
  ASSERT_TRUE(library.ok()) << library.error().sentence();
  EXPECT_EQ(library.value().modules.size(), 1u);
}

TEST(Driver, StrippingDebugInformationLeavesTheTables) {
  Folder folder;
  folder.write("a.c", "int x; int main(void) { return x; }\n");
  ASSERT_EQ(folder.run("$CC a.c -o a && strip --strip-debug a && ./a").text, "");
  EXPECT_TRUE(Program::open(folder.path("a")).ok());
}

TEST(Driver, DependenciesQuestionsAndWarnings) {
  Folder folder;
  folder.write("a.c", "#include \"a.h\"\nint main(void) { return f(); }\n");
  folder.write("a.h", "static inline int f(void) { return 0; }\n");
  Output output = folder.run("$CC -Wall -Wextra -Werror -MD -MF a.d -c a.c -o a.o && cat a.d");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_NE(output.text.find("a.h"), std::string::npos);
  EXPECT_EQ(folder.run("$CC -Werror a.o -o a && ./a").text, "") << "flags of no use to a link warn nobody";
  EXPECT_NE(folder.run("$CC --version").text.find("clang version 19"), std::string::npos);
  EXPECT_EQ(folder.run("$CC -v").status, 0);
  EXPECT_NE(folder.run("$CC").text.find("no input files"), std::string::npos);
  EXPECT_NE(folder.run("$CC -### a.c").text.find("-fpass-plugin"), std::string::npos);
  EXPECT_EQ(folder.run("$CC -fsyntax-only a.c && $CC -S -o - a.c | grep -q main").status, 0);
  EXPECT_EQ(folder.run("$CC missing.c").status, 1);
  Output conflict = folder.run("$CXX -fsanitize=thread a.c");
  EXPECT_EQ(conflict.status, 2);
  EXPECT_EQ(std::ranges::count(conflict.text, '\n'), 1) << conflict.text;
}

TEST(Driver, IsFoundThroughLinksAndRelativePaths) {
  Folder folder;
  folder.write("a.cpp",
               "#include <cleave/annotate.h>\nint x; CLEAVE_ATOMIC void f() { x++; x++; }\nint main() { f(); "
               "return x - 2; }\n");
  EXPECT_EQ(
      folder.run("mkdir -p bin && ln -s \"$CXX\" bin/c++ && ln -s bin/c++ g++ && ./g++ a.cpp -o a && ./a")
          .text,
      "");
  EXPECT_EQ(folder.run("ln -s \"$(dirname \"$CC\")\" tools && tools/cleave-c++ a.cpp -o b && ./b").text, "");
  EXPECT_EQ(folder.run("PATH=\"$(dirname \"$CC\"):$PATH\" && cleave c++ a.cpp -o c && ./c").text, "");
}

TEST(Driver, CMakeProject) {
  Folder folder;
  folder.write("CMakeLists.txt",
               "cmake_minimum_required(VERSION 3.20)\nproject(p C CXX)\nset(CMAKE_CXX_STANDARD 20)\n"
               "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\nfind_package(Threads "
               "REQUIRED)\ninclude(CheckCSourceCompiles)\n"
               "check_c_source_compiles(\"int main(void){return 0;}\" WORKS)\nif(NOT WORKS)\n "
               "message(FATAL_ERROR no)\nendif()\n"
               "add_library(s STATIC s.c)\nadd_library(d SHARED d.cpp)\nadd_executable(p p.cpp)\n"
               "target_link_libraries(p s d Threads::Threads)\n");
  folder.write("s.c", "int s_value;\nint s(void) { return ++s_value; }\n");
  folder.write("d.cpp", "int d_value;\nint d() { return ++d_value; }\n");
  folder.write("p.cpp",
               "#include <thread>\n#include <cstdio>\nextern \"C\" int s(void); int d();\n"
               "int main() { std::thread t([] { s(); }); t.join(); std::printf(\"%d %d\\n\", s(), d()); }\n");
  Output output = folder.run(
      "cmake -S . -B b -DCMAKE_C_COMPILER=$CC -DCMAKE_CXX_COMPILER=$CXX -DCMAKE_BUILD_TYPE=Release "
      "> log && cmake --build b >> log || cat log; b/p");
  EXPECT_EQ(output.text, "2 1\n");
  Result<Program> opened = Program::open(folder.path("b/p"));
  ASSERT_TRUE(opened.ok()) << opened.error().sentence();
  EXPECT_EQ(opened.value().modules.size(), 2u) << "the static library's module is in the program";
}

// What configure scripts ask a compiler, as they ask it.
TEST(Driver, ConfigureProbes) {
  Folder folder;
  folder.write("conftest.c",
               "#ifdef __cplusplus\nextern \"C\"\n#endif\nchar pthread_create(); int main(void) { return "
               "pthread_create != 0; }\n");
  folder.write("ok.c", "int main(void) { return 0; }\n");
  folder.write("bad.c", "int main(void) { return no_such_thing(); }\n");
  EXPECT_EQ(folder.run("$CC -o conftest ok.c && ./conftest").status, 0);
  EXPECT_EQ(folder.run("$CC -o conftest conftest.c -lpthread >/dev/null").status, 0);
  EXPECT_NE(folder.run("$CC -o conftest bad.c >/dev/null").status, 0);
  EXPECT_EQ(folder.run("$CC -Werror -fstack-protector-strong -O2 -D_FORTIFY_SOURCE=2 -c ok.c").text, "");
  EXPECT_NE(folder.run("$CC -Werror -fno-such-flag -c ok.c >/dev/null").status, 0);
  EXPECT_EQ(folder.run("$CC -print-prog-name=ld >/dev/null && $CC -dumpmachine | grep -q x86_64").status, 0);
  EXPECT_EQ(folder.run("echo | $CC -dM -E - | grep -q __CLEAVE__").status, 0);
  EXPECT_NE(folder.run("$CC -Wl,--version").text.find("GNU ld"), std::string::npos);
}

TEST(ResponseFiles, AreReadAsTheCompilerReadsThem) {
  Folder folder;
  folder.write("inner", "-c 'x y.c'");
  folder.write("outer", "-O2 \"a\\\"b\"\n@" + folder.path("inner") + " last\\ one");
  EXPECT_EQ(expand_response_files({"first", "@" + folder.path("outer"), "@missing"}),
            (std::vector<std::string>{"first", "-O2", "a\"b", "-c", "x y.c", "last one", "@missing"}));
}

}  // namespace
}  // namespace cleave
