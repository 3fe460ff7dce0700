# SPDX-License-Identifier: Apache-2.0
"""Writes the docstrings of a stub as the rows of a C++ table, sorted by name.

Usage: documentation.py _core.pyi documentation.inc

A row has the name, such as Buffer.copy_from, the parameters of a class, and the docstring.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path


def docstring(statement: ast.stmt | None) -> str:
    """Return what a statement says if it is a docstring."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        value = statement.value.value
        return inspect.cleandoc(value) if isinstance(value, str) else ""
    return ""


def parameters(node: ast.ClassDef) -> str:
    """Return what the class is called with, without types."""
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.name == "__init__":
            arguments = member.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            for argument in filter(None, [*every, arguments.vararg, arguments.kwarg]):
                argument.annotation = None
            del (arguments.posonlyargs or arguments.args)[0]
            return ast.unparse(arguments)
    return ""


def rows(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a stub, or of the class that owns these statements."""
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign):
            yield owner + ast.unparse(statement.target), "", docstring(following)
        elif isinstance(statement, ast.FunctionDef):
            yield owner + statement.name, "", docstring(statement.body[0])
        elif isinstance(statement, ast.ClassDef):
            yield statement.name, parameters(statement), docstring(statement.body[0])
            yield from rows(statement.body, f"{statement.name}.")


def literal(text: str) -> str:
    """Return a text as C++ spells it."""
    return f'R"~({text})~"'


def main(stub: str, output: str) -> None:
    """Write the table."""
    found = [row for row in rows(ast.parse(Path(stub).read_text("utf-8")).body) if row[2]]
    names = [name for name, _, _ in found]
    if twice := {name for name in names if names.count(name) > 1}:
        sys.exit(f"{stub} documents more than once: {', '.join(sorted(twice))}")
    if torn := [name for name, *texts in found if any(')~"' in text for text in texts)]:
        sys.exit(f'{stub} has )~" in the documentation of {", ".join(torn)}')
    table = [f"{{{', '.join(map(literal, row))}}},\n" for row in sorted(found)]
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    Path(output).write_text("".join(table), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
