#!/usr/bin/env python3
"""gated.py ROOT BUILD: `cleave hunt` finds the failure of every program in programs/gated within the executions that its
expect.toml allows, and nothing in its repaired twin."""
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT, BUILD = (Path(word).resolve() for word in sys.argv[1:3])


def hunt(source, flags, executions):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([BUILD / "bin/cleave-c++", "-std=c++20", "-g", "-O1", "-pthread", *flags, source, "-o", "prog"],
                       cwd=folder, check=True)
        subprocess.run([BUILD / "bin/cleave", "hunt", "--executions", str(executions), "--stop", "--no-explain", "--quiet",
                        "--json", "out.json", "--", "./prog"], cwd=folder, stdout=subprocess.DEVNULL, check=False)
        return json.loads((Path(folder) / "out.json").read_text())


def proved(findings):
    return [finding for finding in findings["findings"] if finding["verdict"] in ("witnessed", "confirmed")]


def main():
    problems = []
    folders = sorted(path.parent for path in (ROOT / "programs/gated").glob("*/expect.toml"))
    for folder in folders:
        expect = tomllib.loads((folder / "expect.toml").read_text())["gated"]
        executions = expect["executions"]
        source = folder / f"{folder.name}.cpp"
        found = hunt(source, [], executions)
        facts = found.get("facts", {})
        print(folder.name, facts.get("first failure", facts.get("first proof", "not found")))
        if not proved(found) and "not_yet" in expect:
            print(f"known gap: {folder.name}: {expect['not_yet']}")
        elif not proved(found):
            problems.append(f"{folder.name}: not found in {executions} executions")
        if proved(hunt(source, ["-DFIXED"], 20)):
            problems.append(f"{folder.name}, repaired twin: found, but nothing is wrong")
    print("\n".join([*problems, f"{len(folders)} programs, {len(problems)} problems"]))
    return 1 if problems or not folders else 0


sys.exit(main())
