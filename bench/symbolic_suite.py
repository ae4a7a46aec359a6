#!/usr/bin/env python3
"""What the symbolic stage makes of the program suite: one serial run of each program and of its repaired twin, predicted
and executed.

  symbolic_suite.py BUILD [--only GLOB] [--keep FOLDER] [--budget SECONDS] [--solver-seconds SECONDS] [--quiet]

One line a program: candidates in, sat, unsat, unknown, executed as predicted, diverged; values compared and how many
differed, symbolic branches and stores; then what is unknown and why, what diverged and where; the last lines are those of
the suite. `make tables` shows the same counts; they are in the stage records `symbolic` and `replay` of the findings file.
Exit status 1 if a repaired twin has a proved finding, a model was refused or a walked value differs.
"""
import argparse
import collections
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "programs"))
import suite  # noqa: E402

SECONDS = 600
COLUMNS = ("in", "sat", "unsat", "unknown", "as predicted", "diverged", "not run")
WALK = ("branches", "branches symbolic", "branches concretized", "pins", "shared stores", "shared stores symbolic",
        "shared stores concretized", "values compared",
        "values that differ", "models refused")


def call(tool, folder, *words):
    return subprocess.run([tool, *map(str, words)], cwd=folder, capture_output=True, timeout=SECONDS,
                          env={**os.environ, "NO_COLOR": "1"})


def findings_of(tool, binary, arguments, options, folder):
    """The findings of one serial run, or a sentence."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        done = call(tool, folder, "record", "-o", "serial.cleave", "--schedule", "serial", "--", binary, *arguments)
        if not (folder / "serial.cleave").exists():
            return done.stderr.decode(errors="replace").strip()
        done = call(tool, folder, "predict", "--json", "findings.json", "--quiet", *options, "serial.cleave")
    except subprocess.TimeoutExpired:
        return f"did not end in {SECONDS} s"
    if done.returncode not in (0, 1):
        return done.stderr.decode(errors="replace").strip()
    return json.loads((folder / "findings.json").read_text())


def counts_of(result):
    """Counts of the two stages, by the words of COLUMNS and WALK."""
    stages = {stage["name"]: stage for stage in result["stages"]}
    symbolic, replay = stages.get("symbolic"), stages.get("replay", {})
    if symbolic is None:
        return None
    counts = collections.Counter({"sat": symbolic["sites"], "unsat": symbolic.get("unsat", 0),
                                  "unknown": symbolic.get("unknown", 0)})
    counts["in"] = counts["sat"] + counts["unsat"] + counts["unknown"]
    counts["as predicted"], counts["diverged"] = replay.get("as predicted", 0), replay.get("diverged", 0)
    counts["not run"] = counts["sat"] - counts["as predicted"] - counts["diverged"]
    for key in WALK:
        counts[key] = symbolic.get(key, 0)
    return counts


def name_of(finding):
    places = "-".join(f"{access.get('function', '?').split('(')[0]}:{access.get('line', '?')}" for access in finding["accesses"])
    return f"{finding['pattern']} {finding['variable']} {places}"


def remarks_of(binary, result):
    for finding in result["findings"]:
        mark = finding.get("stages", {}).get("symbolic", "")
        if mark.startswith("unknown"):
            yield f"  {name_of(finding)}: {mark} ({finding['verdict']})"
        if "the run went another way" in finding.get("note", ""):
            yield f"  {name_of(finding)}: {finding['note']}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--budget", default="60")
    parser.add_argument("--solver-seconds", default="60")
    parser.add_argument("--programs", type=Path, help="where the programs are, if not in BUILD/programs/cleave")
    parser.add_argument("--quiet", action="store_true", help="the suite's lines alone")
    arguments = parser.parse_args()
    tool = arguments.build.resolve() / "bin" / "cleave"
    programs = (arguments.programs or arguments.build / "programs" / "cleave").resolve()
    keep = arguments.keep or Path(tempfile.mkdtemp())
    options = ["--budget", arguments.budget, "--solver-seconds", arguments.solver_seconds]
    total, ran, problems = collections.Counter(), 0, []
    for program in suite.load(ROOT):
        table = program.expect.get("predict", {})
        units = [word for key in ("units", "sets") if key in table for word in (f"--{key}", table[key])]
        run = table.get("runs", [{"args": program.expect.get("args", [])}])[0]["args"]
        for binary in program.builds:
            if not fnmatch.fnmatch(binary, arguments.only):
                continue
            result = findings_of(tool, programs / binary, run, options + units, (keep / binary).resolve())
            counts = None if isinstance(result, str) else counts_of(result)
            if counts is None:
                problems.append(f"{binary}: {result if isinstance(result, str) else 'no symbolic stage'}")
                continue
            ran, total = ran + 1, total + counts
            if not arguments.quiet:
                print(f"{binary:<36}", " ".join(f"{counts[key]:>5}" for key in COLUMNS + WALK), flush=True)
                for remark in remarks_of(binary, result):
                    print(remark)
            if counts["values that differ"] or counts["models refused"]:
                problems.append(f"{binary}: {counts['values that differ']} values differ, {counts['models refused']} models refused")
            if binary != program.id or not program.bug:
                problems += [f"{binary}: {name_of(finding)} {finding['verdict']}" for finding in result["findings"]
                             if finding["verdict"] in ("witnessed", "confirmed")]
    print(f"{ran} programs:", ", ".join(f"{key} {total[key]}" for key in COLUMNS))
    print("lifting:", ", ".join(f"{key} {total[key]}" for key in WALK))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
