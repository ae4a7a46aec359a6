#!/usr/bin/env python3
"""The whole way on the program suite: record one serial run, predict, run the plans, judge; the repaired twin too.

  predict_suite.py BUILD [--only GLOB] [--keep FOLDER] [--budget SECONDS] [--solver-seconds SECONDS]

One line a program: sites after each stage, verdicts, seconds, and what expect.toml asks for and was not met. With --keep
the findings, the witnesses and a trace of each witness's replay stay in FOLDER/SET/NAME; `judge_bench` takes the traces.
Exit status 1 if something that expect.toml asks for is missing, or a repaired twin has a proved finding.
"""
import argparse
import collections
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
import engines  # noqa: E402
import suite  # noqa: E402

STAGES = ("patterns", "order", "locks", "filter", "exact", "symbolic")
SECONDS = 600


def call(tool, folder, *words):
    return subprocess.run([tool, *map(str, words)], cwd=folder, capture_output=True, timeout=SECONDS,
                          env={**os.environ, "NO_COLOR": "1"})


def predict(tool, binary, arguments, options, folder):
    """The findings of one serial run, and seconds; or a sentence."""
    folder.mkdir(parents=True, exist_ok=True)
    done = call(tool, folder, "record", "-o", "serial.cleave", "--schedule", "serial", "--", binary, *arguments)
    if not (folder / "serial.cleave").exists():
        return done.stderr.decode(errors="replace"), 0
    start = time.monotonic()
    done = call(tool, folder, "predict", "--json", "findings.json", "--quiet", *options, "serial.cleave")
    if done.returncode not in (0, 1):
        return done.stderr.decode(errors="replace"), 0
    return json.loads((folder / "findings.json").read_text()), time.monotonic() - start


def replay_witnesses(tool, folder):
    """How many of the witnesses the program followed to their end."""
    followed, all_of_them = 0, sorted(folder.glob("witness-*.json"))
    for witness in all_of_them:
        done = call(tool, folder, "replay", "--quiet", "-o", witness.with_suffix(".cleave").name, witness.name)
        followed += done.returncode == 0
    return followed, len(all_of_them)


def line(name, result, seconds, followed):
    sites = {stage["name"]: stage.get("sites", 0) for stage in result["stages"]}
    verdicts = collections.Counter(finding["verdict"] for finding in result["findings"])
    counts = " ".join(f"{sites.get(stage, '-'):>5}" for stage in STAGES)
    shown = " ".join(f"{verdicts.get(verdict, 0):>3}" for verdict in suite.VERDICTS[1:])
    print(f"{name:<32} {counts}  {shown}  {followed[0]:>3}/{followed[1]:<3} {seconds:6.1f} s", flush=True)


def proved(result):
    return [finding for finding in result["findings"] if finding["verdict"] in ("witnessed", "confirmed")]


def name_of(finding):
    places = "-".join(f"{access['function']}:{access['line']}" for access in finding["accesses"])
    return f"{finding['pattern']} {finding['variable']} {places} {finding['verdict']} {finding.get('proof', '')}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--budget", default="60")
    parser.add_argument("--solver-seconds", default="60")
    parser.add_argument("--programs", type=Path, help="where the programs are, if not in BUILD/programs/cleave")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    tool = build / "bin" / "cleave"
    programs = (arguments.programs or build / "programs" / "cleave").resolve()
    keep = arguments.keep or Path(tempfile.mkdtemp())
    print(f"{'':<32} {' '.join(f'{stage[:5]:>5}' for stage in STAGES)}  cnd fea wit con  replays")
    problems, proofs, clean = [], collections.Counter(), 0
    for program in suite.load(ROOT):
        if not fnmatch.fnmatch(program.id, arguments.only) or "predict" not in program.expect:
            continue
        table = program.expect["predict"]
        options = ["--budget", arguments.budget, "--solver-seconds", arguments.solver_seconds]
        for key in ("units", "sets"):
            if key in table:
                options += [f"--{key}", table[key]]
        run = table.get("runs", [{"args": program.expect.get("args", [])}])[0]["args"]
        for binary in program.builds:
            folder = (keep / binary).resolve()
            result, seconds = predict(tool, programs / binary, run, options, folder)
            if isinstance(result, str):
                problems.append(f"{binary}: {result.strip()}")
                continue
            line(binary, result, seconds, replay_witnesses(tool, folder))
            if binary == program.id:
                proofs.update(finding.get("proof") or "not decided" for finding in proved(result))
                problems += [f"{binary}: not found: {engines.describe(expected)}"
                             for expected in engines.missing(table.get("must", []), [result])]
            if binary != program.id or not program.bug:
                wrong = [finding for finding in proved(result)
                         if not any(engines.matches(benign, finding) for benign in table.get("benign", []))]
                clean += not wrong
                problems += [f"{binary}: {name_of(finding)}" for finding in wrong]
    shown, by_condition = sum(proofs.values()), sum(n for name, n in proofs.items() if name.startswith("C_"))
    print(f"\n{shown} shown, {by_condition} of them recognised by a condition: "
          + ", ".join(f"{name} {number}" for name, number in proofs.most_common()))
    print(f"{clean} repaired twins and programs without a bug are clean after replay\n")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
