# SPDX-License-Identifier: Apache-2.0
"""What is read in the CUDA C++ of users, as far as that goes without a compiler.

Everything here takes a time that is linear in the length of the text.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Comments, literals and directives of the preprocessor. What isn't closed goes on to the end, so
#: that each character is looked at once.
_APART = re.compile(
    r"//(?:\\\n|[^\n])*"
    r"|/\*.*?(?:\*/|(?P<comment>\Z))"
    r'|R"(?P<mark>[^()\\\s"]{0,16})\(.*?(?:\)(?P=mark)"|(?P<string>\Z))'
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'?"
    r"|^[ \t]*(?P<directive>\#"
    r'(?:\\\n|//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|[^\n])*)',
    re.DOTALL | re.MULTILINE,
)
_DIRECTIVE = re.compile(r"\#\s*([a-z]+)")
_MACRO = re.compile(r"\#[ \t]*define[ \t]+([A-Za-z_]\w*)(\(|[ \t]+(?!//|/\*|\s)\S)")
_LETTER = re.compile("[A-Za-z_]")


def without_comments(source: str) -> str:
    """Return a source with neither comments nor literals nor directives, in the same lines."""
    return _APART.sub(lambda match: "\n" * match[0].count("\n") or " ", source)


def _directives(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line of each directive of the preprocessor, and the directive."""
    line, seen = 1, 0
    for match in _APART.finditer(source):
        if match["directive"]:
            line += source.count("\n", seen, match.start())
            seen = match.start()
            yield line, match["directive"]


def functions_of(source: str) -> list[tuple[str, str, list[str]]]:
    """Return name, type and parameters of all functions with ``__device__`` that are defined."""
    text = without_comments(source)
    found = []
    depth, start = 0, 0
    for place, mark in enumerate(text):
        if mark == "{":
            head = _head(text[start:place]) if depth == 0 else None
            if head and re.search(r"\b__device__\b", head[1]):
                found.append(head)
            depth += 1
        elif mark == "}":
            depth -= 1
            start = place + 1
        elif mark == ";" and depth == 0:
            start = place + 1
    return found


def _head(text: str) -> tuple[str, str, list[str]] | None:
    """Return name, type and parameters of the function whose body follows; None if it is none."""
    text = text.rstrip().removesuffix("noexcept").rstrip()
    before, opening, listed = text.removesuffix(")").rpartition("(")
    if not text.endswith(")") or not opening or ")" in listed:
        return None
    before = before.rstrip()
    start = len(before)
    while start and (before[start - 1].isalnum() or before[start - 1] == "_"):
        start -= 1
    name = _LETTER.search(before, start)
    if name is None:
        return None
    returns = before[: name.start()]
    begin = 1 + max(map(returns.rfind, ";(){}"))
    listed = listed.strip()
    parameters = [] if listed in {"", "void"} else listed.split(",")
    return before[name.start() :], returns[begin:], parameters


def require_whole(source: str) -> None:
    """Refuse what would change the meaning of the text behind it.

    Raises
    ------
    ValueError
        A comment, a string, a brace or a conditional is not closed or not opened, or the last line
        is continued.
    """
    if source.rstrip(" \t").endswith("\\"):
        raise ValueError("the source ends with a backslash, which continues its last line")
    for match in _APART.finditer(source):
        if match["comment"] is not None or match["string"] is not None:
            what = "string" if match["comment"] is None else "comment"
            line = 1 + source.count("\n", 0, match.start())
            raise ValueError(f"line {line} of the source: a {what} that is never closed")
    directives = list(_directives(source))
    _require_whole_conditionals(directives)
    words = [_word(text) for _, text in directives]
    has_braces = any("{" in text or "}" in text for _, text in directives)
    if "endif" not in words and not has_braces:  # otherwise they depend on what is compiled
        _require_whole_braces(without_comments(source))


def _word(directive: str) -> str:
    match = _DIRECTIVE.match(directive)
    return match[1] if match else ""


def _require_whole_conditionals(directives: list[tuple[int, str]]) -> None:
    opened = []
    for line, text in directives:
        word = _word(text)
        if word in {"if", "ifdef", "ifndef"}:
            opened.append((line, word))
        elif word in {"elif", "elifdef", "elifndef", "else", "endif"} and not opened:
            raise ValueError(f"line {line} of the source: #{word} without #if")
        elif word == "endif":
            opened.pop()
    if opened:
        line, word = opened[-1]
        raise ValueError(f"line {line} of the source: #{word} without #endif")


def _require_whole_braces(text: str) -> None:
    opened = []
    for match in re.finditer("[{}]", text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            opened.pop()
        else:
            line = 1 + text.count("\n", 0, match.start())
            raise ValueError(f"line {line} of the source: '}}' without '{{'")
    if opened:
        line = 1 + text.count("\n", 0, opened[-1])
        raise ValueError(f"line {line} of the source: '{{' that is never closed")


def with_macros_ended(source: str) -> str:
    """Return a source after which none of its macros is defined.

    Those that become nothing stay: they guard against being included twice.
    """
    macros = [_MACRO.match(text) for _, text in _directives(source)]
    names = dict.fromkeys(match[1] for match in macros if match)
    return source + "".join(f"\n#undef {name}" for name in names)
