"""Runs Cleave's engines on a program of the suite and compares their findings with its expect.toml."""
import fnmatch
import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path

import invariants
import suite

SECONDS = 120
RANDOM_SEEDS = 20


class Cleave:
    """The tool of one build, and which of its verbs have landed."""

    def __init__(self, build, folder=None):
        self.build = Path(build).resolve()
        self.folder = folder  # where commands run, and leave witness files; None: here
        self.tool = self.build / "bin" / "cleave"
        self.programs = self.build / "programs" / "cleave"

    def in_folder(self, folder):
        """The same tool, whose commands run there."""
        return Cleave(self.build, folder)

    @functools.cache
    def help_of(self, *verb):
        """What `cleave [VERB] --help` prints; nothing if there is no tool."""
        try:
            done = subprocess.run([self.tool, *verb, "--help"], capture_output=True, timeout=SECONDS)
        except FileNotFoundError:
            return ""
        return done.stdout.decode() if done.returncode == 0 else ""

    def has(self, verb, *options):
        """Whether the verb has landed, and its help speaks of all these words."""
        verbs = [line.split()[0] for line in self.help_of().splitlines() if line.startswith("  ") and line.split()]
        return verb in verbs and all(option in self.help_of(verb) for option in options)

    def run(self, *arguments):
        """(exit status, messages); a time-out is status None."""
        try:
            done = subprocess.run([self.tool, *map(str, arguments)], capture_output=True, timeout=SECONDS,
                                  cwd=self.folder, env={**os.environ, "NO_COLOR": "1"})
            return done.returncode, done.stderr.decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            return None, f"did not end in {SECONDS} s"

    def record(self, binary, arguments, trace, schedule, seed=1):
        """Records one run; an Error sentence, or None."""
        how = ["--schedule", schedule, "--seed", seed] if self.has("record", "--schedule") else []
        status, messages = self.run("record", "-o", trace, *how, "--", self.programs / binary, *arguments)
        if status in (0, 1, 3) and Path(trace).exists():
            return None
        return f"cleave record {binary}: exit status {status}: {messages}"

    def findings(self, verb, *arguments):
        """The findings file as a dict, or an Error sentence as a string."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "findings.json"
            status, messages = self.run(verb, "--json", out, "--quiet", *arguments)
            # What is unfinished is an answer too; that the program could not be run is none.
            unfinished = status == 3 and "could not be run" not in messages
            if not (status in (0, 1) or unfinished) or not out.exists():
                return f"cleave {verb}: exit status {status}: {messages}"
            findings = json.loads(out.read_text())
            problem = invariants.contradiction(findings)
            return f"cleave {verb}: {problem}" if problem else findings


def same_name(expected, name):
    """`Account::balance` names `Account::balance`, `bank::Account::balance`, `Account::balance[3]`, `balance.x`."""
    if name is None:
        return False
    if fnmatch.fnmatchcase(name, expected):
        return True
    for sign in "[.+(<@":
        if name.startswith(expected + sign) or ("::" + expected + sign) in name:
            return True
    return name.endswith("::" + expected)


def variables_of(finding):
    yield finding.get("variable")
    for edge in finding.get("edges", []):
        yield edge.get("variable")
        yield edge.get("first", {}).get("variable")
        yield edge.get("second", {}).get("variable")
    for access in finding.get("accesses", []):
        yield access.get("variable")
    for view in finding.get("views", []):
        yield from view


def functions_match(expected, finding):
    """In order for a triple; for anything else, each is named somewhere in the finding."""
    accesses = finding.get("accesses", [])
    if finding.get("kind") == "triple" and len(expected) == len(accesses) == 3:
        return all(any(same_name(name, place) for place in places_of(access))
                   for name, access in zip(expected, accesses))
    text = [finding.get("unit", "")] + [unit.get("name", "") for unit in finding.get("units", [])]
    for access in accesses + [edge[end] for edge in finding.get("edges", []) for end in ("first", "second")]:
        text += places_of(access)
    return all(any(same_name(name, place) for place in text) for name in expected)


def places_of(access):
    """The access's function and its callers: inlining must not decide whether an expectation is met."""
    stack = [frame.split(" ")[0].split("(")[0] for frame in access.get("stack", [])]
    return [access.get("function", "").split("(")[0], *stack]


def matches(expected, finding):
    if "kind" in expected and finding.get("kind") != expected["kind"]:
        return False
    if "pattern" in expected and finding.get("pattern") != expected["pattern"]:
        return False
    for stage, mark in expected.get("stages", {}).items():
        if finding.get("stages", {}).get(stage) != mark:
            return False
    if "size" in expected and finding.get("size") != expected["size"]:
        return False
    verdicts = suite.VERDICTS
    if "verdict" in expected and verdicts.index(finding["verdict"]) < verdicts.index(expected["verdict"]):
        return False
    if "variable" in expected and not any(same_name(expected["variable"], name) for name in variables_of(finding)):
        return False
    if "functions" in expected and not functions_match(expected["functions"], finding):
        return False
    return units_match(expected.get("units", []), finding)


def units_match(expected, finding):
    """Each expected unit is another one of the finding: [u, u] is met by a cycle of two calls of u, not by one."""
    names = [unit.get("name") for unit in finding.get("units", [])] or [finding.get("unit")]
    for unit in sorted(expected, key=len, reverse=True):
        met = next((number for number, name in enumerate(names) if same_name(unit, name)), None)
        if met is None:
            return False
        names.pop(met)
    return True


def describe(expected):
    words = [str(expected[key]) for key in ("kind", "pattern", "size", "variable", "verdict") if key in expected]
    return " ".join(words + expected.get("functions", expected.get("units", [])))


def missing(expectations, results):
    """The expectations that none of the findings files meets."""
    everything = [finding for result in results for finding in result.get("findings", [])]
    return [expected for expected in expectations if not any(matches(expected, finding) for finding in everything)]


def present(expectations, results):
    everything = [finding for result in results for finding in result.get("findings", [])]
    return [expected for expected in expectations if any(matches(expected, finding) for finding in everything)]


def stage_counts(result):
    return {stage["name"]: stage.get("triples") for stage in result.get("stages", [])}
