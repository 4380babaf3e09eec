"""Flags by which a program writes, runs something else, or leaves the place its name promises (S-1).

A rule such as `Bash(git grep:*)` speaks of a program that reads; `git grep --open-files-in-pager=evil` does more, in
any of the spellings that the program takes for this flag.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from codelaw.permissions.programs import program
from codelaw.permissions.shell import Word


@dataclass(frozen=True, slots=True)
class _Outgrowing:
    """What to look for in the arguments of one program."""

    long: tuple[str, ...] = ()
    """Long options without their dashes; every abbreviation of them counts, as most programs take it."""
    other: re.Pattern[str] | None = None
    """Short options, alone or among others, and whatever else, matched against the whole argument."""
    any_word: bool = False
    """Also an argument that is no option may be one of these."""


def _outgrowing(long: str = "", other: str = "", *, any_word: bool = False) -> _Outgrowing:
    return _Outgrowing(tuple(long.split()), re.compile(other, re.DOTALL) if other else None, any_word)


_PROGRAMS: dict[str, _Outgrowing] = {
    "ack": _outgrowing("pager output"),
    "ag": _outgrowing("pager"),
    "bat": _outgrowing("pager"),
    "cargo": _outgrowing("config manifest-path", r"-[ZC].*"),
    "curl": _outgrowing(
        "output output-dir remote-name remote-name-all config upload-file cookie-jar dump-header trace trace-ascii"
        " stderr libcurl etag-save hsts alt-svc",
        r"-[a-zA-Z]*[oOKTcD].*|(.*=)?[@<].*|-[a-zA-Z]*[dFb]\s*@.*|.*%output\{.*",
        any_word=True,
    ),
    "date": _outgrowing("set", r"-[a-zA-Z]*s.*"),
    "eslint": _outgrowing(
        "config fix fix-dry-run format output-file parser plugin resolve-plugins-relative-to rulesdir", r"-[cfo].*"
    ),
    "fd": _outgrowing("exec exec-batch", r"-[a-zA-Z]*[xX].*"),
    "fdfind": _outgrowing("exec exec-batch", r"-[a-zA-Z]*[xX].*"),
    "file": _outgrowing("compile magic-file", r"-[a-zA-Z]*[Cm].*"),
    "find": _outgrowing(other=r"-(exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)"),
    "git": _outgrowing(
        "config config-env exec exec-path extcmd ext-diff textconv git-dir work-tree namespace output output-directory"
        " open-files-in-pager upload-pack receive-pack template",
        r"-c.*|-C|-O.*|-x.*",
    ),
    "go": _outgrowing(other=r"--?(exec|toolexec|vettool|overlay|modfile|C)(=.*)?|.*extld.*"),
    "less": _outgrowing(
        "log-file LOG-FILE lesskey-file lesskey-src lesskey-content tag-file", r"-[a-zA-Z]*[oOkT].*|\+.*", any_word=True
    ),
    "make": _outgrowing("file makefile directory include-dir eval", r"-[a-zA-Z0-9]*[fCIE].*|[^-].*=.*", any_word=True),
    "man": _outgrowing("pager html config-file", r"-[a-zA-Z]*[PHC].*"),
    "mypy": _outgrowing("python-executable config-file install-types", r"-[a-zA-Z]*[cmp].*"),
    "npm": _outgrowing("prefix script-shell node-options userconfig globalconfig", r"-C.*"),
    "pyright": _outgrowing("pythonpath venvpath project", r"-[pv].*"),
    "pytest": _outgrowing("rootdir override-ini confcutdir basetemp config-file", r"-[a-zA-Z]*[pco].*"),
    "rg": _outgrowing("pre hostname-bin"),
    "ruff": _outgrowing("config fix fix-only unsafe-fixes add-noqa output-file"),
    "sed": _outgrowing("in-place file expression line-length", r"-[a-zA-Z]*[iefl].*"),
    "sort": _outgrowing("output compress-program temporary-directory", r"-[a-zA-Z0-9,.]*[oT].*"),
    "tar": _outgrowing(
        "to-command use-compress-program checkpoint-action rsh-command rmt-command info-script new-volume-script"
        " index-file",
        r"-[a-zA-Z]*[IF].*",
    ),
    "tree": _outgrowing("output", r"-[a-zA-Z]*[oR].*"),
    "wget": _outgrowing(
        "use-askpass execute output-document output-file append-output directory-prefix config input-file post-file"
        " body-file save-cookies hsts-file warc-file",
        r"-[a-zA-Z]*[oOaPei].*",
    ),
    "yq": _outgrowing("inplace in-place split-exp", r"-[a-zA-Z]*[is].*"),
}

_GIT_WITHOUT_SHORT = re.compile(
    "add|blame|branch|cat-file|checkout|cherry-pick|commit|describe|diff|fetch|log|ls-files|ls-tree|merge|merge-base|mv"
    "|pull|push|reflog|remote|reset|restore|rev-list|rev-parse|revert|rm|shortlog|show|show-ref|stash|status|switch|tag"
)
"""Subcommands none of whose own short options runs or writes anything else; of others, a bundle may hold one."""
_GIT_SHORT = re.compile(r"-[a-zA-Z0-9]*[oOxu].*", re.DOTALL)

_ADDRESS = r"(?:\d+|\$|/[^/\\\n]*/)"


def _sed_command(group: int) -> str:
    text = rf"(?:(?!\{group})[^\\\n]|\\.)*\{group}"
    return (
        rf"\s*(?:{_ADDRESS}(?:,\+?{_ADDRESS})?)?\s*!?\s*"
        rf"(?:[pdq=lnNgGhHxPD]|s([/|#,:@]){text}{text}[gpI0-9]*)\s*"
    )


_SED_SCRIPT = re.compile(rf"{_sed_command(1)}(?:;{_sed_command(2)})?")
"""One or two commands that only print: others write files or run commands."""

_NO_OPTION = re.compile(r"[\w./~@:%+,^=][^$`]*|\"[\w./@:%+,^=][^\"\\]*\"|[<>]\([^$`]*|\{\}")
"""The raw text of a word that is not known and yet cannot become, or split off, an option."""


def escape_flag(command: tuple[Word, ...], beyond: int) -> str | None:
    """The first argument behind the first `beyond` words by which the program outgrows a prefix rule.

    An argument that the shell makes only when it runs, and that may be such a flag, counts.
    """
    name = program(command)
    outgrowing = _PROGRAMS.get(name)
    if outgrowing is None:
        return None
    for word in command[beyond:]:
        if word.value is None:
            outgrown = outgrowing.any_word or not _NO_OPTION.fullmatch(word.raw)
        else:
            outgrown = _is_flag(outgrowing, word.value) or (name == "git" and _is_git_bundle(command, word.value))
        if outgrown:
            return word.raw
    own = {"sed": _sed_script, "tar": _tar_bundle}.get(name)
    return own(command, beyond) if own else None


def _is_flag(outgrowing: _Outgrowing, argument: str) -> bool:
    if outgrowing.other is not None and outgrowing.other.fullmatch(argument):
        return True
    if not argument.startswith("--") or argument == "--":
        return False
    given = argument[2:].partition("=")[0]
    return any(option.startswith(given) for option in outgrowing.long)


def _is_git_bundle(command: tuple[Word, ...], argument: str) -> bool:
    if not _GIT_SHORT.fullmatch(argument):
        return False
    return not _GIT_WITHOUT_SHORT.fullmatch(command[1].value or "")


def _sed_script(command: tuple[Word, ...], beyond: int) -> str | None:
    """The script, when it may do more than print; `-e` and `-f` are flags of their own."""
    for index, word in enumerate(command[1:], 1):
        if word.value is None or not word.value.startswith("-") or word.value == "-":
            harmless = word.value is not None and _SED_SCRIPT.fullmatch(word.value)
            return None if harmless or index < beyond else word.raw
    return None


def _tar_bundle(command: tuple[Word, ...], beyond: int) -> str | None:
    """The old style: `tar cIf program …`."""
    first = command[1] if len(command) > 1 >= beyond else None
    if first is None or (first.value is not None and not re.fullmatch(r"[a-zA-Z]*[IF][a-zA-Z]*", first.value)):
        return None
    return first.raw
