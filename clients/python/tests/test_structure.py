"""The rooms of the package: which module may import which."""

from __future__ import annotations

import ast
from pathlib import Path

import framehold

SOURCE = Path(framehold.__file__).parent
#: The lowest first: a module imports from its own room and from those before it. Modules beside the rooms may import all.
ROOMS = ["errors", "_transport", "_rows", "_verbs"]


def test_every_import_goes_down() -> None:
    wrong = []
    imports: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        here = path.relative_to(SOURCE).with_suffix("").parts
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or node.level == 0:
                continue
            target = (*here[: len(here) - node.level], *(node.module or node.names[0].name).split("."))
            imports.setdefault(".".join(here), set()).add(".".join(target))
            if here[0] in ROOMS and (target[0] not in ROOMS or ROOMS.index(target[0]) > ROOMS.index(here[0])):
                wrong.append(f"{'.'.join(here)} imports {'.'.join(target)}")
    assert wrong == []
    assert sum(map(len, imports.values())) > 50
    assert circles(imports) == []


def circles(imports: dict[str, set[str]]) -> list[str]:
    """The modules that import each other: what is left when those without imports are taken away, again and again."""
    left = dict(imports)
    while True:
        free = [name for name, targets in left.items() if not targets & left.keys()]
        if not free:
            return sorted(left)
        for name in free:
            del left[name]
