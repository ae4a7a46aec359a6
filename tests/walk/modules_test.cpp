// Functions of another module, linked in or in a shared library: followed, and what they return is an
// expression.
#include <map>

#include "walk/recorded_program.h"

namespace cleave {
namespace {

const char* kLibrary = R"(
long library_calls;
struct small { char *at; long capacity; char here[16]; };
long scaled(long x, long y) { ++library_calls; return x * 3 - y; }
struct two { long first, second; };
struct two both(long x, long y) { ++library_calls; struct two t = {x + y, x - y}; return t; }
long room(struct small *s) { return s->at == s->here ? 15 : s->capacity; }
)";

const char* kProgram = R"(
#include <pthread.h>
#include <sys/time.h>
struct small { char *at; long capacity; char here[16]; };
struct two { long first, second; };
long scaled(long x, long y);
struct two both(long x, long y);
long room(struct small *s);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
long in_x = 5, in_y = 11, out_scaled, out_first, out_second, out_room;
static void *work(void *seed) {
  for (int round = 0; round < 3; round++) {
    struct timeval now;
    struct small text = {text.here, 4096, ""};
    pthread_mutex_lock(&m);
    long x = in_x, y = in_y;
    out_scaled = scaled(x, y);
    gettimeofday(&now, 0);
    struct two t = both(x, y);
    gettimeofday(&now, 0);
    out_first = t.first;
    out_second = t.second;
    out_room = x + room(&text) > 12 ? x + 1 : x;
    in_x = x * 3 + (long)seed;
    in_y = y - x;
    pthread_mutex_unlock(&m);
  }
  return 0;
}
int main(void) {
  struct timeval now;
  pthread_t s, t;
  if (scaled(1, 2) != 0) gettimeofday(&now, 0);
  pthread_create(&s, 0, work, (void *)3);
  pthread_create(&t, 0, work, (void *)4);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return 0;
}
)";

class ModulesAt : public testing::TestWithParam<std::pair<const char*, bool>> {};

TEST_P(ModulesAt, AreOneProgram) {
  const auto [level, shared] = GetParam();
  const std::string name = std::string("modules_") + (level + 1) + (shared ? "_shared" : "_linked");
  const std::string folder = (scratch_folder() / (name + "_folder")).string(),
                    library = folder + "/library.c";
  std::filesystem::create_directories(folder);
  std::ofstream(library) << kLibrary;
  std::string linked = library;
  if (shared) {
    linked = folder + "/liblibrary.so";
    ASSERT_EQ(shell(CLEAVE_BINARY_DIR "/bin/cleave-cc -g -shared -fPIC " + std::string(level) + " " +
                    library + " -o " + linked),
              0);
  }
  auto walked = record_program(name + ".c", kProgram, std::string(level) + " " + linked);
  ASSERT_TRUE(walked);
  Result<SymbolicTrace> lifted =
      walk_recorded_paths(walked->recorded, {walked->program, linked}, &walked->report);
  ASSERT_TRUE(lifted.ok()) << lifted.error().sentence();
  EXPECT_EQ(walked->report.mismatches, 0u) << walked->remarks();
  EXPECT_EQ(walked->report.threads_lost, 0u) << walked->remarks();
  const SymbolicTrace& symbolic = lifted.value();
  std::vector<uint64_t> recorded;
  for (const SymbolInfo& symbol : symbolic.symbols()) recorded.push_back(symbol.recorded);
  std::map<std::string, size_t> stores, expressions;
  for (size_t e = 0; e < walked->recorded.trace.size(); ++e) {
    const Event& event = walked->recorded.trace.events()[e];
    const EventIndex at{e};
    if (!writes(event.kind) || symbolic.stored(at) == kNone<ExpressionId>) continue;
    const std::string& variable = walked->recorded.trace.variable(event.variable()).name;
    EXPECT_EQ(symbolic.pool().evaluate(symbolic.stored(at), recorded), event.value)
        << variable << ", event " << e;
    ++stores[variable];
    expressions[variable] += !symbolic.pool().is_constant(symbolic.stored(at));
  }
  for (const char* variable : {"out_scaled", "out_first", "out_second", "out_room"}) {
    EXPECT_EQ(stores[variable], 6u) << variable;
    EXPECT_EQ(expressions[variable], 6u) << variable << " is not lifted";
  }
}

// Without the library's file the program is still walked: what the library did keeps its recorded values, and
// that is said.
TEST(Modules, ALibraryThatIsGoneIsSaid) {
  const std::string folder = (scratch_folder() / "modules_gone_folder").string(),
                    library = folder + "/liblibrary.so";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/library.c") << kLibrary;
  ASSERT_EQ(
      shell(CLEAVE_BINARY_DIR "/bin/cleave-cc -g -shared -fPIC -O1 " + folder + "/library.c -o " + library),
      0);
  auto walked = record_program("modules_gone.c", kProgram, "-O1 " + library);
  ASSERT_TRUE(walked);
  Result<SymbolicTrace> lifted = walk_recorded_paths(walked->recorded, {walked->program}, &walked->report);
  ASSERT_TRUE(lifted.ok()) << lifted.error().sentence();
  EXPECT_EQ(walked->report.mismatches, 0u) << walked->remarks();
  EXPECT_NE(walked->remarks().find("no bitcode of"), std::string::npos) << walked->remarks();
}

INSTANTIATE_TEST_SUITE_P(Levels, ModulesAt,
                         testing::Values(std::pair{"-O0", false}, std::pair{"-O2", false},
                                         std::pair{"-O0", true}, std::pair{"-O2", true}),
                         [](const auto& info) {
                           return std::string(info.param.first + 1) +
                                  (info.param.second ? "_shared" : "_linked");
                         });

}  // namespace
}  // namespace cleave
