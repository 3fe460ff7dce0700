# SPDX-License-Identifier: Apache-2.0
"""Which names statements of Python assign to."""

import ast
import functools
from collections.abc import Iterable, Iterator

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (*_DEFINITIONS, ast.Lambda)

#: Names of what the evaluator itself keeps among the variables; no name of Python looks like these.
RETURNING = "$returning"
RETURNED = "$returned"


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and those below it that belong to the same function.

    The variables of comprehensions are their own, so the targets of these are left out.
    """
    yield node
    for name, field in ast.iter_fields(node):
        if (name == "body" and isinstance(node, _FUNCTIONS)) or (
            name == "target" and isinstance(node, ast.comprehension)
        ):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST):
                yield from _own_nodes(child)


@functools.lru_cache(maxsize=8192)
def _facts(statement: ast.AST) -> tuple[frozenset[str], frozenset[str], bool]:
    """Return what a statement assigns to, what it declares, and whether it has a return."""
    names: set[str] = set()
    declared: set[str] = set()
    has_return = False
    for node in _own_nodes(statement):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif isinstance(node, _DEFINITIONS):
            names.add(node.name)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
        elif isinstance(node, ast.Return):
            has_return = True
        else:
            names |= _unusual(node)
    return frozenset(names), frozenset(declared), has_return


def _unusual(node: ast.AST) -> set[str]:
    """Return what statements assign to that kernels refuse."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, (ast.ExceptHandler, ast.MatchStar, ast.MatchAs)) and node.name:
        return {node.name}
    if isinstance(node, ast.MatchMapping) and node.rest:
        return {node.rest}
    return set()


def assigned(statements: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """Return the names that statements assign to, and those they declare global or nonlocal."""
    names: set[str] = set()
    declared: set[str] = set()
    for statement in statements:
        own_names, own_declared, _ = _facts(statement)
        names |= own_names
        declared |= own_declared
    return names - declared, declared


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Return all parameters, in the order of the signature."""
    variadic = [arguments.vararg] if arguments.vararg else []
    keywords = [arguments.kwarg] if arguments.kwarg else []
    positional = [*arguments.posonlyargs, *arguments.args]
    return [*positional, *variadic, *arguments.kwonlyargs, *keywords]


def local_names(function: "ast.FunctionDef | ast.Lambda") -> tuple[set[str], set[str]]:
    """Return the names that belong to a function, and those it declares global or nonlocal."""
    body = function.body if isinstance(function, ast.FunctionDef) else [function.body]
    names, declared = assigned(body)
    return (names | {each.arg for each in parameters(function.args)}) - declared, declared


def loop_names(statements: Iterable[ast.AST]) -> set[str]:
    """Return what a loop over statements may change, the returning from within it included."""
    statements = list(statements)
    names, _ = assigned(statements)
    return names | {RETURNING, RETURNED} if returns(statements) else names


def returns(statements: Iterable[ast.AST]) -> bool:
    """Return whether statements have a return of their own function."""
    return any(_facts(statement)[2] for statement in statements)


def always_returns(statements: list[ast.stmt]) -> bool:
    """Return whether the last statement returns on all its paths, and none before it returns."""
    if not statements or returns(statements[:-1]):
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    return isinstance(last, ast.Return)


def loaded_names(node: ast.AST) -> set[str]:
    """Return all names that are read anywhere below a node, in nested functions too."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
