#!/usr/bin/env python3
"""run.py ROOT BUILD [TESTS…]: what an untrusted file, a slow checker, a signal or a kill must not do."""
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT, BUILD = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
CLEAVE, COMPILER = BUILD / "bin" / "cleave", BUILD / "bin" / "cleave-c++"
FLAGS = ["-g", "-O1", "-std=c++20", "-pthread"]
LONG = 240  # seconds: only something that never ends takes as long

ENDLESS = r"""
#include <csignal>
#include <cstdio>
#include <thread>
#include <unistd.h>
volatile long counter; volatile int spinning;
int main(int argc, char** argv) {
  FILE* own = std::fopen(argv[1], "w"); std::fprintf(own, "%d\n", getpid()); std::fclose(own);
  if (argc > 2) { std::signal(SIGINT, SIG_IGN); std::signal(SIGTERM, SIG_IGN); }
  std::thread other([] { spinning = 1; asm volatile("1: pause\n jmp 1b"); });
  while (!spinning) {}
  for (;;) counter = counter + 1;
}
"""
COUNTS = r"""
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>
int cells[4096]; std::mutex mutex;
static void count(long rounds) {
  for (long i = 0; i < rounds; ++i) { std::lock_guard guard(mutex); cells[i * 7919 % 4096] += (int)(i * 2654435761u); }
}
int main(int argc, char** argv) {
  if (argc > 2 && fork() == 0) { count(std::atol(argv[1])); return 0; }
  count(std::atol(argv[1]));
  if (argc > 2) wait(nullptr);
  std::puts("done");
}
"""


def control_bytes(text):
    return [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]


def alive(process):
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def eventually(condition, seconds=LONG):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


class Safety(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="cleave-safety-"))
        cls.shared_before = cls.in_shared_memory()  # of whoever else is at work
        cls.temporary = cls.folder / "temporary"
        cls.temporary.mkdir()
        shutil.copy(ROOT / "examples" / "bank.cpp", cls.folder)
        for name, text in (("endless", ENDLESS), ("counts", COUNTS)):
            (cls.folder / f"{name}.cpp").write_text(text)
        for name in ("bank", "endless", "counts"):
            subprocess.run([COMPILER, *FLAGS, f"{name}.cpp", "-o", name], cwd=cls.folder, check=True)
        done = cls.cleave("record", "--schedule", "serial", "-o", "bank.cleave", "--", "./bank")
        assert done.returncode == 0, done.stderr
        done = cls.cleave("predict", "bank.cleave", "--json", "findings.json")
        assert done.returncode == 1, done.stdout + done.stderr
        cls.predicted = done
        cls.witness = next(cls.folder.glob("witness-*.json"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def environment(cls, **more):
        return {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", **more}

    @classmethod
    def cleave(cls, *words, **more):
        return subprocess.run([CLEAVE, *words], cwd=cls.folder, capture_output=True, text=True, timeout=LONG,
                              errors="surrogateescape", env=cls.environment(**more))

    def start(self, *words, **more):
        return subprocess.Popen([CLEAVE, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=self.environment(**more))

    def refused(self, words, *sentence):
        done = self.cleave(*words)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        for part in sentence:
            self.assertIn(part, done.stderr)
        return done

    def nothing_left(self):
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertEqual(self.in_shared_memory() - self.shared_before, set())

    @staticmethod
    def in_shared_memory():
        return {name for name in os.listdir("/dev/shm") if name.startswith("cleave")}

    # What a file names is not run unless it is what was recorded, and ours.

    def with_program(self, make):
        """Runs the body with another file in place of the program."""
        kept = self.folder / "bank.kept"
        os.rename(self.folder / "bank", kept)
        try:
            make(self.folder / "bank")
            yield
        finally:
            os.replace(kept, self.folder / "bank")

    def test_the_program_that_runs_is_printed_before_it_runs(self):
        self.assertIn(f"cleave: running {self.folder}/bank\n", self.predicted.stderr)
        done = self.cleave("replay", str(self.witness))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stderr.startswith(f"cleave: running {self.folder}/bank"), done.stderr)

    def test_a_script_is_never_run_for_a_file(self):
        marker = self.folder / "marker"

        def script(path):
            path.write_text(f"#!/bin/sh\ntouch {marker}\n")
            path.chmod(0o755)
        for _ in self.with_program(script):
            self.refused(["predict", "bank.cleave"], "is no program that Cleave built")
            self.refused(["predict", "--trust", "bank.cleave"], "is no program that Cleave built")
            self.refused(["replay", str(self.witness)], "is no program that Cleave built")
        script(self.folder / "script")
        for program in (str(self.folder / "script"), "/bin/sh", "sh", "/dev/zero", "/proc/self/fd/0"):
            witness = json.loads(self.witness.read_text())
            witness["executable"], witness["program"] = program, ["bank", "-c", f"touch {marker}"]
            (self.folder / "evil.json").write_text(json.dumps(witness))
            for trust in ([], ["--trust"]):
                self.refused(["replay", *trust, "evil.json"])
        self.assertFalse(marker.exists())

    def test_another_build_is_not_run(self):
        def other(path):
            source = (self.folder / "bank.cpp").read_text()
            (self.folder / "other.cpp").write_text(source + "\nint more(int x) { return x + 1; }\n")
            subprocess.run([COMPILER, *FLAGS, "other.cpp", "-o", str(path)], cwd=self.folder, check=True)
        for _ in self.with_program(other):
            self.refused(["predict", "--trust", "bank.cleave"], "another build")
            self.refused(["replay", "--trust", str(self.witness)], "another build")

    def test_what_others_can_change_is_run_only_on_trust(self):
        places = [(self.folder, 0o777, 0o700), (self.folder / "bank", 0o777, 0o755), (self.folder / "bank.cleave", 0o666, 0o600)]
        for place, open_to_all, usual in places:
            place.chmod(open_to_all)
            try:
                self.refused(["predict", "bank.cleave"], "can be written by other users", "--trust")
                # Judged without the program, which may leave candidates undecided.
                self.assertIn(self.cleave("predict", "--no-replay", "bank.cleave").returncode, (0, 1, 3))
                self.assertEqual(self.cleave("predict", "--trust", "bank.cleave").returncode, 1)
            finally:
                place.chmod(usual)
        if os.geteuid() == 0:
            os.chown(self.folder / "bank.cleave", 65534, 0)
            try:
                self.refused(["predict", "bank.cleave"], "belongs to")
            finally:
                os.chown(self.folder / "bank.cleave", 0, 0)

    def test_a_witness_cannot_give_commands_to_gdb(self):
        if not shutil.which("gdb"):
            self.skipTest("no gdb")
        witness = json.loads(self.witness.read_text())
        link = self.folder / "line\nshell touch marker-of-gdb\n"
        link.mkdir()
        witness["directory"] = str(link)
        (self.folder / "gdb.json").write_text(json.dumps(witness))
        subprocess.run([CLEAVE, "replay", "--gdb", "gdb.json"], cwd=self.folder, input="run\nquit\n", text=True,
                       capture_output=True, timeout=LONG)
        link.rmdir()
        self.assertEqual(list(self.folder.glob("**/marker-of-gdb")), [])

    def test_a_setuid_program_obeys_no_variable(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a program run as another user")
        raised = self.folder / "raised"
        shutil.copy(self.folder / "bank", raised)
        open_folder = Path(tempfile.mkdtemp(prefix="cleave-safety-"))
        try:
            open_folder.chmod(0o777)
            for mode, expected in ((0o755, 1), (0o4755, 0)):
                os.chown(raised, 65534, 65534)
                raised.chmod(mode)
                self.folder.chmod(0o755)
                subprocess.run([raised], env=self.environment(CLEAVE_TRACE=str(open_folder / "trace")), check=True,
                               capture_output=True)
                self.folder.chmod(0o700)
                self.assertEqual(len(list(open_folder.iterdir())), expected)
                for made in open_folder.iterdir():
                    made.unlink()
        finally:
            shutil.rmtree(open_folder)

    def test_a_program_with_a_scheduler_of_its_own_is_refused(self):
        (self.folder / "empty.cpp").write_text("int answer() { return 0; }\n")
        (self.folder / "team.cpp").write_text("int answer(); int main() { return answer(); }\n")
        for library, name in (("libomp.so.5", "OpenMP"), ("libgomp.so.1", "OpenMP"), ("libtbb.so.12", "TBB"), ("libother.so", None)):
            subprocess.run(["clang++-19", "-shared", "-fPIC", "empty.cpp", f"-Wl,-soname,{library}", "-o", library], cwd=self.folder,
                           check=True)
            subprocess.run([COMPILER, *FLAGS, "team.cpp", f"./{library}", "-Wl,-rpath,$ORIGIN", "-o", "team"], cwd=self.folder, check=True)
            for words in (["record", "-o", "team.cleave"], ["record", "--schedule", "random", "-o", "team.cleave"], ["check"]):
                if name:
                    self.refused([*words, "--", "./team"], f"uses {name} ({library})", "cleave static")
                else:
                    self.assertEqual(self.cleave(*words, "--", "./team").returncode, 0, words)

    # Files.

    def test_traces_and_witnesses_are_for_their_owner_only(self):
        before = os.umask(0)
        try:
            for words in (["record", "-o", "mode.cleave", "--", "./counts", "10", "forks"],
                          ["replay", "-o", "replayed.cleave", str(self.witness)],
                          ["trace", "export", "bank.cleave", "-o", "mode.txt"],
                          ["trace", "import", "mode.txt", "-o", "imported.cleave"],
                          ["check", "-o", "checked.cleave", "--", "./counts", "10"]):
                self.assertLess(self.cleave(*words).returncode, 2, words)
            os.remove(self.witness)
            self.assertEqual(self.cleave("predict", "bank.cleave").returncode, 1)
        finally:
            os.umask(before)
        made = [*self.folder.glob("mode.*"), *self.folder.glob("*ed.cleave"), self.witness]
        self.assertGreater(len(made), 5)
        for path in made:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)

    def test_a_witness_is_not_written_through_a_link(self):
        precious = self.folder / "precious"
        precious.write_text("precious")
        os.remove(self.witness)
        self.witness.symlink_to(precious)
        self.assertEqual(self.cleave("predict", "bank.cleave").returncode, 1)
        self.assertEqual(precious.read_text(), "precious")
        self.assertFalse(self.witness.is_symlink())

    def test_no_temporary_file_has_a_name(self):
        more = {"TMPDIR": str(self.temporary)}
        for words in (["replay", str(self.witness)], ["predict", "bank.cleave"], ["check", "--", "./counts", "1000"],
                      ["record", "--schedule", "random", "--runs", "3", "-o", "runs.cleave", "--", "./bank"]):
            watcher = subprocess.Popen(["sh", "-c", "while :; do ls \"$TMPDIR\"; done"], env=self.environment(**more),
                                       stdout=subprocess.PIPE, text=True)
            self.assertIn(self.cleave(*words, **more).returncode, (0, 1), words)
            watcher.kill()
            self.assertEqual(watcher.communicate()[0].strip(), "", words)
            self.nothing_left()
        self.assertIn("no temporary file can be made there",
                      self.cleave("replay", str(self.witness), TMPDIR=str(self.folder / "none")).stderr)

    def test_a_trace_is_cut_at_its_limit_and_says_so(self):
        for schedule in ("free", "random"):
            done = self.cleave("record", "--max-trace", "300K", "--schedule", schedule, "-o", "cut.cleave", "--", "./counts",
                               "200000", "forks")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("done", done.stdout)
            self.assertIn("has reached its limit (--max-trace) and ends here; the program goes on", done.stderr)
            parts = list(self.folder.glob("cut.cleave*"))
            if schedule == "free":  # else the schedule stands behind the trace
                self.assertLess(sum(path.stat().st_size for path in parts), 316 << 10)
            for words in (["trace", "stats"], ["trace", "validate"], ["check"], ["predict", "--no-replay", "--stages", "patterns"]):
                told = self.cleave(*words, "cut.cleave")
                self.assertIn("cut at its limit", " ".join((told.stdout + told.stderr).split()), words)
            for path in parts:
                path.unlink()

    # What a file says is shown, not obeyed.

    def test_only_sources_are_shown(self):
        os.mkfifo(self.folder / "pipe.cpp")
        try:
            for name in ("/etc/passwd", "/dev/zero", str(self.folder / "pipe.cpp"), "/etc/hostname", "bank.cpp"):
                findings = json.loads((self.folder / "findings.json").read_text())
                for access in findings["findings"][0]["accesses"]:
                    access["file"], access["line"] = name, 1
                (self.folder / "evil.json").write_text(json.dumps(findings))
                done = self.cleave("report", "evil.json", "--html", "evil.html")
                self.assertEqual(done.returncode, 1, done.stderr)
                text = done.stdout + (self.folder / "evil.html").read_text()
                self.assertNotIn("root:", text)
                self.assertEqual("Two withdrawals from one account" in text, name == "bank.cpp")
        finally:
            os.remove(self.folder / "pipe.cpp")

    def test_control_bytes_do_not_reach_the_terminal(self):
        evil = "a\x1b]0;title\x07\x1b[2Jb\x7f\u009b31m\u202e"
        (self.folder / "evil.txt").write_text(f"# cleave text trace 1\nmain write {evil} 1 @{evil}.c:3\nT\x1b[8m1 read {evil} 1\n")
        (self.folder / "broken.txt").write_text(f"# cleave text trace 1\nmain {evil} x 1\n")
        findings = json.loads((self.folder / "findings.json").read_text())
        findings["stages"][0]["name"] = evil
        findings["findings"][0].update(id=f"CLV-{evil}", witness=evil, note=evil, variable=evil)
        (self.folder / "evil.json").write_text(json.dumps(findings))
        (self.folder / f"{evil}").write_text("x")
        (self.folder / "suppress").write_text(f"{evil} {evil}\nvariable:{evil}\n")
        seen = ""
        for words in (["trace", "dump", "evil.txt"], ["trace", "stats", "evil.txt"], ["trace", "validate", "evil.txt"],
                      ["check", "evil.txt"], ["predict", "evil.txt"], ["trace", "dump", "broken.txt"],
                      ["report", "evil.json"], ["report", evil], ["check", evil], ["replay", evil], [evil],
                      ["trace", "dump", "evil.txt", "--thread", evil], ["record", "--", f"./{evil}"],
                      ["report", "findings.json", "--suppress", "suppress"], ["check", "--units", evil, "evil.txt"]):
            done = self.cleave(*words)
            seen += done.stdout + done.stderr
            self.assertEqual(control_bytes(done.stdout + done.stderr), [], (words, done.stdout + done.stderr))
        self.assertIn("\\x1b", seen)
        self.assertNotIn("\u202e", seen)
        # Data for others loses nothing.
        done = self.cleave("trace", "export", "evil.txt")
        self.assertIn("\u202e", done.stdout)

    # A checker that is slow, stops or dies.

    def live(self, *options):
        """A live check of a program that writes for ever; its process and that of the checker."""
        number = self.folder / "number"
        number.unlink(missing_ok=True)
        checker = self.start("check", *options, "--", "./endless", str(number))
        self.addCleanup(checker.kill)
        self.assertTrue(eventually(lambda: number.exists() and number.read_text().strip()))
        program = int(number.read_text())
        self.addCleanup(lambda: alive(program) and os.kill(program, signal.SIGKILL))
        return checker, program

    @staticmethod
    def live_trace(checker):
        for entry in Path(f"/proc/{checker.pid}/fd").iterdir():
            try:
                if "cleave-check" in os.readlink(entry):
                    return entry
            except OSError:
                pass
        return None

    def test_the_program_waits_for_a_checker_that_does_not_read(self):
        lag = 4 << 20
        checker, program = self.live("--lag", "4")
        os.kill(checker.pid, signal.SIGSTOP)
        trace = self.live_trace(checker)
        self.assertIsNotNone(trace)

        def stands_still():
            before = trace.stat().st_size
            time.sleep(2)
            return trace.stat().st_size == before
        self.assertTrue(eventually(stands_still))
        stopped_at = trace.stat().st_size
        self.assertTrue(alive(program))
        os.kill(checker.pid, signal.SIGCONT)
        self.assertTrue(eventually(lambda: trace.stat().st_size > stopped_at + lag))
        # What has been judged is given back: more was written than is there.
        self.assertTrue(eventually(lambda: trace.stat().st_size > (256 << 20)))
        self.assertLess(trace.stat().st_blocks * 512, (128 << 20) + 3 * lag)
        checker.send_signal(signal.SIGINT)
        output, errors = checker.communicate(timeout=LONG)
        self.assertEqual(checker.returncode, 3, output + errors)
        self.assertIn("held back", " ".join(errors.split()))  # standard output is the program's
        self.assertTrue(eventually(lambda: not alive(program)))
        self.nothing_left()

    def test_a_checker_that_is_killed_takes_everything_along(self):
        for options in ([], ["--schedule", "random"], ["-o", "kept.cleave"]):
            checker, program = self.live(*options)
            checker.kill()
            checker.communicate()
            self.assertTrue(eventually(lambda: not alive(program)), options)
            self.nothing_left()

    def test_nothing_survives_a_killed_record(self):
        for schedule in ("free", "random"):
            number = self.folder / "number"
            number.unlink(missing_ok=True)
            record = self.start("record", "--schedule", schedule, "--max-trace", "1M", "-o", "killed.cleave", "--", "./endless",
                                str(number))
            self.assertTrue(eventually(lambda: number.exists() and number.read_text().strip()))
            record.kill()
            record.communicate()
            self.assertTrue(eventually(lambda: not alive(int(number.read_text()))))
        self.nothing_left()

    # Requests to end.

    def test_one_signal_ends_a_check(self):
        for options, which in (([], signal.SIGINT), ([], signal.SIGTERM), (["--runs", "1000"], signal.SIGINT),
                               (["--schedule", "random"], signal.SIGTERM)):
            checker, program = self.live(*options)
            checker.send_signal(which)
            output, errors = checker.communicate(timeout=LONG)
            self.assertEqual(checker.returncode, 3, output + errors)
            self.assertIn("ended on request", errors)
            self.assertIn("events in", errors)  # standard output is the program's
            self.assertFalse(alive(program))
            self.nothing_left()

    def test_a_program_that_ignores_signals_is_ended_too(self):
        number = self.folder / "number"
        number.unlink(missing_ok=True)
        checker = self.start("check", "--", "./endless", str(number), "deaf")
        self.assertTrue(eventually(lambda: number.exists() and number.read_text().strip()))
        checker.send_signal(signal.SIGTERM)
        checker.communicate(timeout=LONG)
        self.assertFalse(alive(int(number.read_text())))

    def test_one_signal_ends_the_runs_of_a_recording_a_second_one_everything(self):
        number = self.folder / "number"
        number.unlink(missing_ok=True)
        record = self.start("record", "--runs", "1000", "-o", "runs.cleave", "--", "./endless", str(number))
        self.assertTrue(eventually(lambda: number.exists() and number.read_text().strip()))
        record.send_signal(signal.SIGINT)
        output, errors = record.communicate(timeout=LONG)
        self.assertEqual(record.returncode, 3, output + errors)
        self.assertIn("ended on request after 0 of 1000 runs", errors)
        number.unlink()
        record = self.start("record", "--max-trace", "1M", "-o", "one.cleave", "--", "./endless", str(number), "deaf")
        self.assertTrue(eventually(lambda: number.exists() and number.read_text().strip()))
        program = int(number.read_text())
        record.send_signal(signal.SIGINT)
        time.sleep(1)
        self.assertTrue(alive(program))  # one recording ends when its program likes
        record.send_signal(signal.SIGINT)
        record.communicate(timeout=LONG)
        self.assertEqual(record.returncode, -signal.SIGINT)
        self.assertTrue(eventually(lambda: not alive(program)))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
