#!/usr/bin/env python3
"""run.py ROOT BUILD: examples/bank.cpp from compile to replay, then bad input of every kind to predict and replay."""
import json
import os
import resource
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, BUILD = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
CLEAVE, COMPILER = BUILD / "bin" / "cleave", BUILD / "bin" / "cleave-c++"
FLAGS = ["-g", "-O1", "-std=c++20", "-pthread"]


class Bank(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="cleave-predict-cli-"))
        shutil.copy(ROOT / "examples" / "bank.cpp", cls.folder)
        subprocess.run([COMPILER, *FLAGS, "bank.cpp", "-o", "bank"], cwd=cls.folder, check=True)
        recorded = cls.cleave("record", "--schedule", "serial", "-o", "bank.cleave", "--", "./bank")
        assert recorded.returncode == 0, recorded.stderr
        cls.serial_output = recorded.stdout
        cls.predicted = cls.cleave("predict", "bank.cleave", "--json", "findings.json")
        cls.findings = json.loads((cls.folder / "findings.json").read_text())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def cleave(cls, *words):
        return subprocess.run([CLEAVE, *words], cwd=cls.folder, capture_output=True, text=True, timeout=240,
                              env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"})

    def refused(self, status, words, *sentence):
        """Ends with the status and one sentence on standard error that has these words in it."""
        done = self.cleave(*words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        lines = done.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        for part in sentence:
            self.assertIn(part, lines[0])

    def test_violation_of_a_serial_run_is_confirmed(self):
        self.assertEqual(self.predicted.returncode, 1, self.predicted.stderr)
        self.assertEqual(len(self.findings["findings"]), 1)
        finding = self.findings["findings"][0]
        self.assertEqual((finding["kind"], finding["pattern"], finding["verdict"], finding["proof"]),
                         ("triple", "RWW", "confirmed", "C_RWW"))
        self.assertEqual((finding["variable"], finding["unit"]), ("Account::balance_", "withdraw"))
        self.assertEqual([access["function"] for access in finding["accesses"]],
                         ["Account::get", "Account::set", "Account::set"])
        first, remote, second = finding["accesses"]
        self.assertEqual(first["thread"], second["thread"])
        self.assertNotEqual(first["thread"], remote["thread"])
        self.assertEqual(first["value"], "100")

    def test_stages_are_those_of_the_contract(self):
        names = [stage["name"] for stage in self.findings["stages"]]
        self.assertEqual(names[:6], ["patterns", "order", "locks", "filter", "exact", "symbolic"])
        self.assertEqual([stage["triples"] for stage in self.findings["stages"][:3]], [2, 2, 2])

    def test_report_says_what_a_programmer_needs(self):
        text = self.predicted.stdout
        for part in ("Account::balance_, then changes it; another thread changes it in between",
                     "confirmed  CLV-", "lost update; cleave explain RWW", "  in withdraw\n", "  bank.cpp:13  in Account::get",
                     "return balance_;", "holding account.mutex_",
                     "withdraw read 100 from Account::balance_"):
            self.assertIn(part, text)
        self.assertNotIn(str(self.folder), text, "files below the working directory are named from there")

    def test_replay_command_of_the_report_works(self):
        line = next(line for line in self.predicted.stdout.splitlines() if "replay: cleave " in line)
        words = line.split("replay: cleave ")[1].split()
        done = self.cleave(*words, "-o", "replayed.cleave")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(done.stdout.splitlines()[0], self.serial_output.splitlines()[0], "money is lost")
        dump = self.cleave("trace", "dump", "replayed.cleave", "--variable", "Account::balance_").stdout
        access = self.findings["findings"][0]["accesses"]
        wanted = [(a["thread"], a["op"], a["value"]) for a in access]
        seen = [(line.split()[1], line.split()[2], line.split()[-1]) for line in dump.splitlines()
                if len(line.split()) > 3 and line.split()[2] in ("read", "write")]
        order = [(who, what) for who, what, _ in wanted]
        rest = iter((who, what) for who, what, _ in seen)
        self.assertTrue(all(step in rest for step in order), dump)

    def test_no_replay_leaves_it_feasible(self):
        done = self.cleave("predict", "--no-replay", "bank.cleave", "--json", "-")
        findings = json.loads(done.stdout)["findings"]
        self.assertEqual([finding["verdict"] for finding in findings], ["feasible"])

    def test_jobs_zero_is_one_a_core(self):
        self.assertEqual(self.cleave("predict", "--jobs", "0", "bank.cleave").returncode, 1)

    def test_budget_of_nothing_is_said(self):
        done = self.cleave("predict", "--budget", "0", "bank.cleave")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 candidates were not run (--budget)", " ".join(done.stdout.split()))

    def test_text_trace_is_predicted_without_replay(self):
        exported = self.cleave("trace", "export", "bank.cleave").stdout
        (self.folder / "bank.txt").write_text(exported)
        done = self.cleave("predict", "bank.txt", "--json", "-")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual([stage["triples"] for stage in json.loads(done.stdout)["stages"][:3]], [2, 2, 2])

    def test_what_the_trace_contains_is_judged_without_a_run(self):
        """A lost update that happened: confirmed from the text alone; put in serial order, only predicted."""
        head = "init x 0\nT1 begin add\nT1 read x 0\n"
        (self.folder / "lost.txt").write_text(head + "T2 write x 5\nT1 write x 1\nT1 end\n")
        (self.folder / "serial.txt").write_text(head + "T1 write x 1\nT1 end\nT2 write x 5\n")
        verdicts = []
        for trace in ("lost.txt", "serial.txt"):
            findings = json.loads(self.cleave("predict", trace, "--json", "-").stdout)["findings"]
            verdicts.append([(finding["pattern"], finding["verdict"]) for finding in findings])
        self.assertEqual(verdicts[0], [("RWW", "confirmed")])
        self.assertEqual(verdicts[1], [("RWW", "feasible")])

    def test_damaged_witness_gets_one_sentence(self):
        witness = next(self.folder.glob("witness-*.json"))
        (self.folder / "cut.json").write_text(witness.read_text()[:200])
        (self.folder / "empty.json").write_text('{"cleave_witness": 1, "program": 3}')
        self.refused(2, ["replay", "cut.json"], "cut.json", "truncated", "cleave predict")
        self.refused(2, ["replay", "empty.json"], "empty.json", "damaged witness")
        for name in ("cut.json", "empty.json"):
            self.assertNotIn("json.exception", self.cleave("replay", name).stderr)

    def test_bad_input(self):
        (self.folder / "short.cleave").write_bytes((self.folder / "bank.cleave").read_bytes()[:10])
        (self.folder / "words.txt").write_text("garbage\n")
        self.refused(2, ["predict", "nothing.cleave"], "nothing.cleave", "cannot be opened")
        self.refused(2, ["predict", "short.cleave"], "short.cleave", "too short")
        self.refused(2, ["predict", "words.txt"], "words.txt", "line 1")
        self.refused(2, ["predict", "."], "is a directory")
        self.refused(2, ["predict", "--stages", "locks,unheard", "bank.cleave"], "no stage `unheard`", "patterns")
        self.refused(2, ["predict", "--jobs", "-1", "bank.cleave"], "--jobs")
        self.refused(2, ["predict", "--fail-on", "never", "bank.cleave"], "--fail-on")
        self.refused(2, ["replay", "nothing.json"], "nothing.json")
        self.refused(2, ["replay", "words.txt"], "words.txt", "not a witness")

    def test_without_the_solver(self):
        """Every other command works, and predict says what it left out."""
        broken = self.folder / "broken"
        broken.mkdir(exist_ok=True)
        (broken / "libz3.so.4").write_text("")
        without = {**os.environ, "NO_COLOR": "1", "LD_LIBRARY_PATH": str(broken)}

        def run(*words):
            return subprocess.run([CLEAVE, *words], cwd=self.folder, env=without, capture_output=True, text=True, timeout=120)

        done = run("trace", "stats", "bank.cleave")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("predict", "--no-replay", "bank.cleave")
        self.assertEqual(done.returncode, 3, done.stderr)  # its candidate is undecided
        said = " ".join(done.stdout.split())
        self.assertIn("the symbolic stage was left out: the solver cannot be loaded", said)
        self.assertIn("cleave doctor", said)

    def test_with_little_memory(self):
        """Whatever the process may have, predict ends as it should; what it could not decide for lack of memory is said."""
        if any(name in CLEAVE.read_bytes() for name in (b"__asan_init", b"__tsan_init")):
            self.skipTest("a sanitizer needs more address space than any limit leaves")
        (self.folder / "figure.txt").write_text("# cleave text trace 1\nT1 begin u\nT1 read x 0 -> a\nT1 write x 1 = (+ a 1)\nT1 end\n"
                                                "T2 read x 1 -> b\nT2 assume (> b 0)\nT2 write x 5 = 5\n")
        (self.folder / "orders.txt").write_text(many_orders())

        def predict(trace, megabytes):
            limit = megabytes << 20
            done = subprocess.run([CLEAVE, "predict", "--all", trace, "--json", "-"], cwd=self.folder, capture_output=True,
                                  text=True, timeout=120, env={**os.environ, "NO_COLOR": "1"},
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            self.assertIn(done.returncode, (0, 1, 3), f"{megabytes} MB: {done.stderr}")
            self.assertEqual(done.returncode == 3, "undecided: " in done.stderr, f"{megabytes} MB: {done.stderr}")
            return " ".join(done.stdout.split())

        said = {megabytes: predict("figure.txt", megabytes) for megabytes in (120, *range(200, 331, 10), 400, 1000)}
        said_of_many_orders = predict("orders.txt", 260)
        self.assertIn("the symbolic stage was left out", said[120])
        self.assertIn('"symbolic": "unsat"', said[1000])
        self.assertIn("unknown: memory: ", said_of_many_orders)

    def test_without_the_module(self):
        """The library of the symbolic stage is not there at all."""
        elsewhere = self.folder / "elsewhere"
        (elsewhere / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy(CLEAVE, elsewhere / "bin")
        done = subprocess.run([elsewhere / "bin" / "cleave", "predict", "--no-replay", "bank.cleave"], cwd=self.folder, capture_output=True,
                              text=True, timeout=120, env={**os.environ, "NO_COLOR": "1"})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("the symbolic stage was left out", " ".join(done.stdout.split()))

    def test_each_model_says_what_the_paper_says_of_it(self):
        """CTP's figure 1 (a) with both conditions: `cam` reports what the data rules out, `mcm` misses what is real."""
        said = {}
        for condition in ("(> b 0)", "(>= b 0)"):
            (self.folder / "figure.txt").write_text(
                "# cleave text trace 1\nT1 begin u\nT1 read x 0 -> a\nT1 write x 1 = (+ a 1)\nT1 end\n"
                f"T2 read x 1 -> b\nT2 assume {condition}\nT2 write x 5 = 5\n")
            for model in ("ctp", "cam", "mcm"):
                done = self.cleave("predict", "--all", "--model", model, "figure.txt", "--json", "-")
                self.assertIn(done.returncode, (0, 1), done.stderr)
                said[condition, model] = [finding["stages"]["symbolic"] for finding in json.loads(done.stdout)["findings"]
                                          if finding["pattern"] == "RWW"]
        self.assertEqual(said, {("(> b 0)", "ctp"): ["unsat"], ("(> b 0)", "cam"): ["sat"], ("(> b 0)", "mcm"): ["unsat"],
                                ("(>= b 0)", "ctp"): ["sat"], ("(>= b 0)", "cam"): ["sat"], ("(>= b 0)", "mcm"): ["unsat"]})

    def test_no_time_for_the_solver(self):
        done = self.cleave("predict", "--no-replay", "--all", "--solver-seconds", "0", "bank.cleave", "--json", "-")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("unknown: time", done.stdout)

    def test_program_that_is_gone_or_another(self):
        witness = next(self.folder.glob("witness-*.json")).name
        kept = self.folder / "bank.kept"
        os.rename(self.folder / "bank", kept)
        try:
            self.refused(2, ["predict", "bank.cleave"], "bank", "is not there", "--no-replay")
            self.refused(2, ["replay", witness], "bank")
            self.assertEqual(self.cleave("predict", "--no-replay", "bank.cleave").returncode, 3)
            source = (self.folder / "bank.cpp").read_text()
            (self.folder / "other.cpp").write_text(source + "\nint more(int x) { return x + 1; }\n")
            subprocess.run([COMPILER, *FLAGS, "other.cpp", "-o", "bank"], cwd=self.folder, check=True)
            self.refused(2, ["predict", "bank.cleave"], "bank", "built again", "record it again")
            self.refused(2, ["replay", witness], "another build")
            left_out = self.cleave("predict", "--no-replay", "bank.cleave").stdout
            self.assertIn("the symbolic stage was left out", left_out)
            subprocess.run(["clang++-19", *FLAGS, f"-I{ROOT / 'include'}", "bank.cpp", "-o", "bank"], cwd=self.folder, check=True)
            self.refused(2, ["predict", "bank.cleave"], "bank", "was not built with Cleave")
            self.assertEqual(self.cleave("replay", witness).returncode, 2)
        finally:
            os.replace(kept, self.folder / "bank")


COUNTER = r"""
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int hits;
static int get_hits(void) { pthread_mutex_lock(&mutex); int v = hits; pthread_mutex_unlock(&mutex); return v; }
static void set_hits(int v) { pthread_mutex_lock(&mutex); hits = v; pthread_mutex_unlock(&mutex); }
static void *work(void *arg) { for (int i = 0; i < 3; i++) set_hits(get_hits() + 1); return arg; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""

INVENTORY = r"""
#include <map>
#include <mutex>
#include <string>
#include <thread>
class Inventory {
 public:
  void add(const std::string& item, int count) {
    std::lock_guard<std::mutex> guard(mutex_);
    stock_[item] += count;
  }
  int available(const std::string& item) {
    std::lock_guard<std::mutex> guard(mutex_);
    auto found = stock_.find(item);
    return found == stock_.end() ? 0 : found->second;
  }
  bool take(const std::string& item) {
#ifdef REPAIRED
    std::lock_guard<std::mutex> guard(mutex_);
    auto found = stock_.find(item);
    if (found == stock_.end() || found->second < 1) return false;
    --found->second;
#else
    if (available(item) < 1) return false;
    add(item, -1);
#endif
    return true;
  }
 private:
  std::mutex mutex_;
  std::map<std::string, int> stock_;
};
int main() {
  Inventory inventory;
  inventory.add("apple", 5);
  std::thread first([&] { inventory.take("apple"); }), second([&] { inventory.take("apple"); });
  first.join();
  second.join();
}
"""


CACHE = r"""
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
class Cache {
 public:
  bool contains(const std::string& key) {
    std::lock_guard<std::mutex> guard(mutex_);
    return map_.count(key) != 0;
  }
  void insert(const std::string& key, int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    map_[key] = value;
    log_.push_back(value);
  }
  size_t size() {
    std::lock_guard<std::mutex> guard(mutex_);
    return log_.size();
  }
  void add(int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    log_.push_back(value);
  }
 private:
  std::mutex mutex_;
  std::unordered_map<std::string, int> map_;
  std::vector<int> log_;
};
Cache cache;
std::atomic<int> tickets{1};
void fetch() {
  if (!cache.contains("alpha")) cache.insert("alpha", 5);
}
void number() { cache.add(static_cast<int>(cache.size())); }
void buy() {
  if (tickets.load() > 0) tickets.store(tickets.load() - 1);
}
int main(int count, char**) {
  auto work = [count] {
    if (count == 1) fetch();
    if (count == 2) buy();
    if (count == 3) number();
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
}
"""


def many_orders():
    """Six threads whose order decides a number: that it is never one more than it was is a long story to prove."""
    lines, count, number = ["# cleave text trace 1", "T1 begin u", "T1 read x 0 -> x0"], 0, 1
    for turn in range(3):
        for thread in range(2, 8):
            one, other = f"a{thread}_{turn}", f"b{thread}_{turn}"
            lines += [f"T{thread} read c {count} -> {one}", f"T{thread} write c {count + 1} = (+ {one} 1)", f"T{thread} read d {number} -> {other}"]
            number, count = number * 3 + count, count + 1
            lines.append(f"T{thread} write d {number} = (+ (* {other} 3) {one})")
    return "\n".join(lines + ["T1 write x 1 = (+ x0 1)", "T1 end", f"T9 read d {number} -> z", "T9 read x 1 -> w",
                              f"T9 assume (= (+ z w) {number + 1})", "T9 write x 5 = 5", ""])


POOL = r"""
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <queue>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
class Pool {
 public:
  explicit Pool(int count) {
    for (int i = 0; i < count; ++i) workers_.emplace_back([this](std::stop_token stop) { run(stop); });
  }
  ~Pool() {
    for (std::jthread& worker : workers_) worker.request_stop();
    changed_.notify_all();
  }
  template <class F>
  auto submit(F work) -> std::future<decltype(work())> {
    auto task = std::make_shared<std::packaged_task<decltype(work())()>>(std::move(work));
    auto result = task->get_future();
    {
      std::lock_guard guard(mutex_);
      tasks_.push([task] { (*task)(); });
    }
    changed_.notify_one();
    return result;
  }

 private:
  void run(std::stop_token stop) {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [&] { return !tasks_.empty(); })) return;
        task = std::move(tasks_.front());
        tasks_.pop();
      }
      task();
    }
  }
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::queue<std::function<void()>> tasks_;
  std::vector<std::jthread> workers_;
};
class Registry {
 public:
  int count() const {
    std::shared_lock lock(mutex_);
    return static_cast<int>(items_.size());
  }
  int add(std::shared_ptr<std::string> item) {
    std::unique_lock lock(mutex_);
    items_.push_back(std::move(item));
    return static_cast<int>(items_.size()) - 1;
  }
  int add_unless_full(std::shared_ptr<std::string> item) {
    if (count() >= 4) throw std::runtime_error("full");
    return add(std::move(item));
  }

 private:
  mutable std::shared_mutex mutex_;
  std::vector<std::shared_ptr<std::string>> items_;
};
int main() {
  Registry registry;
  Pool pool(3);
  std::vector<std::future<int>> results;
  for (int i = 0; i < 6; ++i)
    results.push_back(pool.submit([&, i] { return registry.add_unless_full(std::make_shared<std::string>(std::to_string(i))); }));
  for (auto& result : results) {
    try {
      result.get();
    } catch (const std::exception&) {
    }
  }
}
"""


class InsideTheLibrary(unittest.TestCase):
    """What the standard library touches on the program's behalf is told in the program's words."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="cleave-predict-cli-")
        (Path(cls.folder.name) / "cache.cpp").write_text(CACHE)
        built = cls.run_there(COMPILER, "-std=c++20", "-g", "-O1", "-pthread", "cache.cpp", "-o", "cache")
        assert built.returncode == 0, built.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_there(cls, *words):
        return subprocess.run([str(word) for word in words], cwd=cls.folder.name, capture_output=True, text=True, timeout=240,
                              env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"})

    def findings(self, *words):
        done = self.run_there(CLEAVE, *words)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done, json.loads((Path(self.folder.name) / "f.json").read_text())

    def check(self, unit, *arguments):
        done, report = self.findings("check", "--schedule", "random", "--runs", "60", "--stop", "--units", f"functions:{unit}",
                                     "--json", "f.json", "--", "./cache", *arguments)
        self.assertEqual(len(report["findings"]), 1, done.stderr)
        seed = re.search(r"--seed (\d+)", report["facts"]["runs"]).group(1)
        _, again = self.findings("check", "--schedule", "random", "--seed", seed, "--units", f"functions:{unit}", "--json",
                                 "f.json", "--", "./cache", *arguments)
        self.assertEqual([one["id"] for one in again["findings"]], [report["findings"][0]["id"]])
        return done.stderr, report["findings"][0]

    def test_a_container_is_called_what_the_class_calls_it(self):
        text, finding = self.check("fetch")
        self.assertIn(finding["variable"].rstrip("[]"), ("Cache::map_", "Cache::log_"))
        self.assertIn("inside std::", text)
        self.assertNotIn("_M_", finding["variable"])
        for edge in finding["edges"]:
            for end in ("first", "second"):
                self.assertTrue(edge[end]["file"].endswith("cache.cpp"), edge)
                self.assertIn(edge[end]["function"], ("Cache::contains", "Cache::insert"))
                self.assertIn("/usr/", edge[end]["stack"][0])

    def test_an_atomic_is_called_what_it_is_declared_as(self):
        text, finding = self.check("buy", "x")
        self.assertEqual(finding["variable"], "tickets", text)
        self.assertTrue(all(edge["first"]["function"] == "buy" for edge in finding["edges"]), text)

    def test_the_inside_of_one_container_is_one_finding_at_a_place(self):
        self.run_there(CLEAVE, "record", "--schedule", "serial", "-o", "t.cleave", "--", "./cache", "x", "y")
        done, report = self.findings("predict", "t.cleave", "--units", "functions:number", "--json", "f.json")
        places = [(one["id"], *((access["file"], access["line"]) for access in one["accesses"])) for one in report["findings"]]
        self.assertTrue(places, done.stdout)
        self.assertEqual(len(places), len(set(places)), done.stdout)
        self.assertEqual({one["variable"].rstrip("[]") for one in report["findings"]}, {"Cache::log_"}, done.stdout)

    def test_what_the_library_synchronizes_by_is_its_own_affair(self):
        (Path(self.folder.name) / "pool.cpp").write_text(POOL)
        built = self.run_there(COMPILER, "-std=c++20", "-g", "-O2", "-pthread", "pool.cpp", "-o", "pool")
        self.assertEqual(built.returncode, 0, built.stderr)
        self.run_there(CLEAVE, "record", "--schedule", "pct", "--seed", "3", "-o", "p.cleave", "--", "./pool")
        done, report = self.findings("predict", "p.cleave", "--solver-seconds", "5", "--json", "f.json")
        self.assertTrue(report["findings"], done.stdout)
        self.assertLessEqual({one["variable"] for one in report["findings"]}, {"Registry::items_", "Registry::items_[]"}, done.stdout)
        self.assertGreater(report["stages"][0]["left out: the library's own atomics"], 0)
        self.assertNotIn("touches std::", done.stdout)

    def test_runs_keep_no_single_trace(self):
        done = self.run_there(CLEAVE, "check", "--runs", "2", "-o", "t.cleave", "--", "./cache")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--output", done.stderr)


class WithoutAnnotations(unittest.TestCase):
    """Programs that say nothing about what has to be atomic, from one serial run."""

    def predict(self, source, compiler, name, *flags):
        with tempfile.TemporaryDirectory(prefix="cleave-predict-cli-") as folder:
            (Path(folder) / name).write_text(source)
            run = lambda *words: subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True,
                                                timeout=240, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"})
            built = run(compiler, *flags, "-g", "-O1", "-pthread", name, "-o", "program")
            self.assertEqual(built.returncode, 0, built.stderr)
            run(CLEAVE, "record", "--schedule", "serial", "-o", "t.cleave", "--", "./program")
            done = run(CLEAVE, "predict", "t.cleave", "--json", "f.json")
            findings = json.loads((Path(folder) / "f.json").read_text())["findings"]
            return done, [(one["verdict"], one["pattern"], one["variable"], one["unit"]) for one in findings]

    def test_c_functions_over_a_static(self):
        done, findings = self.predict(COUNTER, BUILD / "bin" / "cleave-cc", "counter.c")
        self.assertEqual(findings, [("confirmed", "RWW", "hits", "work")], done.stdout)
        self.assertIn("holding mutex", done.stdout)
        self.assertNotIn("mutex.__", done.stdout)

    def test_elements_of_a_map(self):
        done, findings = self.predict(INVENTORY, COMPILER, "inventory.cpp", "-std=c++20")
        self.assertEqual([(verdict, unit) for verdict, _, _, unit in findings], [("confirmed", "Inventory::take")], done.stdout)
        done, findings = self.predict(INVENTORY, COMPILER, "inventory.cpp", "-std=c++20", "-DREPAIRED")
        self.assertEqual(findings, [], done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
