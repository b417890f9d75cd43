"""The limits of the house, counted: how wide, how deep, how large, and which room may use which.

A token is one of `tokenize`, comments, blank tokens and docstrings left out. What may pass a limit is named below with its
reason, twenty at most in all; a capability that needs more room raises TOKENS in its own commit and says so.
"""
from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import moves

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, TOKENS = 100, 142_000
MODULE_TOKENS, ARCHIVE_TOKENS = 4_000, 8_000
FUNCTION_TOKENS, PARAMETERS, NESTING = 250, 5, 3
EXCEPTIONS_MAX = 20

# What passes a limit, with its reason: a module's path, or a function as path:name.
EXCEPTIONS = {
    "mcp_books.py": "one program file, by the card: JSON-RPC, its revisions and the server in one place",
    "sources/archives/loc.py": "the Library is several services: catalogues, newspapers, headings and texts",
    "sources/archives/gallica.py": "two regimes of terms, each with its routes: records here, texts, places and pictures there",
    "sources/telling/text_block.py": "one table of readers a tool; a second module would part lines from their order",
    "sources/telling/text_block.py:_get_item": "one line of the block a row, in the order read",
    "sources/telling/text_block.py:_account": "what one archive did, a key of its report a line",
    "sources/client.py:search_inside": "a parameter an argument of the tool",
    "sources/client.py:search_items": "a parameter an argument of the tool",
    "sources/client.py:get_item": "a parameter an argument of the tool",
    "sources/client.py:read_text": "a parameter an argument of the tool",
    "sources/client.py:sequential_report": "a parameter an argument of the tool",
    "sources/errors.py:__init__": "a parameter a fact of an error",
    "sources/archives/shared.py:page_of_rows": "a parameter a fact of a page",
    "sources/archives/loc_records.py:describe_page": "one field of a page a row, with its sources in order",
    "sources/archives/loc.py:_planned": "one filter of the catalogue a row",
    "sources/asking/report.py:_search": "one step of a report, whose parts share its draft",
}

# Every import points at a later row, or stays in its own; a row's rooms may use one another.
FLOORS = (
    ("mcp_books", "door"), ("shell",), ("client",), ("asking",), ("prompts",), ("telling",), ("archives",), ("registry",),
    ("transport",), ("answers",), ("contract",), ("stdio", "regions"), ("errors", "languages", "settings", "text"),
)
# The package's own docstring names what it holds and imports nothing.
UNKNOWN_TO = {"transport": ("archives", "answers"), "telling": ("archives", "transport"), "archives": ("transport", "answers")}


def modules() -> dict[str, Path]:
    """Every module of the program by its dotted name under `sources`, mcp_books by its own."""
    found = {"mcp_books": ROOT / "mcp_books.py"}
    for path in sorted((ROOT / "sources").rglob("*.py")):
        parts = path.relative_to(ROOT / "sources").with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


MODULES = modules()
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def shown(name: str) -> str:
    return MODULES[name].relative_to(ROOT).as_posix()


def lines_of_tokens(name: str) -> list[int]:
    """The line of each token that counts."""
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    text = MODULES[name].read_text(encoding="utf-8")
    docstrings = {node.body[0].lineno for node in ast.walk(TREES[name])
                  if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False) is not None}
    return [token.start[0] for token in whole_strings(tokenize.generate_tokens(io.StringIO(text).readline))
            if token.type not in blank and not (token.type == tokenize.STRING and token.start[0] in docstrings)]


def whole_strings(tokens: Iterator[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    """A formatted string as the one token that it is before Python 3.12."""
    names, depth = {number: name for number, name in tokenize.tok_name.items() if name.startswith("FSTRING_")}, 0
    for token in tokens:
        name = names.get(token.type)
        if not depth:
            yield token
        depth += (name == "FSTRING_START") - (name == "FSTRING_END")


COUNTED = {name: lines_of_tokens(name) for name in MODULES}


def functions() -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """(path:name, module, function) of every function and method."""
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                yield f"{shown(name)}:{node.name}", name, node


def parameters(function: ast.FunctionDef) -> int:
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len(given) - bool(given and given[0].arg in ("self", "cls"))


def nesting(node: ast.AST, depth: int = 0) -> int:
    """How deep blocks stand in one another; an elif is no deeper than its if, an inner function counts for itself."""
    deepest = depth
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
                continue
            chained = field == "orelse" and isinstance(node, ast.If) and isinstance(child, ast.If) and len(value) == 1
            block = isinstance(child, (ast.If, ast.For, ast.While, ast.With, ast.Try)) and not chained
            deepest = max(deepest, nesting(child, depth + block))
    return deepest


def imports(name: str) -> set[str]:
    """The modules of the program that a module imports, wherever in it, but for type checkers alone too."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("sources.") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = [*package.split(".")][:len(package.split(".")) - (node.level - 1)] if node.level and package else []
            start = ".".join(filter(None, (*base, node.module or ""))) if node.level else (node.module or "").removeprefix("sources.")
            found |= {start, *(f"{start}.{alias.name}".lstrip(".") for alias in node.names)}
    return {target for target in found if target in MODULES and target not in ("", name)}


def room(name: str) -> str:
    return name.partition(".")[0]


def floor(name: str) -> int:
    return next(height for height, rooms in enumerate(FLOORS) if room(name) in rooms)


# ---- the limits ------------------------------------------------------------------------------------------------------

def test_no_line_is_wider_than_a_hundred_columns():
    wide = [f"{shown(name)}:{number}" for name, path in MODULES.items()
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if len(line) > COLUMNS]

    assert wide == []


def test_no_module_is_larger_than_can_be_read_in_one_sitting():
    """An archive's two modules together, any other alone."""
    sizes: dict[str, int] = {}
    for name, counted in COUNTED.items():
        of_archive = room(name) == "archives" and (name.endswith("_records") or f"{name}_records" in MODULES)
        key = shown(name.removesuffix("_records")) if of_archive else shown(name)
        sizes[key] = sizes.get(key, 0) + len(counted)
    bounds = {key: ARCHIVE_TOKENS if f"{key[:-3]}_records.py" in map(shown, MODULES) else MODULE_TOKENS for key in sizes}

    assert {key: size for key, size in sizes.items() if size > bounds[key] and key not in EXCEPTIONS} == {}


def test_no_function_is_longer_wider_or_deeper_than_one_step():
    large = {}
    for key, name, function in functions():
        size = sum(function.lineno <= line <= (function.end_lineno or 0) for line in COUNTED[name])
        found = (size, parameters(function), nesting(function))
        if found[0] > FUNCTION_TOKENS or found[1] > PARAMETERS or found[2] > NESTING:
            large[key] = found

    assert {key: found for key, found in large.items() if key not in EXCEPTIONS} == {}


def test_the_whole_is_no_larger_than_was_agreed():
    assert sum(map(len, COUNTED.values())) <= TOKENS


def test_exceptions_are_few_and_each_is_needed():
    keys = {key for key, _, _ in functions()} | set(map(shown, MODULES))

    assert len(EXCEPTIONS) <= EXCEPTIONS_MAX
    assert set(EXCEPTIONS) <= keys
    assert all(reason.strip() for reason in EXCEPTIONS.values())


# ---- the floors ------------------------------------------------------------------------------------------------------

def test_no_import_points_up_a_floor():
    up = {f"{name} imports {target}" for name in MODULES for target in imports(name)
          if name and floor(target) < floor(name)}

    assert up == set()


def test_no_import_is_part_of_a_circle():
    left = {name: imports(name) for name in MODULES}
    while free := [name for name, targets in left.items() if not targets & set(left)]:
        for name in free:
            del left[name]

    assert left == {}


def test_no_room_knows_what_it_may_not():
    """`telling` knows payloads and no archive, `transport` neither."""
    known = {f"{name} imports {target}" for name in MODULES for target in imports(name)
             if room(target) in UNKNOWN_TO.get(room(name), ())}

    assert known == {"archives.page_xml imports transport.bodies"}  # a page inside another body is read as a body is


def test_every_room_says_what_lives_there():
    """In a docstring of ten lines at most."""
    said = {folder.name: ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
            for folder in sorted((ROOT / "sources").iterdir()) if folder.is_dir() and list(folder.glob("*.py"))}

    assert {name for name, text in said.items() if not text or len(text.splitlines()) > 10} == set()


def test_no_module_is_named_after_a_gerund_alone():
    assert [name for name in MODULES if "." in name and name.rpartition(".")[2].endswith("ing")] == []


def test_the_walk_is_told_in_the_order_it_is_walked():
    """The modules that the docstring of `sources` names, by where a search of the sample shelf first comes to each."""
    walk = (ast.get_docstring(TREES[""]) or "").partition("\n\n")[0]
    told = [f"sources/{name.replace('.', '/')}.py" for name in re.findall(r"`([a-z_.]+)`", walk)]
    server = moves.made()
    moves.walked(server, *moves.QUESTIONS[0])  # modules are loaded on the first
    walked = list(dict.fromkeys(to for _, to in moves.walked(server, *moves.QUESTIONS[0]) if to in told))

    assert len(told) > 9
    assert walked == told
