"""The habits of the house, checked: sizes, docstrings, mirrors, names, and documents that tell the truth.

An exception needs a line with its reason in exceptions.toml; an exception that is no longer needed fails too.
"""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "quire"
MODULES = sorted(SOURCE.rglob("*.py"))
EXCEPTIONS = tomllib.loads((Path(__file__).parent / "exceptions.toml").read_text())

FUNCTION_LINES = 60
MODULE_LINES = 600
PUBLIC_METHODS = 15
PARAMETERS = 7
BANNED_NAMES = {"core", "common", "utils", "helpers", "misc", "manager", "impl", "internals"}


def tracked() -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [name for name in listing.stdout.splitlines() if (ROOT / name).exists()]


def functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    stack: list[tuple[str, ast.AST]] = [("", ast.parse(path.read_text()))]
    while stack:
        prefix, node = stack.pop()
        for child in ast.iter_child_nodes(node):
            name = getattr(child, "name", "")
            qualified = f"{prefix}{name}." if name else prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield qualified[:-1], child
            stack.append((qualified, child))


def oversized() -> dict[str, dict[str, int]]:
    """Everything above a limit: kind -> place -> size."""
    found: dict[str, dict[str, int]] = {
        "functions": {},
        "modules": {},
        "classes": {},
        "parameters": {},
    }
    for path in MODULES:
        name = str(path.relative_to(SOURCE))
        lines = len(path.read_text().splitlines())
        if lines > MODULE_LINES:
            found["modules"][name] = lines
        for qualified, node in functions(path):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                found["functions"][f"{name}:{qualified}"] = length
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            count = len([a for a in arguments if a.arg not in ("self", "cls")])
            if count > PARAMETERS:
                found["parameters"][f"{name}:{qualified}"] = count
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                public = [
                    child.name
                    for child in node.body
                    if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                    and not child.name.startswith("_")
                    and not any("property" in ast.unparse(d) for d in child.decorator_list)
                ]
                if len(public) > PUBLIC_METHODS:
                    found["classes"][f"{name}:{node.name}"] = len(public)
    return found


@pytest.mark.parametrize("kind", ["functions", "modules", "classes", "parameters"])
def test_nothing_is_larger_than_the_house_allows_but_for_written_exceptions(kind: str) -> None:
    found = oversized()[kind]
    allowed: dict[str, str] = EXCEPTIONS.get(kind, {})
    assert {k: v for k, v in found.items() if k not in allowed} == {}
    assert sorted(set(allowed) - set(found)) == [], "exceptions no longer needed"
    assert all(len(reason) > 10 for reason in allowed.values())


def test_every_module_opens_with_its_docstring() -> None:
    missing = [str(p) for p in MODULES if not ast.get_docstring(ast.parse(p.read_text()))]
    assert missing == []


def test_every_module_has_its_mirror_among_the_tests() -> None:
    missing = []
    for path in MODULES:
        name = path.relative_to(SOURCE)
        if path.name in ("__init__.py", "__main__.py") or str(name) in EXCEPTIONS["mirrors"]:
            continue
        if any(str(name).startswith(f"{folder}/") for folder in EXCEPTIONS["mirrored_folders"]):
            continue
        mirror = ROOT / "tests" / name.parent / f"test_{path.name}"
        if not mirror.exists():
            missing.append(str(mirror.relative_to(ROOT)))
    assert missing == []


def test_no_room_or_module_has_a_name_that_says_nothing() -> None:
    names = {part.removesuffix(".py") for p in MODULES for part in p.relative_to(SOURCE).parts}
    assert names & BANNED_NAMES == set()


def test_nothing_is_left_for_later_without_a_decision() -> None:
    mark = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!.*decisions/\d{4})")
    sources = [
        n
        for n in tracked()
        if n.endswith((".py", ".pyx", ".md")) and not n.startswith("tests/tidy")
    ]
    left = [
        f"{name}:{number}"
        for name in sources
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1)
        if mark.search(line)
    ]
    assert left == []


def test_every_path_that_a_document_names_is_there() -> None:
    missing = []
    documents = [
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    for document in documents:
        text = document.read_text()
        linked = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
        missing += [
            f"{document.name}: {link}" for link in linked if not (document.parent / link).exists()
        ]
        quoted = re.findall(r"`((?:src|tests|bench|docs)/[\w./-]+)`", text)
        missing += [f"{document.name}: {path}" for path in quoted if not (ROOT / path).exists()]
    assert missing == []


def test_the_architecture_describes_every_room() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rooms = [p.name for p in SOURCE.iterdir() if p.is_dir() and (p / "__init__.py").exists()]
    assert [room for room in rooms if f"**{room}**" not in text] == []


def test_every_module_of_the_described_rooms_is_in_the_map() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    described = ("storage", "records", "protocol", "runtime", "sim", "ports")
    absent = [
        f"{room}/{path.stem}"
        for room in described
        for path in sorted((SOURCE / room).glob("*.py"))
        if path.stem not in ("__init__", "__main__") and f"`{path.stem}`" not in text
    ]
    assert absent == []


def test_decisions_are_numbered_and_short() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    numbers = [int(path.name[:4]) for path in decisions]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [p.name for p in decisions if len(p.read_text().splitlines()) > 60] == []
    headings = ("**Context", "**Decision", "**Rejected", "**Consequences", "**We were wrong if")
    assert [(p.name, h) for p in decisions for h in headings if h not in p.read_text()] == []


def test_the_makefile_stays_small() -> None:
    assert len((ROOT / "Makefile").read_text().splitlines()) <= 60


def test_a_markdown_file_has_one_title() -> None:
    wrong = []
    for name in tracked():
        if name.endswith(".md"):
            text = re.sub(r"```.*?```", "", (ROOT / name).read_text(), flags=re.DOTALL)
            if len(re.findall(r"^# ", text, flags=re.MULTILINE)) != 1:
                wrong.append(name)
    assert wrong == []
