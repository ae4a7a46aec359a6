"""What holds of every findings file, whatever the program is: no finding contradicts itself."""
import re

ADDRESSES = range(1 << 40, 1 << 47)
# Proofs whose sentence speaks of the three accesses of the finding alone.
OF_THE_TRIPLE = ("C_RWR", "C_WRW", "C_RWW")


def forms(access):
    """The ways in which people may read the values of an access."""
    for word in access.get("value", "").split(" -> "):
        yield word
        if not word.isdigit():
            continue
        number = int(word)
        yield hex(number)
        for bits in (8, 16, 32, 64):
            if number >> bits == 0 and number >> (bits - 1) == 1:
                yield str(number - (1 << bits))
        if number in (0, 1):
            yield ("false", "true")[number]


def accesses_of(finding):
    yield from finding.get("accesses", [])
    for edge in finding.get("edges", []):
        yield edge["first"]
        yield edge["second"]


def contradictions_of(finding):
    text = f"{finding.get('why', '')} {finding.get('note', '')}"
    if finding["kind"] == "cycle" and len({unit["thread"] for unit in finding["units"]}) < 2:
        yield "all units of the cycle are of one thread"
    if finding["verdict"] == "infeasible" and "it happened" in text:
        if finding.get("stages", {}).get("replay") != "atomic":
            yield "it is said to be infeasible and to have happened"
    for access in accesses_of(finding):
        for word in access.get("value", "").split(" -> "):
            if word.isdigit() and int(word) in ADDRESSES and re.search(rf"\b{word}\b", text):
                yield f"the address {word} is written as a decimal number"
    if finding.get("proof") in OF_THE_TRIPLE:
        shown = {form for access in finding["accesses"] for form in forms(access)}
        for number in re.findall(r"(?:read|wrote|got|then) (-?\d+|0x[0-9a-f]+)\b", text):
            if number not in shown and not any("." in form or form == "?" for form in shown):
                yield f"the sentence speaks of {number}, which no access has"


def contradiction(findings):
    """A sentence about the first finding that contradicts itself or another one; None if none does."""
    seen = set()
    for finding in findings["findings"]:
        if finding["id"] in seen:
            return f"two findings are called {finding['id']}"
        seen.add(finding["id"])
        for problem in contradictions_of(finding):
            return f"{finding['id']}: {problem}"
    return None
