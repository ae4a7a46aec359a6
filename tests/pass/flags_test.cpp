// The flags people give a compiler, one row each: the program is built, says what it says, and carries its
// tables; or one sentence tells why not.
#include <algorithm>

#include "pass/build_and_run.h"

namespace cleave {
namespace {

constexpr const char* kPlain =
    "#include <stdio.h>\nint total;\nint main(void) { printf(\"%d\\n\", ++total); return 0; }\n";
constexpr const char* kObjects =
    "#include <cstdio>\n#include <vector>\nthread_local int own; int total;\n"
    "struct Base { virtual ~Base() {} virtual int next() { return ++total; } };\n"
    "int main() { std::vector<int> two(2, 0); Base base; Base* seen = &base; own = seen->next() + "
    "int(two.size());\n"
    "  std::printf(\"%d\\n\", own - 2); }\n";
constexpr const char* kCoroutine =
    "#include <coroutine>\n#include <cstdio>\n#include <exception>\n"
    "struct Task { struct promise_type { int value = 0;\n"
    "    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }\n"
    "    std::suspend_always initial_suspend() noexcept { return {}; }\n"
    "    std::suspend_always final_suspend() noexcept { return {}; }\n"
    "    std::suspend_always yield_value(int v) { value = v; return {}; }\n"
    "    void return_void() {} void unhandled_exception() { std::terminate(); } };\n"
    "  std::coroutine_handle<promise_type> handle; ~Task() { handle.destroy(); } };\n"
    "Task upto(int n) { for (int i = 0; i < n; ++i) co_yield i; }\n"
    "int main() { int sum = 0; Task task = upto(2); while (task.handle.resume(), !task.handle.done())\n"
    "    sum += task.handle.promise().value; std::printf(\"%d\\n\", sum); }\n";

class Flags : public testing::Test {
 protected:
  Flags() {
    folder.write("a.c", kPlain);
    folder.write("a.cpp", kObjects);
    folder.write("task.cpp", kCoroutine);
    folder.write("one.s", ".globl one\none: mov $1,%eax\n ret\n.section .note.GNU-stack,\"\",@progbits\n");
    folder.write(
        "one.S",
        "#define N 1\n.globl one\none: mov $N,%eax\n ret\n.section .note.GNU-stack,\"\",@progbits\n");
    folder.write(
        "uses.c",
        "#include <stdio.h>\nint one(void); int main(void) { printf(\"%d\\n\", one()); return 0; }\n");
    folder.write("pre.h", "#pragma once\n#include <cstdio>\ninline int pre() { return 1; }\n");
    folder.write("pre.cpp", "#include \"pre.h\"\nint main() { std::printf(\"%d\\n\", pre()); }\n");
    folder.write("m.cppm", "export module m;\nexport int twice(int x) { return 2 * x; }\n");
    folder.write("m.cpp",
                 "#include <cstdio>\nimport m;\nint main() { std::printf(\"%d\\n\", twice(1) - 1); }\n");
  }

  // `line` leaves the program `x`, which prints 1, and `modules` modules of it were instrumented.
  void builds(const std::string& line, size_t modules = 1) {
    Output output = folder.run("rm -f x && " + line + " && ./x");
    EXPECT_EQ(output.status, 0) << line << "\n" << output.text;
    EXPECT_EQ(output.text, "1\n") << line;
    Result<Program> opened = Program::open(folder.path("x"));
    ASSERT_TRUE(opened.ok()) << line << "\n" << opened.error().sentence();
    EXPECT_EQ(opened.value().modules.size(), modules) << line;
  }

  void refuses(const std::string& line, const std::string& because) {
    Output output = folder.run(line);
    EXPECT_EQ(output.status, 2) << line;
    EXPECT_EQ(std::ranges::count(output.text, '\n'), 1) << line << "\n" << output.text;
    EXPECT_NE(output.text.find(because), std::string::npos) << line << "\n" << output.text;
  }

  Folder folder;
};

TEST_F(Flags, OfCode) {
  for (const char* flags : {"-O0",
                            "-O1",
                            "-O2",
                            "-O3",
                            "-Os",
                            "-Oz",
                            "-Og",
                            "-std=c89",
                            "-std=gnu99",
                            "-std=c11",
                            "-std=c17",
                            "-std=c23",
                            "-ffast-math -O2",
                            "-march=native -O3",
                            "-fvisibility=hidden",
                            "-fno-plt -fPIC",
                            "-fno-pie -no-pie",
                            "-mcmodel=large",
                            "-fno-omit-frame-pointer -mno-red-zone",
                            "-finstrument-functions",
                            "-fcf-protection=full",
                            "-fstack-protector-all -D_FORTIFY_SOURCE=3 -O2",
                            "-fsanitize=undefined",
                            "-fsanitize-trap=undefined -fsanitize=undefined",
                            "--coverage",
                            "-fprofile-instr-generate -fcoverage-mapping",
                            "-pg",
                            "-fembed-bitcode",
                            "-fno-integrated-as",
                            "-Wall -Wextra -pedantic -Werror",
                            "-Werror=unused-command-line-argument",
                            "-pipe",
                            "-pthread",
                            "-ffile-prefix-map=/tmp=. -frandom-seed=3",
                            "-mllvm -inline-threshold=0",
                            "-include stddef.h",
                            "-x c"}) {
    builds(std::string("$CC ") + flags + " a.c -o x");
  }
}

TEST_F(Flags, OfCxx) {
  for (const char* flags :
       {"-std=c++98", "-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20 -O2", "-std=c++23", "-fno-rtti",
        "-fno-exceptions -O2", "-fno-threadsafe-statics", "-fvisibility-inlines-hidden -fvisibility=hidden",
        "-ftls-model=global-dynamic", "-static-libstdc++ -static-libgcc", "-fmodules"}) {
    std::string standard =
        std::string(flags).find("c++98") != std::string::npos ? " -Dthread_local=__thread" : "";
    builds(std::string("$CXX ") + flags + standard + " a.cpp -o x");
  }
  builds("$CC --driver-mode=g++ a.cpp -o x");
  builds("$CXX -std=c++20 task.cpp -o x");
  builds("$CXX -std=c++20 -O2 task.cpp -o x");
}

TEST_F(Flags, OfDebugInformation) {
  for (const char* flags :
       {"-g0", "-g1", "-g3", "-ggdb", "-gdwarf-4 -gz", "-gsplit-dwarf", "-gline-tables-only"}) {
    builds(std::string("$CC ") + flags + " a.c -o x");
    Result<Program> opened = Program::open(folder.path("x"));
    ASSERT_TRUE(opened.ok());
    const SiteTables& tables = opened.value().modules[0].tables;
    EXPECT_TRUE(std::ranges::any_of(tables.sites, [](const SiteEntry& site) { return site.line == 3; }))
        << flags;
  }
}

TEST_F(Flags, OfLinking) {
  for (const char* flags :
       {"-Wl,-z,defs -Wl,-z,now -Wl,--as-needed", "-rdynamic", "-fuse-ld=bfd", "-fuse-ld=gold",
        "-fuse-ld=lld-19", "-Wl,--gc-sections -ffunction-sections -O2", "-s", "-Wl,-s", "-Wl,--build-id=sha1",
        "-Xlinker --export-dynamic", "-Wl,-rpath,/nowhere -L/nowhere", "-flto", "-flto=thin -O2",
        "-flto=full -fwhole-program-vtables -O2", "-flto=auto", "-flto -ffat-lto-objects"}) {
    builds(std::string("$CC ") + flags + " a.c -o x");
  }
  builds(
      "$CC -c a.c && ar rcs liba.a a.o && ranlib liba.a && $CC -Wl,--whole-archive liba.a "
      "-Wl,--no-whole-archive -o x");
  builds("$CC -c a.c && rm -f thin.a && ar rcsT thin.a a.o && $CC thin.a -o x");
  builds("$CC -c a.c && $CC -Wl,--start-group a.o -Wl,--end-group -o x");
  builds("$CC -c a.c && $CC -no-pie -nostdlib -Wl,-r a.o -o r.o && $CC r.o -o x");
  builds("$CC -c a.c && $CC -no-pie -nostdlib -Xlinker -r a.o -o r.o && $CC r.o -o x");
  EXPECT_EQ(
      folder
          .run("$CC -nostdlib -ffreestanding -c a.c && $CC -shared -nostdlib -fPIC -x c /dev/null -o none.so")
          .text,
      "");
}

TEST_F(Flags, OfInputAndOutput) {
  builds("cat a.c | $CC -x c - -o x");
  builds("cat a.c | $CC -x c -c - -o - > piped.o && $CC piped.o -o x");
  builds("cp uses.c odd.ext && $CC -x c odd.ext -x none one.s -o x");
  builds("$CC uses.c one.s -o x");
  builds("$CC uses.c one.S -o x");
  builds("$CC -c one.S -o one.o && $CC uses.c one.o -o x");
  builds("$CC -emit-llvm -S a.c -o a.ll && $CC a.ll -o x");
  builds("$CC -S a.c -o - > a.s && $CC a.s -o x");
  builds("$CC -E a.c -o - > a.i && $CC a.i -o x");
  builds("$CC -c uses.c one.s && $CC uses.o one.o -o x");
  EXPECT_EQ(folder.run("$CC -MM a.c").text, "a.o: a.c\n");
  EXPECT_EQ(folder.run("$CC -MMD -c a.c && cat a.d").text, "a.o: a.c\n");
  EXPECT_EQ(folder.run("$CC -MMD -MP -MT aim -MF other.d -c a.c -o a.o && cat other.d").text, "aim: a.c\n");
  EXPECT_EQ(folder.run("$CC -M a.c | grep -c stdio.h").text, "1\n");
  EXPECT_EQ(folder.run("$CC -fsyntax-only a.c && $CC --analyze a.c && $CC -emit-ast a.c").text, "");
}

TEST_F(Flags, OfHeadersAndModules) {
  builds("$CXX -x c++-header pre.h -o pre.pch && $CXX -include-pch pre.pch pre.cpp -o x");
  builds("$CXX -x c++-header pre.h && test -s pre.h.pch && $CXX -include pre.h pre.cpp -o x");
  builds(
      "mkdir -p h && cp pre.h h/pre.hpp && $CXX h/pre.hpp -o h/pre.pch && sed 's/pre.h/h\\/pre.hpp/' pre.cpp "
      "> h.cpp && "
      "$CXX -include-pch h/pre.pch h.cpp -o x");
  builds("$CXX -include pre.h pre.cpp -o x");
  builds(
      "$CXX -std=c++20 --precompile m.cppm -o m.pcm && $CXX -std=c++20 -fmodule-file=m=m.pcm m.cpp m.pcm -o "
      "x",
      2);
  builds(
      "$CXX -std=c++20 -fmodule-output -c m.cppm -o m.o && $CXX -std=c++20 -fmodule-file=m=m.pcm m.cpp m.o "
      "-o x",
      2);
}

TEST_F(Flags, QuestionsAreAnsweredAsClangAnswersThem) {
  for (const char* question :
       {"-v", "--version", "-dumpmachine", "-dumpversion", "-print-search-dirs", "-print-resource-dir",
        "-print-prog-name=ld", "-print-file-name=libc.so", "-print-libgcc-file-name", "-print-target-triple",
        "-print-multiarch", "--help", "-print-supported-cpus"}) {
    Output ours = folder.run(std::string("$CC ") + question),
           clang = folder.run(std::string("clang-19 ") + question);
    EXPECT_EQ(ours.status, clang.status) << question;
    EXPECT_EQ(ours.text, clang.text) << question;
  }
}

TEST_F(Flags, ThatCannotBe) {
  for (const char* sanitizer :
       {"address", "thread", "memory", "leak", "hwaddress", "cfi -flto", "fuzzer", "safe-stack"})
    refuses(std::string("$CC -c -fsanitize=") + sanitizer + " a.c", "cannot be combined with Cleave; leave");
  refuses("$CC -static a.c", "-static");
  refuses("$CXX -static-pie a.cpp", "-static");
  refuses("$CC -m32 a.c", "-m32");
  for (const char* target : {"--target=aarch64-linux-gnu", "-target i686-linux-gnu",
                             "--target x86_64-pc-windows-msvc", "--target=x86_64-linux-musl"})
    refuses(std::string("$CC ") + target + " -c a.c", "x86-64 Linux with glibc only; leave out the target");
  refuses("$CC -femulated-tls a.c", "-femulated-tls");
  builds("$CC --target=x86_64-linux-gnu a.c -o x");
  builds("$CC -target x86_64-pc-linux-gnu -m32 -m64 a.c -o x");
  for (const char* line : {"$CC missing.c", "$CC -o /missing/x a.c", "$CC a.c -lmissing",
                           "$CC -fno-such-flag -Werror a.c", "$CC .", "$CC"}) {
    EXPECT_EQ(folder.run(line).status, 1) << line;
  }
}

}  // namespace
}  // namespace cleave
