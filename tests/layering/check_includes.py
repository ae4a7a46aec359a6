#!/usr/bin/env python3
"""Every #include between rooms is one that src/CMakeLists.txt permits, and the permitted ones have no cycle.

The compiler already refuses the rest (each room has its own include root); this test also sees what the compiler does
not: a permitted room that nobody uses, a solver or LLVM header outside the rooms that may see one, a cycle.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
source = root / "src"
OUTSIDE = {  # header prefix → rooms that may include it
    "llvm/": {"program", "pass", "feasibility/lift", "dependence/bitcode", "analysis/static", "cli"},
    "clang/": {"program", "pass"},
    "z3": {"feasibility/solve"},
}
EXEMPT = {"cli"}  # the outermost room: sees all, seen by none

text = (source / "CMakeLists.txt").read_text()
rooms = {}
for match in re.finditer(r"cleave_room\(([^)]*)\)", text):
    words = match.group(1).split()
    sees, into = [], None
    for word in words[1:]:
        if word in ("FOLDERS", "SEES", "LINKS"):
            into = word
        elif into == "SEES":
            sees.append(word)
    rooms[words[0]] = sees

problems = []


def reachable(room, trail):
    if room in trail:
        problems.append("rooms include each other in a circle: " + " -> ".join(trail + [room]))
        return
    for seen in rooms.get(room, []):
        if seen not in rooms:
            problems.append(f"{room} names {seen} after SEES, which is no room")
        else:
            reachable(seen, trail + [room])


for room in rooms:
    reachable(room, [])

all_rooms = sorted(list(rooms) + sorted(EXEMPT), key=len, reverse=True)


def room_of(path):
    return next((r for r in all_rooms if path == r or path.startswith(r + "/")), None)


used = {room: set() for room in rooms}
files = [p for p in source.rglob("*") if p.suffix in (".h", ".cpp", ".c", ".def")]
if not files:
    problems.append("no sources found")
for path in files:
    inside = path.relative_to(source).as_posix()
    here = room_of(inside)
    if here is None:
        here = inside.split("/")[0]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        header = match.group(2)
        for prefix, allowed in OUTSIDE.items():
            if header.startswith(prefix) and here not in allowed:
                problems.append(f"{inside}:{number}: {here} may not see {header}")
        if match.group(1) == "<" and not header.startswith(tuple(r + "/" for r in all_rooms)):
            continue
        there = room_of(header)
        if there is None or there == here or here in EXEMPT:
            continue
        if here in rooms and there not in rooms[here]:
            problems.append(f"{inside}:{number}: {here} may not include {there}")
        elif here in rooms:
            used[here].add(there)

for problem in problems:
    print(problem)
print(f"{len(rooms)} rooms, {len(files)} files, {len(problems)} problems")
sys.exit(1 if problems else 0)
