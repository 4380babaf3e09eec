"""Command lines by chance, made of what a shell reads in its own way."""

from __future__ import annotations

import random
from collections.abc import Iterator

WORDS = (
    *("x", "y", "z", "-n", "--", "1", "''", '""', "'x y'", '"x y"', "$X", '"$X"', "${X}", "$1", "$@", "$*", "$?", "$$"),
    *("{}", "*", "f*", "?1", "[ab]", "{a,b}", "~", "a=b", "X=e", "\\e", "\\\n", "$'e'", "$'\\x65'", '$"e"', '$"x"'),
    *("$'x'", "$'\\'", "$'x\\'y'", "e", "b", "a", "-c", "--output=z", "--output", "z", "-o", "-exec", "-delete"),
    *("--compress-program=e", "--ext-diff", "-c", "'$(e)'", "$(a)", "$(e)", "`a`", "`e`", '"$(a)"', '"$(e)"', '"`e`"'),
    *("<(a)", ">(a)", "<(e)", "$(b x)", "'a[$(e)]'", "-v", "\\$(e)", '"\\$(e)"', "'`e`'", "$((1))", "${X:-$(e)}"),
    *("$[1]", "!", "#", "x#y", "#e", "\u00a0", "é", "\u3000", "\t"),
)
COMMANDS = (
    *("a", "a", "a", "b x", "b x", "b", "b y", "e", "git diff", "git diff", "git push", "git", "sort", "find ."),
    *("echo", ":", "true", "false", "pwd", "test", "[", "printf", "printf %s", "export", "read", "eval", "command"),
    *("exec", "env", "sh -c", "bash -c", "nice", "timeout 1", "xargs", "nohup", "builtin", "unset", "let", "declare"),
    *("set --", "shift", "X=1 a", "X=e", "PATH=. a", "trap", "alias a=e", "alias", "'a'", '"a"', "\\a", "a''", "$X"),
    *("$'a'", "./a", "b 'x'", "time", "time -p", "!", "local", "return", "typeset", "readonly", "wait", "cd", "hash"),
    *("type", "getopts x", ". ./f1"),
)
REDIRECTIONS = (
    *("2>&1", ">/dev/null", "2>/dev/null", "</dev/null", "> f", ">> f", "<f1", "<<<x", "<<< $(e)", "&>/dev/null"),
    *("<&-", ">&2", "2>&-", "<> f", ">| f", "&> f", "> $X", "{X}>&1", "> >(e)", "< <(a)", "1>&2"),
)
JOINTS = (
    *(" && ", " || ", "; ", " | ", " |& ", " & ", "\n", ";\n", " ;", "&&", "||", "|", "&", "\n\n", " \\\n", " # x\n"),
    "\r\n",
)
PIECES = (
    *WORDS,
    *COMMANDS,
    *JOINTS,
    *REDIRECTIONS,
    *(
        *("(", ")", "{ ", "; }", "$(", "`", "'", '"', "\\", "<<E\n", "\nE\n", "<<'E'\n", "<<-E\n", "\tE\n", "((", "))"),
        *("[[", "]]"),
    ),
    *(
        *("if ", "; then ", "; else ", "; fi", "for X in ", "; do ", "; done", "case x in x) ", ";; esac", "a() "),
        "function a ",
    ),
    *(
        *("for e in ", "for X; do ", "select x in ", "coproc ", "$", "=", "+=", " ", "  ", "in", "<", ">", "-", "\x0b"),
        *("\x0c", "\\\r\n", "$'", '$"', "\\'"),
    ),
)


def lines(seed: int, count: int) -> Iterator[str]:
    """Command lines: well-formed ones, well-formed ones with an accident, and mere rows of pieces."""
    chance = random.Random(seed)
    for _ in range(count):
        kind = chance.random()
        if kind < 0.45:
            yield _list(chance, 0)
        elif kind < 0.55:
            yield _joined(chance, _list(chance, 0))
        elif kind < 0.75:
            yield _accident(chance, _list(chance, 0))
        else:
            yield "".join(chance.choice(PIECES) + chance.choice(("", " ")) for _ in range(chance.randint(1, 9)))


def _list(chance: random.Random, depth: int) -> str:
    text = _part(chance, depth)
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
        text += chance.choice(JOINTS) + _part(chance, depth)
    return text


def _part(chance: random.Random, depth: int) -> str:
    if depth > 2 or chance.random() < 0.7:
        return _simple(chance, depth)
    inner = _list(chance, depth + 1)
    return chance.choice(
        (
            f"({inner})",
            f"{{ {inner}; }}",
            f"if {inner}; then {_simple(chance, 3)}; fi",
            f"if a; then {inner}; else {_simple(chance, 3)}; fi",
            f"for X in {chance.choice(WORDS)} {chance.choice(WORDS)}; do {inner}; done",
            f"while a; do {inner}; break; done",
            f"a $({inner})",
            f'a "$({inner})"',
            f"a `{inner}`",
            f"a <<E\n{inner}\nE\n",
            f"a <<E\n$({inner})\nE\n",
            f"a <<'E'\n{inner}\nE\n",
            f"a <<-E\n\t`{inner}`\n\tE\n",
            f"a <({inner})",
            f"bash <<E\n{inner}\nE\n",
            f"sh -c '{inner}'",
            f'eval "{inner}"',
            f"case x in {inner}) {inner};; esac",
            f"a() {{ {inner}; }}; a",
            f"! {inner}",
            f"time {inner}",
        )
    )


def _simple(chance: random.Random, depth: int) -> str:
    words = [chance.choice(COMMANDS)]
    words += [chance.choice(WORDS) for _ in range(chance.choice((0, 0, 1, 1, 2, 3)))]
    if chance.random() < 0.2:
        words.insert(chance.choice((0, len(words))), chance.choice(REDIRECTIONS))
    if depth < 3 and chance.random() < 0.05:
        words.append(f"$({_list(chance, depth + 1)})")
    return " ".join(words)


def _joined(chance: random.Random, text: str) -> str:
    """The same to a shell, nearly everywhere: lines that go on at places where nobody lets them."""
    for _ in range(chance.randint(1, 2)):
        at = chance.randint(0, len(text))
        text = f"{text[:at]}\\\n{text[at:]}"
    return text


def _accident(chance: random.Random, text: str) -> str:
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(text))
        kind = chance.random()
        if kind < 0.5:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif kind < 0.8:
            text = text[:at] + text[at + chance.randint(1, 3) :]
        else:
            text = text[:at] + chance.choice(("\\\n", "\\", "''", '""', "\n", "\t", "$", "`", "&", "\r")) + text[at:]
    return text
