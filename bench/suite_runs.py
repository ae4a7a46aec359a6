"""What bench/predict_suite.py and bench/symbolic_suite.py share: options, the programs' runs, names of findings."""
import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "programs"))
import suite  # noqa: E402

SECONDS = 300  # for one command


def options(about, budget, solver_seconds):
    """The parser of both; seconds a program for runs and for the solver as given, unless the user says otherwise."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="*", help="programs whose SET/NAME matches")
    parser.add_argument("--keep", type=Path, help="leave traces and findings in this folder")
    parser.add_argument("--budget", default=budget, help=f"seconds a program for its runs ({budget})")
    parser.add_argument("--solver-seconds", default=solver_seconds, help=f"seconds a program for the solver ({solver_seconds})")
    parser.add_argument("--programs", type=Path, help="where the programs are, if not in BUILD/programs/cleave")
    return parser


class Runs:
    """`cleave record` and `cleave predict` on each build of the suite."""

    def __init__(self, asked):
        build = asked.build.resolve()
        self.tool = build / "bin" / "cleave"
        self.programs = (asked.programs or build / "programs" / "cleave").resolve()
        self.folder = (asked.keep or Path(tempfile.mkdtemp(prefix="cleave-suite-"))).resolve()
        self.words = ["--budget", asked.budget, "--solver-seconds", asked.solver_seconds]
        self.only = asked.only

    def call(self, folder, *words):
        return subprocess.run([self.tool, *map(str, words)], cwd=folder, capture_output=True, timeout=SECONDS,
                              env={**os.environ, "NO_COLOR": "1"})

    def builds(self):
        """(program, binary) of all that are asked for: each program, then its repaired twin."""
        for program in suite.load(ROOT):
            for binary in program.builds:
                if fnmatch.fnmatch(binary, self.only):
                    yield program, binary

    def predict(self, program, binary):
        """The findings of one serial run and the seconds of predict; a sentence in place of findings after a failure."""
        table = program.expect.get("predict", {})
        words = self.words + [word for key in ("units", "sets") if key in table for word in (f"--{key}", table[key])]
        arguments = table.get("runs", [{"args": program.expect.get("args", [])}])[0]["args"]
        folder = self.folder / binary
        folder.mkdir(parents=True, exist_ok=True)
        try:
            done = self.call(folder, "record", "-o", "serial.cleave", "--schedule", "serial", "--", self.programs / binary, *arguments)
            if not (folder / "serial.cleave").exists():
                return done.stderr.decode(errors="replace").strip(), 0
            start = time.monotonic()
            done = self.call(folder, "predict", "--json", "findings.json", "--quiet", *words, "serial.cleave")
        except subprocess.TimeoutExpired:
            return f"did not end in {SECONDS} s", SECONDS
        unfinished = done.returncode == 3 and b"could not be run" not in done.stderr
        if done.returncode not in (0, 1) and not unfinished:
            return done.stderr.decode(errors="replace").strip(), 0
        return json.loads((folder / "findings.json").read_text()), time.monotonic() - start


def name_of(finding):
    places = "-".join(f"{access.get('function', '?').split('(')[0]}:{access.get('line', '?')}" for access in finding["accesses"])
    return f"{finding['pattern']} {finding['variable']} {places}"


def proved(result):
    return [finding for finding in result["findings"] if finding["verdict"] in ("witnessed", "confirmed")]
