#!/usr/bin/env python3
"""unfinished.py ROOT BUILD: what predict, check and the trace verbs say and return when they could not finish.

Exit status as in docs/contract.md: 1 findings, else 3 unfinished, 2 unreadable or wrong usage, 0 nothing."""
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT, BUILD = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "tests" / "predict_cli"))
from programs import CORRECT, GUARDED, SLOW_QUESTION  # noqa: E402

CLEAVE, CC, CXX = (BUILD / "bin" / name for name in ("cleave", "cleave-cc", "cleave-c++"))
FLAGS = ["-g", "-O1", "-pthread"]
SANITIZED = any(name in CLEAVE.read_bytes() for name in (b"__asan_init", b"__tsan_init"))


def chunks(data):
    """(offset, kind, bytes) of each chunk of a binary trace."""
    at = struct.unpack_from("<I", data, 12)[0]
    while at + 40 <= len(data):
        kind, stored = struct.unpack_from("<H", data, at + 4)[0], struct.unpack_from("<I", data, at + 12)[0]
        yield at, kind, 40 + stored
        at += 40 + stored


class InAFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="cleave-unfinished-"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def run_there(cls, *words, **more):
        more.setdefault("env", {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"})
        return subprocess.run([str(word) for word in words], cwd=cls.folder, capture_output=True, text=True, timeout=240, **more)

    @classmethod
    def cleave(cls, *words, **more):
        return cls.run_there(CLEAVE, *words, **more)

    @classmethod
    def build(cls, name, source, *flags):
        (cls.folder / name).write_text(source)
        program = name.split(".")[0]
        built = cls.run_there(CC if name.endswith(".c") else CXX, *FLAGS, *flags, name, "-o", program)
        assert built.returncode == 0, built.stderr
        return program


class Undecided(InAFolder):
    def test_what_the_solver_has_no_time_for_is_said(self):
        """Three threads' order decides whether the write can come between: the filter drops it, the solver needs time."""
        (self.folder / "orders.txt").write_text(SLOW_QUESTION)
        done = self.cleave("predict", "--solver-seconds", "0", "orders.txt")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("undecided: 1 candidate (time); to go on: cleave predict --solver-seconds 60 orders.txt", done.stderr)
        self.assertNotIn("Nothing found.\n", done.stdout)
        quiet = self.cleave("predict", "--solver-seconds", "0", "--quiet", "orders.txt", "--json", "u.json")
        self.assertEqual(quiet.returncode, 3)
        self.assertIn("undecided: 1 candidate", quiet.stderr)
        self.assertIn("undecided: 1 candidate (time)", json.loads((self.folder / "u.json").read_text())["unfinished"][0])
        self.assertEqual(self.cleave("report", "u.json").returncode, 3, "a report of unfinished work is no all-clear")

    def test_findings_come_before_what_is_unfinished(self):
        (self.folder / "both.txt").write_text(SLOW_QUESTION + "T1 begin v\nT1 read y 0\nT2 write y 5\nT1 write y 1\nT1 end\n")
        self.assertEqual(self.cleave("predict", "--solver-seconds", "0", "both.txt").returncode, 1)

    def test_nothing_to_decide_needs_no_solver(self):
        """Not even its library is loaded: what would be loaded here is an empty file."""
        program = self.build("guarded.c", GUARDED)
        self.cleave("record", "--schedule", "serial", "-o", "g.cleave", "--", f"./{program}")
        (self.folder / "libz3.so.4").write_text("")
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}
        done = self.cleave("predict", "--no-replay", "g.cleave", "--json", "-", env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        stages = {stage["name"]: stage for stage in json.loads(done.stdout)["stages"]}
        self.assertEqual((stages["symbolic"]["unknown"], stages["symbolic"]["seconds"]), (0, 0))
        self.assertNotIn("left out", done.stdout)

    def test_without_the_solver_candidates_are_undecided(self):
        (self.folder / "orders.txt").write_text(SLOW_QUESTION)
        (self.folder / "libz3.so.4").write_text("")
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}
        done = self.cleave("predict", "orders.txt", env=env)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("undecided: 1 candidate (the symbolic stage was left out: the solver cannot be loaded", done.stderr)


class Dying(InAFolder):
    """The symbolic stage is a process of its own: its end is not the end of the others' findings."""

    def stage_process(self, parent):
        children = Path(f"/proc/{parent}/task/{parent}/children")
        return [int(child) for child in children.read_text().split()] if children.exists() else []

    def start_long_stage(self):
        (self.folder / "both.txt").write_text(SLOW_QUESTION + "T1 begin v\nT1 read y 0\nT2 write y 5\nT1 write y 1\nT1 end\n")
        process = subprocess.Popen([CLEAVE, "predict", "both.txt", "--json", "f.json"], cwd=self.folder, stderr=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"})
        for _ in range(2000):
            children = self.stage_process(process.pid)
            if children:
                time.sleep(0.3)
                return process, children[0]
            if process.poll() is not None:
                break
            time.sleep(0.005)
        self.skipTest("the stage was over before it could be met")

    def test_a_crash_of_the_stage_keeps_the_other_findings(self):
        process, stage = self.start_long_stage()
        os.kill(stage, signal.SIGSEGV)
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, said)
        findings = json.loads((self.folder / "f.json").read_text())
        self.assertEqual({finding["variable"] for finding in findings["findings"]}, {"y"})
        self.assertIn("it ended by signal 11 (Segmentation fault)", said)

    def test_an_interrupt_ends_it_with_what_was_found(self):
        for signals, status in (([signal.SIGINT], 1), ([signal.SIGTERM], 1)):
            process, stage = self.start_long_stage()
            for number in signals:
                process.send_signal(number)
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, status, said)
            self.assertIn("interrupted", said)
            self.assertFalse(Path(f"/proc/{stage}").exists(), "no child survives")
            self.assertEqual({one["variable"] for one in json.loads((self.folder / "f.json").read_text())["findings"]}, {"y"})

    def test_the_stage_ends_with_its_parent(self):
        process, stage = self.start_long_stage()
        process.kill()
        process.communicate(timeout=60)
        for _ in range(2000):
            if not Path(f"/proc/{stage}").exists() or Path(f"/proc/{stage}/stat").read_text().split()[2] == "Z":
                return
            time.sleep(0.01)
        self.fail("the stage lives on")


class Interrupted(InAFolder):
    """One signal ends the reading of a long trace, with what was found until then; a second one at once."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        lost = ["T1|begin|1", "T1|r(x)|2", "T2|begin|3", "T2|w(x)|4", "T2|end|5", "T1|w(x)|6", "T1|end|7"]
        many = "".join(f"T{t}|begin|8\nT{t}|r(v{i % 97})|9\nT{t}|w(v{i % 97})|10\nT{t}|end|11\n"
                       for i in range(2000) for t in (1, 2))
        with open(cls.folder / "long.std", "w") as trace, open(cls.folder / "clean.std", "w") as clean:
            trace.write("\n".join(lost) + "\n")
            for _ in range(200):
                trace.write(many)
                clean.write(many)

    def interrupt(self, *words, signals=(signal.SIGINT,)):
        """A run that met the signals. One that ended before they were sent says nothing of them and is made again."""
        for _ in range(20):
            process = subprocess.Popen([CLEAVE, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            wanted = 1 << (signal.SIGINT - 1) | 1 << (signal.SIGTERM - 1)
            caught = 0
            while process.poll() is None and caught & wanted != wanted:
                try:
                    status = Path(f"/proc/{process.pid}/status").read_text()
                    caught = int(status.split("SigCgt:")[1].split()[0], 16)
                except (FileNotFoundError, ProcessLookupError, IndexError):
                    pass
            running = process.poll() is None
            for number in signals:
                process.send_signal(number)
            out, said = process.communicate(timeout=100)
            if running and (process.returncode not in (0, 1) or "interrupted" in said):
                return process.returncode, out, said
        self.fail(f"{words}: 20 runs did not take the signal, the last one ended with {process.returncode}: {said}")

    def test_check_keeps_the_cycles_it_has(self):
        status, out, said = self.interrupt("check", "--sets", "one", "long.std")
        self.assertIn("interrupted", said)
        self.assertEqual(status, 1 if "cycle" in out.split("looked at")[0] else 3, out + said)

    def test_without_findings_the_status_is_3(self):
        for words in (["check", "--sets", "one"], ["trace", "validate"], ["trace", "stats"], ["predict"]):
            status, _, said = self.interrupt(*words, "clean.std", signals=(signal.SIGTERM,))
            self.assertEqual(status, 3, f"{words} {said}")
            self.assertIn("interrupted", said)

    def test_the_second_signal_ends_it_at_once(self):
        status, _, _ = self.interrupt("predict", "clean.std", signals=(signal.SIGINT, signal.SIGTERM))
        self.assertIn(status, (-signal.SIGTERM, -signal.SIGINT))


class EndsEarly(InAFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.build("correct.cpp", CORRECT, "-std=c++20")
        done = cls.cleave("record", "-o", "whole.cleave", "--", f"./{cls.program}", "3")
        assert done.returncode == 0, done.stderr
        cls.whole = (cls.folder / "whole.cleave").read_bytes()
        cls.ends = [at + size for at, _, size in chunks(cls.whole)]

    def test_every_command_says_so_on_standard_error(self):
        (self.folder / "cut.cleave").write_bytes(self.whole[:self.ends[-2] - 7])
        for words in (["predict", "--no-replay", "--quiet"], ["check", "--quiet"], ["trace", "stats"], ["trace", "validate"],
                      ["trace", "dump"], ["trace", "export"], ["trace", "import", "-o", "cut.imported"]):
            done = self.cleave(*words, "cut.cleave")
            self.assertIn(done.returncode, (1, 3) if words[0] == "predict" else (3,), f"{words} {done.stderr}")
            self.assertIn("cut.cleave: the trace ends early", done.stderr, words)
            self.assertNotIn("built again", done.stderr)
        imported = self.cleave("check", "cut.imported")
        self.assertEqual(imported.returncode, 3, imported.stderr)
        self.assertIn("the trace ends early", imported.stderr)
        exported = self.cleave("trace", "export", "cut.cleave").stdout
        (self.folder / "cut.txt").write_text(exported)
        self.assertEqual(self.cleave("check", "cut.txt").returncode, 3)

    def test_wherever_it_is_cut(self):
        """Cut at any byte: unreadable (2), or a prefix that is judged (3), never `built again`, never `holds: 0 events`."""
        places = sorted({0, 5, 31, 32, 40, *self.ends[:-1], *(random.Random(7).randrange(len(self.whole)) for _ in range(12))})
        for place in places:
            (self.folder / "some.cleave").write_bytes(self.whole[:place])
            for words in (["predict"], ["check"], ["trace", "validate"]):
                done = self.cleave(*words, "some.cleave")
                self.assertIn(done.returncode, (2, 3), f"{words} cut at {place}: {done.stdout}{done.stderr}")
                self.assertNotIn("built again", done.stderr)
                self.assertNotIn("holds: 0 events", done.stdout)
                self.assertIn("too short" if place in range(1, 32) else "is empty" if place == 0 else "", done.stderr)

    def test_a_killed_program_has_no_candidates_that_come_from_the_missing_end(self):
        """Killed somewhere, again and again: the program is correct, so nothing may be found in any prefix."""
        generator = random.Random(11)
        for number in range(6):
            trace = self.folder / "killed.cleave"
            process = subprocess.Popen([f"./{self.program}", "100000"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                       env={**os.environ, "CLEAVE_TRACE": str(trace)})
            wanted = generator.randrange(100_000, 400_000)
            while process.poll() is None and (not trace.exists() or trace.stat().st_size < wanted):
                time.sleep(0.001)
            process.kill()
            process.wait()
            for words in (["predict", "--no-replay", "--stages", "patterns,order,locks,filter,exact"], ["check"]):
                done = self.cleave(*words, "killed.cleave")
                self.assertEqual(done.returncode, 3, f"{words} {number}\n{done.stdout}\n{done.stderr}")
                self.assertIn("the trace ends early", done.stderr)
            trace.unlink()


class Messages(InAFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copy(ROOT / "examples" / "bank.cpp", cls.folder)
        built = cls.run_there(CXX, *FLAGS, "-std=c++20", "bank.cpp", "-o", "bank")
        assert built.returncode == 0, built.stderr
        cls.cleave("record", "--schedule", "serial", "-o", "bank.cleave", "--", "./bank")

    def test_a_folder_that_cannot_be_written(self):
        if os.geteuid() == 0 and shutil.which("setpriv") is None:
            self.skipTest("root may write everywhere")
        there = self.folder / "read-only"
        there.mkdir()
        os.chmod(self.folder, 0o755)
        os.chmod(there, 0o555)
        words = [str(CLEAVE), "predict", str(self.folder / "bank.cleave")]
        if os.geteuid() == 0:
            words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *words]
        done = subprocess.run(words, cwd=there, capture_output=True, text=True, timeout=240, env={**os.environ, "TMPDIR": "/tmp"})
        if "Permission denied" in done.stderr and "witness" not in done.stderr:
            self.skipTest("this user may not read the build")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot write the witness: Permission denied", done.stderr)

    def test_a_temporary_folder_that_is_none(self):
        for folder in ("/nowhere/at/all", str(self.folder / "bank.cpp")):
            done = self.cleave("predict", "bank.cleave", env={**os.environ, "TMPDIR": folder})
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("no temporary file can be made there", done.stderr)
            self.assertIn("TMPDIR", done.stderr)

    def test_a_limit_on_addresses(self):
        """Control asks for no more than a share of what there is."""
        if SANITIZED:
            self.skipTest("a sanitizer needs more address space than any limit leaves")
        limit = 4 << 30
        done = self.cleave("record", "--schedule", "random", "-o", "limited.cleave", "--", "./bank",
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.cleave("replay", "limited.cleave").returncode, 0)


class ItsEnvironment(InAFolder):
    """What the program found when it was recorded is what it finds when it is run again."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "lib").mkdir()
        (cls.folder / "library.c").write_text("int limit(void) { return 100; }\n")
        (cls.folder / "user.cpp").write_text(
            (ROOT / "examples" / "bank.cpp").read_text().replace("int main", 'extern "C" int limit(void);\nint main', 1)
            + '\n#include <cstdio>\n#include <cstdlib>\nstruct Said { Said() { const char* word = std::getenv("CHOSEN_WORD");'
              ' std::printf("%s %d\\n", word ? word : "none", limit()); } } said;\n')
        for words in (["clang-19", "-shared", "-fPIC", "library.c", "-o", "lib/liblimit.so"],
                      [CXX, *FLAGS, "-std=c++20", "user.cpp", "-o", "user", "-Llib", "-llimit"]):
            built = cls.run_there(*words)
            assert built.returncode == 0, built.stderr
        cls.chosen = {**os.environ, "LD_LIBRARY_PATH": str(cls.folder / "lib"), "CHOSEN_WORD": "gr\u00fc\u00df dich"}
        done = cls.cleave("record", "--schedule", "serial", "-o", "user.cleave", "--", "./user", env=cls.chosen)
        assert done.returncode == 0, done.stderr

    def test_predict_and_replay_restore_it(self):
        done = self.cleave("predict", "user.cleave", "--json", "f.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        findings = json.loads((self.folder / "f.json").read_text())["findings"]
        self.assertEqual([finding["verdict"] for finding in findings], ["confirmed"], done.stdout + done.stderr)
        for witness in ("user.cleave", findings[0]["witness"]):
            again = self.cleave("replay", witness)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertIn("gr\u00fc\u00df dich 100", again.stdout)

    def test_why_a_program_does_not_start(self):
        os.rename(self.folder / "lib", self.folder / "lib.gone")
        try:
            done = self.cleave("replay", "user.cleave")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("did not start: the dynamic loader does not find liblimit.so", done.stderr)
            predicted = self.cleave("predict", "user.cleave")
            self.assertIn("did not start: the dynamic loader does not find liblimit.so", predicted.stderr)
        finally:
            os.rename(self.folder / "lib.gone", self.folder / "lib")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
