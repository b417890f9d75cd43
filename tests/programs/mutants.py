"""Small changes that a careless hand could make, one at a time in a copy of the program, and whether a test notices.

    python tests/programs/mutants.py [--rule TEXT] [--each 8] [--seed 1]

For each rule the functions that hold it and the tests that name it: in those functions conditions are turned round, comparisons
moved by one, numbers changed, words of a text replaced, entries dropped, results left out. `--each` is how many of them are tried for a rule,
chosen by the seed. A change that no test notices is printed with its place; the last line is the score.
"""
from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent.parent
WORKERS = 2
TIMEOUT_S = 120  # a change that makes a test wait for ever is noticed too

# What holds a rule: its functions as module:function, and the tests that know it.
RULES: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "1 failed is named, with the moment": (
        ("asking/notes:_failures", "asking/notes:_all_absent", "answers:failed", "answers:absent", "telling/text_block:not_answered",
         "telling/text_block:_failure", "asking/search:_none_answered"), ("rules", "render", "client", "demo")),
    "2 no page number invented or dropped": (
        ("telling/text_block:_page", "archives/internet_archive_scans:page_with_text", "archives/internet_archive_scans:check_leaf",
         "archives/loc_records:read_match", "archives/loc_records:page_in"), ("render", "loc", "internet_archive", "rules", "picture")),
    "3 a passage holds the words": (
        ("text:excerpt", "text:first_match", "text:find", "text:_compiled", "asking/search:search_inside"), ("text", "words", "rules", "windows")),
    "4 no total invented or added": (
        ("archives/shared:page_of_rows", "archives/shared:_missing", "archives/shared:past_last", "asking/search:_report"), ("contract", "rules")),
    "5 no ranking across archives": (("asking/search:_interleave", "asking/search:_order", "asking/harvest:ordered"), ("rules", "client", "contract")),
    "6 a date order is no chronology": (("asking/notes:_dated_order", "asking/notes:_undated"), ("rules", "client")),
    "7 no vocabulary translated": (("asking/search:_vocabulary", "asking/search:_scope"), ("rules", "client")),
    "8 what was not sent was not applied": (
        ("archives/shared:plan_from", "asking/notes:_dropped", "asking/notes:_unasked", "asking/notes:_applied"), ("rules", "contract", "client")),
    "9 each archive says what it read": (("asking/search:_described", "asking/search:_asked_of", "asking/search:_report"), ("rules", "client")),
    "10 a row is what it is": (("telling/text_block:_row", "telling/text_block:_where", "telling/text_block:_listing"), ("render", "rules")),
    "11 silence is not permission": (("telling/text_block:_rights", "archives/internet_archive_records:rights"), ("render", "internet_archive", "rules")),
    "12 nothing imitates the server": (
        ("telling/harmless:inert", "telling/harmless:disarmed", "telling/harmless:one_line", "telling/harmless:visible", "telling/harmless:_shown",
         "telling/harmless:shortened"), ("inert", "render", "rules")),
    "13 a backwards range is refused": (("asking/arguments:_check_order", "asking/arguments:_first_day"), ("arguments", "rules")),
    "14 every wording can be retyped and is told": (
        ("asking/wordings:wordings", "asking/wordings:_reduced", "asking/wordings:_names", "asking/wordings:_longest",
         "asking/search:_withheld", "asking/search:_chosen_wordings"), ("wordings", "rules", "client")),
    "15 the credit is kept": (("telling/text_block:_credit", "asking/together:credit", "asking/together:attribution"), ("rules", "render", "client")),
    "what an answer is": (("transport/verdict:judge", "transport/verdict:_limit", "transport/verdict:retry_after", "transport/verdict:judge_redirect"),
                          ("transport",)),
    "pacing": (("transport/gate:enter", "transport/gate:delay_s", "transport/ledger:confirm", "transport/ledger:started"), ("pacing",)),
    "cache": (("transport/cache:get", "transport/cache:put", "transport/cache:drop"), ("transport",)),
    "kept answers": (("transport/shelf:_received", "transport/shelf:_fingerprint", "transport/shelf:_parts", "asking/log:evidence"),
                     ("recording", "exports", "demo")),
    "citations": (("telling/citations:date_parts", "telling/citations:_name", "telling/citations:_at_page", "telling/citations:of_row"),
                  ("citations", "exports")),
    "pictures": (("regions:around", "regions:_spread", "regions:tightest", "regions:picture_address", "asking/picture:measured",
                  "asking/picture:_asked"), ("regions", "picture")),
    "protocol": (("stdio:read_lines", "../mcp_books:answer", "../mcp_books:id_member", "../mcp_books:resources_read", "../mcp_books:_pictured"), ("protocol", "stdio", "picture")),
}


@dataclass(frozen=True)
class Mutant:
    rule: str
    path: Path  # below the root
    line: int
    what: str
    text: str  # of the whole module, changed
    tests: tuple[str, ...]


class Change(ast.NodeTransformer):
    """The `wanted`-th change that can be made in a function; counts them when there are fewer."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.seen, self.done = wanted, 0, ""

    def _here(self, what: str) -> bool:
        self.seen += 1
        if self.seen - 1 == self.wanted:
            self.done = what
            return True
        return False

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if self._here("a condition turned round"):
            node.test = ast.UnaryOp(ast.Not(), node.test)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if self._here("a choice turned round"):
            node.body, node.orelse = node.orelse, node.body
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        other = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn,
                 ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}.get(type(node.ops[0]))
        if other and self._here(f"{type(node.ops[0]).__name__} made {other.__name__}"):
            node.ops[0] = other()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self._here("and for or"):
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Not the annotation of a local name, which nothing reads."""
        node.value = node.value and self.visit(node.value)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) or node.value is None:
            return node
        if isinstance(node.value, int) and self._here(f"{node.value} made {node.value + 1}"):
            return ast.Constant(node.value + 1)
        if isinstance(node.value, str) and node.value.strip() and self._here(f"{node.value[:30]!r} emptied"):
            return ast.Constant("")
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None and self._here("a result left out"):
            node.value = ast.Constant(None)
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and len(node.elts) > 1 and self._here("the last entry dropped"):
            node.elts.pop()
        return node


def function_of(tree: ast.Module, name: str) -> ast.FunctionDef:
    return next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)


def without_docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def changed(source: str, name: str, wanted: int) -> tuple[str, int, str, int]:
    """The module with the `wanted`-th change in a function, its line, what it is; and how many there are."""
    tree = ast.parse(source)
    function, change = function_of(tree, name), Change(wanted)
    kept = len(function.body) - len(without_docstring(function))
    function.body[kept:] = [change.visit(statement) for statement in without_docstring(function)]
    return ast.unparse(ast.fix_missing_locations(tree)), function.lineno, change.done, change.seen


def mutants(rule: str, each: int, dice: random.Random) -> Iterator[Mutant]:
    places, tests = RULES[rule]
    possible = []
    for place in places:
        module, _, name = place.partition(":")
        path = Path("sources", f"{module}.py") if not module.startswith("..") else Path(f"{module[3:]}.py")
        source = (ROOT / path).read_text(encoding="utf-8")
        possible += [(path, source, name, number) for number in range(changed(source, name, -1)[3])]
    for path, source, name, number in dice.sample(possible, min(each, len(possible))):
        text, line, what, _ = changed(source, name, number)
        yield Mutant(rule, path, line, f"{name}: {what}", text, tuple(f"tests/test_{test}.py" for test in tests))


def noticed(mutant: Mutant, copy: Path) -> bool:
    """Whether a test fails, or never ends, in a copy with this one change."""
    place = copy / mutant.path
    before = place.read_text(encoding="utf-8")
    place.write_text(mutant.text, encoding="utf-8")
    try:
        ended = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *mutant.tests], cwd=copy,
                               capture_output=True, timeout=TIMEOUT_S, check=False, env={**os.environ, "BOOKS_STATE_DIR": "off"})
    except subprocess.TimeoutExpired:
        return True
    finally:
        place.write_text(before, encoding="utf-8")
    return ended.returncode in (1, 2)  # a test fails, or the tests cannot even be collected


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--rule", default="", help="only the rules whose name holds this")
    options.add_argument("--each", type=int, default=6)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    dice = random.Random(given.seed)
    made = [mutant for rule in RULES if given.rule in rule for mutant in mutants(rule, given.each, dice)]
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(WORKERS):
            copy = Path(folder, str(number))
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "__pycache__", ".venv", "build", "*.egg-info"))
            copies.put(copy)

        def tried(mutant: Mutant) -> bool:
            copy = copies.get()
            try:
                return noticed(mutant, copy)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(WORKERS) as pool:
            outcomes = list(pool.map(tried, made))
    lived = [mutant for mutant, killed in zip(made, outcomes, strict=True) if not killed]
    for mutant in lived:
        print(f"lived: {mutant.rule}: {mutant.path}:{mutant.line} {mutant.what}")
    print(f"{len(made) - len(lived)} of {len(made)} changes were noticed: {100 * (len(made) - len(lived)) / max(1, len(made)):.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
