#!/usr/bin/env python3
"""What the symbolic stage makes of the program suite: one serial run of each program and of its repaired twin, predicted
and executed.

  symbolic_suite.py BUILD [--only GLOB] [--keep FOLDER] [--budget SECONDS] [--solver-seconds SECONDS] [--table]

One line a program as soon as it is done: candidates in, sat, unsat, unknown, of these decided by
execution (a run showed the violation), executed as predicted, diverged, not run;
branches (all, symbolic, concretized), shared stores (the same), seconds; then what is unknown and why, and what diverged
and where. The last lines are those of the suite. `--table` prints the lines as a table for the documentation, without
programs that have no candidate. The counts are in the stage records `symbolic` and `replay` of the findings file.
Exit status 1 if a repaired twin has a proved finding, something that expect.toml asks for is not found, a model was
refused or a walked value differs.
"""
import collections
import sys

import suite_runs
from suite_runs import name_of, proved
import engines

COLUMNS = ("in", "sat", "unsat", "unknown", "decided by execution", "as predicted", "diverged", "not run")
LIFTED = ("branches", "branches symbolic", "branches concretized", "shared stores", "shared stores symbolic",
          "shared stores concretized")
WALK = LIFTED + ("pins", "values compared", "values that differ", "models refused")


def counts_of(result):
    """Counts of the two stages, by the words of COLUMNS and WALK."""
    stages = {stage["name"]: stage for stage in result["stages"]}
    symbolic, replay = stages.get("symbolic"), stages.get("replay", {})
    if symbolic is None:
        return None
    counts = collections.Counter({"sat": symbolic["sites"], "unsat": symbolic.get("unsat", 0),
                                  "unknown": symbolic.get("unknown", 0)})
    counts["in"] = counts["sat"] + counts["unsat"] + counts["unknown"]
    # Left unknown, and then a run of the program showed the violation: that run is a witness, though no model said so.
    counts["decided by execution"] = sum(finding.get("stages", {}).get("symbolic", "").startswith("unknown")
                                         and finding["verdict"] in ("witnessed", "confirmed") for finding in result["findings"])
    counts["as predicted"], counts["diverged"] = replay.get("as predicted", 0), replay.get("diverged", 0)
    counts["not run"] = counts["sat"] - counts["as predicted"] - counts["diverged"]
    for key in WALK:
        counts[key] = symbolic.get(key, 0)
    counts.update({key: value for key, value in symbolic.items() if key.startswith("pins at ")})
    return counts


def remarks_of(result):
    for finding in result["findings"]:
        mark = finding.get("stages", {}).get("symbolic", "")
        if mark.startswith("unknown"):
            yield f"  {name_of(finding)}: {mark} ({finding['verdict']})"
        if "the run went another way" in finding.get("note", ""):
            yield f"  {name_of(finding)}: {finding['note']}"


def problems_of(program, binary, result, counts):
    table = program.expect.get("predict", {})
    if counts["values that differ"] or counts["models refused"]:
        yield f"{binary}: {counts['values that differ']} values differ, {counts['models refused']} models refused"
    if binary == program.id:
        for expected in engines.missing(table.get("must", []), [result]):
            yield f"{binary}: not found: {engines.describe(expected)}"
    if binary != program.id or not program.bug:
        for finding in proved(result):
            if not any(engines.matches(benign, finding) for benign in table.get("benign", [])):
                yield f"{binary}: {name_of(finding)} {finding['verdict']}"


def share(part, lost):
    return f"{100 * part / (part + lost):.0f} %" if part + lost else "–"


def row(name, counts):
    """A line of the table: counts, and of branches and stores that depend on shared reads, those that are expressions."""
    return (f"| {name} | " + " | ".join(str(counts[key]) for key in COLUMNS[:7]) + f" | {counts['branches']} | "
            f"{share(counts['branches symbolic'], counts['branches concretized'])} | {counts['shared stores']} | "
            f"{share(counts['shared stores symbolic'], counts['shared stores concretized'])} |")


def main():
    parser = suite_runs.options(__doc__, budget="30", solver_seconds="15")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    runs = suite_runs.Runs(asked)
    total, ran, problems = collections.Counter(), 0, []
    if asked.table:
        print("| program | " + " | ".join(COLUMNS[:7]) + " | branches | lifted | shared stores | lifted |\n|" + "---|" * 12)
    for program, binary in runs.builds():
        result, seconds = runs.predict(program, binary)
        counts = None if isinstance(result, str) else counts_of(result)
        if counts is None:
            problems.append(f"{binary}: {result if isinstance(result, str) else 'no symbolic stage'}")
            continue
        ran, total = ran + 1, total + counts
        if asked.table and counts["in"]:
            print(row(binary, counts), flush=True)
        if not asked.table:
            print(f"{binary:<36}", " ".join(f"{counts[key]:>4}" for key in COLUMNS), " ",
                  " ".join(f"{counts[key]:>6}" for key in LIFTED), f"{seconds:6.1f} s", flush=True)
            for remark in remarks_of(result):
                print(remark, flush=True)
        problems += problems_of(program, binary, result, counts)
    if asked.table:
        print(row(f"**{ran} programs**", total))
    print(f"{ran} programs:", ", ".join(f"{key} {total[key]}" for key in COLUMNS))
    print("lifting:", ", ".join(f"{key} {total[key]}" for key in WALK))
    print("pins:", ", ".join(f"{key} {total[key]}" for key in sorted(total, key=lambda k: -total[k]) if key.startswith("pins at ")))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
