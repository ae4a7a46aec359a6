#!/usr/bin/env python3
"""program_index.py [--check]: writes the table of programs in docs/programs.md from the expect.toml files."""
import sys

from measure import ROOT

import suite  # from tests/programs; measure.py put it on the path

START, END = "<!-- programs -->\n", "<!-- end of programs -->\n"


def index():
    lines = []
    for name in suite.SETS:
        members = [program for program in suite.load(ROOT) if program.set == name]
        lines += [f"### {name} ({len(members)})", "", "| program | what | bug | data-race free | engines | facts |",
                  "|---|---|---|---|---|---|"]
        for program in members:
            expect = program.expect
            engines = ", ".join(engine for engine in suite.ENGINES if engine in expect) or "–"
            bug = expect["symptom"] if program.bug else ("none; " + expect["benign"] if "benign" in expect else "none")
            lines.append(f"| {program.name} | {expect['about']} | {bug} | {'yes' if expect['drf'] else 'no'} | {engines} "
                         f"| {expect['facts']} |")
        lines.append("")
    return "\n".join(lines) + "\n"


def main():
    path = ROOT / "docs" / "programs.md"
    old = path.read_text()
    head, _, rest = old.partition(START)
    _, _, tail = rest.partition(END)
    new = head + START + index() + END + tail
    if "--check" in sys.argv:
        if new != old:
            print("docs/programs.md is not what the expect.toml files say: run scripts/tables/program_index.py")
            return 1
        return 0
    path.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
