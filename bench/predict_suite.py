#!/usr/bin/env python3
"""The whole way on the program suite: record one serial run, predict, run the plans, judge; the repaired twin too.

  predict_suite.py BUILD [--only GLOB] [--keep FOLDER] [--budget SECONDS] [--solver-seconds SECONDS]

One line a program: sites after each stage, verdicts, seconds, and what expect.toml asks for and was not met. With --keep
the findings, the witnesses and a trace of each witness's replay stay in FOLDER/SET/NAME; `judge_bench` takes the traces.
Exit status 1 if something that expect.toml asks for is missing, or a repaired twin has a proved finding.
"""
import collections
import sys

import suite_runs
from suite_runs import name_of, proved
import engines
import suite

STAGES = ("patterns", "order", "locks", "filter", "exact", "symbolic")


def replay_witnesses(runs, folder):
    """How many of the witnesses the program followed to their end."""
    followed, all_of_them = 0, sorted(folder.glob("witness-*.json"))
    for witness in all_of_them:
        done = runs.call(folder, "replay", "--quiet", "-o", witness.with_suffix(".cleave").name, witness.name)
        followed += done.returncode == 0
    return followed, len(all_of_them)


def line(name, result, seconds, followed):
    sites = {stage["name"]: stage.get("sites", 0) for stage in result["stages"]}
    verdicts = collections.Counter(finding["verdict"] for finding in result["findings"])
    counts = " ".join(f"{sites.get(stage, '-'):>5}" for stage in STAGES)
    shown = " ".join(f"{verdicts.get(verdict, 0):>3}" for verdict in suite.VERDICTS[1:])
    print(f"{name:<32} {counts}  {shown}  {followed[0]:>3}/{followed[1]:<3} {seconds:6.1f} s", flush=True)


def main():
    runs = suite_runs.Runs(suite_runs.options(__doc__, budget="60", solver_seconds="60").parse_args())
    print(f"{'':<32} {' '.join(f'{stage[:5]:>5}' for stage in STAGES)}  cnd fea wit con  replays")
    problems, proofs, clean = [], collections.Counter(), 0
    for program, binary in runs.builds():
        if "predict" not in program.expect:
            continue
        table = program.expect["predict"]
        result, seconds = runs.predict(program, binary)
        if isinstance(result, str):
            problems.append(f"{binary}: {result}")
            continue
        line(binary, result, seconds, replay_witnesses(runs, runs.folder / binary))
        if binary == program.id:
            proofs.update(finding.get("proof") or "not decided" for finding in proved(result))
            problems += [f"{binary}: not found: {engines.describe(expected)}"
                         for expected in engines.missing(table.get("must", []), [result])]
        if binary != program.id or not program.bug:
            wrong = [finding for finding in proved(result)
                     if not any(engines.matches(benign, finding) for benign in table.get("benign", []))]
            clean += not wrong
            problems += [f"{binary}: {name_of(finding)} {finding['verdict']} {finding.get('proof', '')}" for finding in wrong]
    shown, by_condition = sum(proofs.values()), sum(n for name, n in proofs.items() if name.startswith("C_"))
    print(f"\n{shown} shown, {by_condition} of them recognised by a condition: "
          + ", ".join(f"{name} {number}" for name, number in proofs.most_common()))
    print(f"{clean} repaired twins and programs without a bug are clean after replay\n")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
