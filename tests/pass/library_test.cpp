// The functions of libstdc++ that the plugin puts into programs (src/pass/library): they do what the
// library's do, are seen, and disturb no build.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "pass/build_and_run.h"

namespace cleave {
namespace {

const std::string kSource = CLEAVE_SOURCE_DIR "/tests/pass/library/";

// Everything in place for one build of the operations by our compiler and one by clang.
void compare(const std::string& flags) {
  Folder folder;
  const std::string library = " -shared -fPIC -Wl,-Bsymbolic " + kSource + "operations.cpp";
  Output built = folder.run("$CXX -Wall -Wextra -Werror -pedantic -DWHO=ours " + flags + library +
                            " -o libours.so && clang++-19 " + flags + " -DWHO=theirs" + library +
                            " -o libtheirs.so && clang++-19 -std=c++17 " + kSource +
                            "main.cpp -L. -lours -ltheirs -Wl,-rpath,. -o main");
  ASSERT_EQ(built.status, 0) << flags << ": " << built.text;
  Output ran = folder.run("LD_LIBRARY_PATH=. ./main");
  EXPECT_EQ(ran.text, "the same\n") << flags;
  EXPECT_EQ(ran.status, 0) << flags;
  // All that is left of the library's is what asks it for primes.
  std::string left = folder
                         .run(
                             "nm -D libours.so | grep -E "
                             "'_Rb_tree_(insert|rebal|incr|decr)|_List_node_base|_Prime' | grep -v ' [WV] '")
                         .text;
  EXPECT_EQ(std::ranges::count(left, '\n'), 1) << left;
  EXPECT_NE(left.find("_M_next_bkt"), std::string::npos) << left;
}

TEST(Library, DoesWhatTheLibraryDoesAtEveryLevel) {
  for (const std::string& level : kLevels) compare("-std=c++17 " + level);
}

TEST(Library, EveryStandard) {
  for (const char* standard : {"c++11", "c++14", "c++20", "c++23"})
    compare(std::string("-O1 -std=") + standard);
  compare("-O1 -std=gnu++17 -D_GLIBCXX_USE_CXX11_ABI=1 -fno-exceptions -fno-rtti");
}

const char* const kInsert =
    "#include <list>\n#include <map>\n"
    "std::map<int, int> numbers; extern \"C\" { std::list<int> order; }\n"
    "int main() { numbers[5] = 1; numbers[3] = 2; order.push_back(7); numbers.erase(5); }\n";

TEST(Library, LinksAreRecorded) {
  for (const std::string& level : kLevels) {
    Folder folder;
    folder.write("a.cpp", kInsert);
    Output built = folder.run("$CXX -std=c++20 -fno-pic -no-pie " + level + " a.cpp -o a");
    ASSERT_EQ(built.status, 0) << built.text;
    std::vector<Recorded> events = folder.record("a");
    // After they were made: the map's root, first and last node; the list's two ends.
    auto writes = [&](const std::string& variable) {
      uint64_t begin = 0, size = 0;
      std::istringstream(folder.run("nm -S a | grep ' " + variable + "$'").text) >> std::hex >> begin >> size;
      EXPECT_NE(size, 0u) << variable;
      return std::ranges::count_if(events, [&](const Recorded& event) {
        return event.kind == "Write" && event.address - begin < size && event.value > 0xffff;  // a pointer
      });
    };
    EXPECT_GE(writes("numbers"), 2 + 3 + 1 + 2) << level;  // made, two insertions, an erasure
    EXPECT_GE(writes("order"), 2 + 2) << level;
  }
}

TEST(Library, BuildsOfAllKindsGoOnAsBefore) {
  Folder folder;
  folder.write("a.cpp", kInsert);
  folder.write("b.cpp", "#include <map>\nstd::map<int, int> others; void more() { others[1] = 2; }\n");
  folder.write("all.h", "#include <list>\n#include <map>\n");
  folder.write("own.cpp",  // a program's own definition is the program's
               "#include <map>\nint calls;\nnamespace std { void _Rb_tree_insert_and_rebalance(const bool, "
               "_Rb_tree_node_base* n, "
               "_Rb_tree_node_base*, _Rb_tree_node_base& h) throw() { ++calls; n->_M_parent = &h; "
               "h._M_parent = h._M_left = h._M_right = n; } }\n"
               "int main() { std::map<int, int> m; m[1] = 1; return calls - 1; }\n");
  for (const char* command :
       {"$CXX -O2 a.cpp b.cpp -o two && ./two",
        "$CXX -O0 -c a.cpp && $CXX -O2 -c b.cpp && $CXX a.o b.o -o mixed && ./mixed",
        "$CXX -c a.cpp && clang++-19 -c b.cpp && $CXX a.o b.o -o half && ./half",
        "$CXX -x c++-header all.h -o all.pch && $CXX -include-pch all.pch a.cpp -o pch && ./pch",
        "$CXX -fno-pic -no-pie a.cpp -o fixed && ./fixed",
        "$CXX -gsplit-dwarf -gdwarf-4 a.cpp -o split && ./split", "$CXX -g0 a.cpp -o bare && ./bare",
        "$CXX -ffunction-sections -Wl,--gc-sections a.cpp -o sections && ./sections",
        "$CXX -march=haswell -O2 a.cpp -o newer && ./newer",
        "$CXX -D_GLIBCXX_DEBUG a.cpp -o debug && ./debug",
        "$CXX -S -emit-llvm a.cpp -o a.ll && $CXX -x ir a.ll -o again && ./again",
        "$CXX own.cpp -o own && ./own", "$CXX -MD -MF a.d -c a.cpp && ! grep -q 'tree.cpp' a.d",
        "$CXX -E a.cpp -o a.ii && $CXX -x c++-cpp-output a.ii -o preprocessed && ./preprocessed"}) {
    Output done = folder.run(command);
    EXPECT_EQ(done.status, 0) << command << ": " << done.text;
  }
}

}  // namespace
}  // namespace cleave
