"""The program suite as data: every folder programs/SET/NAME with its expect.toml, checked on reading."""
import tomllib
from dataclasses import dataclass
from pathlib import Path

SETS = ("ctp", "moth", "marathon", "atomchase", "micro", "real")
FROZEN = ("everyday", "correct", "gated")  # ordinary programs without annotations; no engine has expectations for them yet
ENGINES = ("check", "predict", "static", "hunt")
LANDED = ("check", "predict")  # every program says what these must find, or must not
VERDICTS = ("infeasible", "candidate", "feasible", "witnessed", "confirmed")
PATTERNS = ("RWR", "RWW", "WWR", "WRW", "WWW")
STATIC_KINDS = ("high-level-race", "stale-value")
STAGES = ("patterns", "order", "locks", "filter", "exact", "symbolic")

# key → (type, required)
TOP = {
    "about": (str, True), "facts": (str, True), "bug": (bool, True), "drf": (bool, True), "tsan_clean": (bool, True),
    "symptom": (str, True), "symptom_args": (list, False), "symptom_shows": (str, False), "may_hang": (bool, False),
    "args": (list, False), "benign": (str, False),
    "check": (dict, False), "predict": (dict, False), "static": (dict, False), "hunt": (dict, False),
}
ENGINE = {
    "must": (list, False), "must_not": (list, False), "benign": (list, False), "args": (list, False), "runs": (list, False),
    "units": (str, False), "sets": (str, False), "missed_by_paper": (str, False), "not_yet": (str, False),
}
FINDING = {
    "pattern": str, "kind": str, "variable": str, "functions": list, "verdict": str, "size": int, "units": list,
    "note": str,
}


@dataclass(frozen=True)
class Program:
    set: str
    name: str
    folder: Path
    source: Path
    expect: dict

    @property
    def id(self):
        return f"{self.set}/{self.name}"

    @property
    def bug(self):
        return self.expect["bug"]

    @property
    def builds(self):
        """The native binaries of this program: itself and, if there is a bug, its repaired twin."""
        return [self.id, self.id + "_ok"] if self.bug else [self.id]


def problems_of_finding(engine, finding, place):
    for key, value in finding.items():
        if key not in FINDING:
            yield f"{place}: unknown key {key}"
        elif not isinstance(value, FINDING[key]):
            yield f"{place}: {key} is not a {FINDING[key].__name__}"
    if finding.get("pattern", "RWW") not in PATTERNS:
        yield f"{place}: no such pattern {finding['pattern']}"
    if finding.get("verdict", "candidate") not in VERDICTS:
        yield f"{place}: no such verdict {finding['verdict']}"
    if engine == "static" and finding.get("kind") not in STATIC_KINDS:
        yield f"{place}: a static finding needs a kind, one of {', '.join(STATIC_KINDS)}"
    if engine == "check" and "pattern" in finding:
        yield f"{place}: check tells cycles, not patterns"
    if engine in ("predict", "hunt") and "size" in finding:
        yield f"{place}: {engine} tells triples, not cycles"
    if "variable" not in finding and "functions" not in finding and "units" not in finding:
        yield f"{place}: names no variable, functions or units"


def problems_of_engine(engine, table):
    for key, value in table.items():
        if key not in ENGINE:
            yield f"[{engine}]: unknown key {key}"
        elif not isinstance(value, ENGINE[key][0]):
            yield f"[{engine}]: {key} is not a {ENGINE[key][0].__name__}"
    for which in ("must", "must_not", "benign"):
        for number, finding in enumerate(table.get(which, []), 1):
            yield from problems_of_finding(engine, finding, f"[{engine}] {which} {number}")
    for run in table.get("runs", []):
        for key in run:
            if key not in ("args", "must") and key not in STAGES:
                yield f"[{engine}] runs: unknown key {key}"
        for number, finding in enumerate(run.get("must", []), 1):
            yield from problems_of_finding(engine, finding, f"[{engine}] runs must {number}")


def problems_of(program):
    expect = program.expect
    for key, value in expect.items():
        if key not in TOP:
            yield f"unknown key {key}"
        elif not isinstance(value, TOP[key][0]):
            yield f"{key} is not a {TOP[key][0].__name__}"
    for key, (_, required) in TOP.items():
        if required and key not in expect:
            yield f"{key} is missing"
    if program.set not in SETS:
        yield f"no such set: {program.set}"
    if not program.source.exists():
        yield "there is no source file named like the folder"
    else:
        text = program.source.read_text()
        if expect.get("bug") and "FIXED" not in text:
            yield "has a bug, but its source knows no repair (-DFIXED)"
        if expect.get("drf") is False and "acy" not in text and "RACY" not in text:
            yield "is not data-race free, but its source uses neither Racy nor RACY"
    if expect.get("bug") and not any(expect.get(engine, {}).get(key) for engine in ENGINES
                                     for key in ("must", "missed_by_paper")):
        yield "has a bug that no engine must find, and no missed_by_paper says why"
    if expect.get("drf") and not expect.get("tsan_clean"):
        yield "drf = true promises tsan_clean = true"
    for engine in ENGINES:
        if engine in expect:
            yield from problems_of_engine(engine, expect[engine])
        elif engine in LANDED:
            yield f"[{engine}] is missing"
    for engine in LANDED:
        if not any(key in expect.get(engine, {}) for key in ("must", "must_not", "benign", "missed_by_paper", "runs")):
            yield f"[{engine}] says nothing"


def load(root):
    """All programs below root/programs, by set and name; raises ValueError with every problem found."""
    programs, problems = [], []
    for path in sorted((Path(root) / "programs").glob("*/*/expect.toml")):
        folder = path.parent
        if folder.parent.name in FROZEN:
            continue
        source = folder / (folder.name + ".cpp")
        if not source.exists():
            source = folder / (folder.name + ".c")
        try:
            expect = tomllib.loads(path.read_text())
        except tomllib.TOMLDecodeError as error:
            problems.append(f"{path}: {error}")
            continue
        program = Program(folder.parent.name, folder.name, folder, source, expect)
        problems += [f"{path}: {problem}" for problem in problems_of(program)]
        programs.append(program)
    for folder in sorted((Path(root) / "programs").glob("*/*")):
        if folder.is_dir() and folder.parent.name in SETS and not (folder / "expect.toml").exists():
            problems.append(f"{folder}: has no expect.toml")
    if problems:
        raise ValueError("\n".join(problems))
    return programs
