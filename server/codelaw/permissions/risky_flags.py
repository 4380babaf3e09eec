"""Flags by which a program writes, runs something else, or leaves the place its name promises (S-1).

A rule such as `Bash(git grep:*)` speaks of a program that reads; `git grep --open-files-in-pager=evil` does more, in
any of the spellings that the program takes for this flag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codelaw.permissions.shell import Word, listed, program, unquoted
from codelaw.permissions.variables import makes_run

LEAST_LONG = 4
"""Letters behind one dash that may be a long option, as npm reads it; fewer are a bundle of short ones."""


@dataclass(frozen=True, slots=True)
class Risky:
    """What to look for in the arguments of one program."""

    long: str = ""
    """Long options without their dashes, separated by blanks."""
    other: str = r"(?!)"
    """Short options, alone or among others, and whatever else, matched against the whole argument."""
    any_word: bool = False
    """Also an argument that is not an option may be one of these."""
    exact: bool = False
    """Long options are not abbreviated; they may be spelt with one dash, in any case, with dashes between words."""

    def has(self, argument: str) -> bool:
        """Whether the argument is one of these."""
        if re.fullmatch(self.other, argument, re.DOTALL):
            return True
        known = self.long.split()
        if self.exact:
            given = re.split(r"[=:]", argument, maxsplit=1)[0]
            return given.startswith("-") and _plain(given).split(".")[0] in map(_plain, known)
        given = argument.lstrip("-").partition("=")[0]
        long = argument[:2] == "--" != argument or (argument[:1] == "-" and len(given) >= LEAST_LONG)
        return long and any(one.startswith(given) for one in known)


def _plain(option: str) -> str:
    return option.replace("-", "").casefold()


_JEST = (
    "cache-directory config coverage-directory custom-exporters dependency-extractor env filter global-setup"
    " global-teardown haste module-directories module-name-mapper module-paths output-file preset prettier-path"
    " projects reporters reporter resolver root-dir root roots runner setup-files setup-files-after-env"
    " snapshot-serializers test-environment environment test-environment-options test-results-processor test-runner"
    " test-sequencer transform watch-plugins"
)
_COMPILER = Risky(other=r"-wrapper.*|-B.*|--?specs.*|-fplugin.*|-Xclang|-fuse-ld.*|@.*", any_word=True)
_MAVEN = Risky(
    "file settings global-settings toolchains global-toolchains log-file define builder",
    r"-(?:f|s|gs|t|gt|l|b)(?:[^a-z].*)?|-f.*\.xml"
    r"|-D(?!skipTests\b|test=|maven\.test\.skip\b|skipITs\b|style\.color=).*|.*\bexec(?:-maven-plugin)?:.*|.*antrun:.*",
    any_word=True,
)
_GRADLE = Risky(
    "init-script project-dir build-file gradle-user-home settings-file include-build project-cache-dir system-prop"
    " configuration-cache-problems",
    r"-[IpbgcD].*",
)
_NPM = (
    "prefix script-shell node-options userconfig globalconfig call registry cache shell editor viewer browser git"
    " init-module onload-script location dir cwd config modules-folder use-yarnrc shell-emulator cafile global"
)

PROGRAMS: dict[str, Risky] = {
    "ack": Risky("pager output ackrc"),
    "ag": Risky("pager"),
    "bat": Risky("pager generate-config-file config-file"),
    "black": Risky("config", r"-[a-zA-Z]*c.*"),
    "bundle": Risky("gemfile path binstubs shebang standalone", r"-[bCP].*"),
    "c++": _COMPILER,
    "cargo": Risky(
        "config manifest-path target-dir artifact-dir out-dir lockfile-path root index git fix", r"-[ZC].*|[+@].*"
    ),
    "cc": _COMPILER,
    "clang": _COMPILER,
    "clang++": _COMPILER,
    "coverage": Risky("rcfile data-file"),
    "curl": Risky(
        "output output-dir remote-name remote-name-all config upload-file cookie-jar dump-header trace trace-ascii"
        " stderr libcurl etag-save hsts alt-svc variable next engine unix-socket abstract-unix-socket netrc-file"
        " quote ssl-sessions key cert",
        r"-[a-zA-Z]*[oOKTcDQE].*|-q.*|-:|--expand-.*|(.*=)?[@<].*|-[a-zA-Z]*[dFb]\s*@.*|.*%output\{.*",
        any_word=True,
    ),
    "date": Risky("set", r"-[a-zA-Z]*s.*"),
    "docker": Risky("host config context", r"-[Hc].*"),
    "dotnet": Risky(
        "property project packages output configfile logger test-adapter-path settings artifacts-path diag"
        " results-directory environment roll-forward additionalprobingpath depsfile runtimeconfig fx-version",
        r"[-/]{1,2}(?:p|property|l|logger|dl|distributedlogger|bl|binarylogger|flp|fl|o|s|e|r|t|target|rsp|noautorsp"
        r"|getproperty|ds|detailedsummary)(?:[:=].*)?|@.*",
        any_word=True,
    ),
    "eslint": Risky(
        "config fix fix-dry-run fix-type format output-file parser plugin resolve-plugins-relative-to rulesdir init"
        " cache-location cache-file flag",
        r"-[cfo].*",
    ),
    "fd": Risky("exec exec-batch", r"-[a-zA-Z]*[xX].*"),
    "fdfind": Risky("exec exec-batch", r"-[a-zA-Z]*[xX].*"),
    "file": Risky("compile magic-file", r"-[a-zA-Z]*[Cm].*"),
    "find": Risky(other=r"-(exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)"),
    "g++": _COMPILER,
    "gcc": _COMPILER,
    "git": Risky(
        "config config-env exec exec-path extcmd ext-diff textconv git-dir work-tree namespace output output-directory"
        " open-files-in-pager upload-pack receive-pack template sendmail-cmd smtp-server to-cmd tocmd cc-cmd cccmd"
        " header-cmd filters separate-git-dir browser httpd tool",
        r"-c.*|-C|-O.*|-x.*",
    ),
    "go": Risky(
        other=r"--?(?:exec|toolexec|vettool|overlay|modfile|C|o|outputdir|pkgdir|\w*profile|trace|compiler|gccgoflags|w|u"
        r"|fuzzcachedir|test\.\w+)(?:=.*)?|.*extld.*"
    ),
    "gradle": _GRADLE,
    "gradlew": _GRADLE,
    "isort": Risky("settings-path settings-file config-root filter-files", r"--sp"),
    "javac": Risky(other=r"@.*|-J.*|--?processor.*|-Xplugin.*|-proc:.*", any_word=True),
    "jest": Risky(f"c {_JEST}", r"-c.*", exact=True),
    "kubectl": Risky("kubeconfig cache-dir server token as context cluster user profile profile-output", r"-s.*"),
    "less": Risky(
        "log-file LOG-FILE lesskey-file lesskey-src lesskey-content tag-file", r"-[a-zA-Z]*[oOkT].*|\+.*", any_word=True
    ),
    "make": Risky("file makefile directory include-dir eval", r"-[a-zA-Z0-9]*[fCIE].*|[^-].*=.*", any_word=True),
    "man": Risky(
        "pager html config-file preprocessor local-file troff-device gxditview manpath", r"-[a-zA-Z]*[PHCpltTXMm].*"
    ),
    "mvn": _MAVEN,
    "mvnw": _MAVEN,
    "mypy": Risky(
        "python-executable config-file install-types custom-typeshed-dir custom-typing-module shadow-file cache-dir"
        " junit-xml any-exprs-report cobertura-xml-report html-report linecount-report linecoverage-report"
        " lineprecision-report txt-report xml-report xslt-html-report xslt-txt-report non-interactive package module"
        " command",
        r"-[a-zA-Z]*[cmp].*|@.*",
        any_word=True,
    ),
    "npm": Risky(_NPM, r"-[Ccg].*"),
    "pip": Risky(
        "config-settings config-setting index-url pypi-url extra-index-url find-links target prefix root src log"
        " log-file local-log python global-option install-option build-option trusted-host cert client-cert proxy"
        " editable requirement constraint",
        r"-[a-zA-Z]*[itfCerc].*",
    ),
    "pnpm": Risky(_NPM, r"-[CcwF].*"),
    "poetry": Risky("directory project", r"-[CP].*"),
    "prettier": Risky("config plugin plugin-search-dir write config-path ignore-path cache-location", r"-[a-zA-Z]*w.*"),
    "pyright": Risky(
        "pythonpath venvpath project createstub typeshedpath verifytypes writebaseline baselinefile",
        r"-[pvt].*",
        exact=True,
    ),
    "pytest": Risky(
        "rootdir override-ini confcutdir basetemp config-file junitxml junit-xml log-file report-log resultlog debug"
        " pastebin pdbcls cov-config import-mode inifile html css alluredir pyargs rsyncdir tx px rsh pythonwarnings"
        " store-durations durations-path json-report-file trace-config cache-clear benchmark-storage benchmark-json",
        r"@.*|-[a-zA-Z]*[pcoW].*|(?:--cov-report=)?(?:html|xml|json|lcov|annotate|markdown[\w-]*):.*",
        exact=True,
    ),
    "rake": Risky(
        "execute execute-continue execute-print rakefile require libdir rakelib rakelibdir system",
        r"-[a-zA-Z]*[eEpfrIRg].*|[A-Za-z_]\w*=.*",
        any_word=True,
    ),
    "rg": Risky("pre hostname-bin"),
    "rsync": Risky(
        "rsh rsync-path log-file write-batch only-write-batch read-batch partial-dir temp-dir", r"-[a-zA-Z]*e.*"
    ),
    "ruff": Risky(
        "config fix fix-only unsafe-fixes add-noqa output-file cache-dir extension",
        r"@.*|-[a-zA-Z]*o.*",
    ),
    "scp": Risky(other=r"-[a-zA-Z0-9]*[oFSD].*"),
    "sed": Risky("in-place file expression line-length", r"-[a-zA-Z]*[iefl].*"),
    "sftp": Risky(other=r"-[a-zA-Z0-9]*[oFSDbs].*"),
    "sort": Risky("output compress-program temporary-directory", r"-[a-zA-Z0-9,.]*[oT].*"),
    "ssh": Risky(other=r"-[a-zA-Z0-9]*[oFSEI].*"),
    "tar": Risky(
        "to-command use-compress-program checkpoint-action rsh-command rmt-command info-script new-volume-script"
        " index-file",
        r"-[a-zA-Z]*[IF].*",
    ),
    "terraform": Risky(other=r"--?(?:chdir|out|state|state-out|backup|plugin-dir|backend-config|from-module)(?:=.*)?"),
    "tree": Risky("output", r"-[a-zA-Z]*[oR].*"),
    "tsc": Risky(
        "p project b build outDir outFile out rootDir tsBuildInfoFile declarationDir generateTrace generateCpuProfile"
        " plugins init typeRoots baseUrl mapRoot sourceRoot incremental composite",
        r"@.*",
        any_word=True,
        exact=True,
    ),
    "uv": Risky(
        "directory project config-file python with with-editable with-requirements index index-url default-index"
        " extra-index-url find-links cache-dir target prefix env-file keyring-provider config-setting config-settings"
        " build-constraint allow-insecure-host script",
        r"-[a-zA-Z]*[pifCw].*",
    ),
    "vitest": Risky(f"c r {_JEST} dir setup-files pool browser ui api inspect inspect-brk", r"-[cr].*", exact=True),
    "wget": Risky(
        "use-askpass execute output-document output-file append-output directory-prefix config input-file post-file"
        " body-file save-cookies hsts-file warc-file warc-tempdir warc-dedup rejected-log load-cookies private-key",
        r"-[a-zA-Z]*[oOaPei].*",
    ),
    "yarn": Risky(_NPM, r"-[cC].*"),
    "yq": Risky("inplace in-place split-exp split-exp-file", r"-[a-zA-Z]*[is].*"),
    "zip": Risky("unzip-command", r"-[a-zA-Z]*TT.*"),
}
"""By the program's name. Other programs have no flag that changes what they are, or are nothing but such flags."""

_NONE = Risky()

_GIT_WITHOUT_SHORT = re.compile(
    "add|blame|branch|cat-file|checkout|cherry-pick|commit|describe|diff|fetch|log|ls-files|ls-tree|merge|merge-base|mv"
    "|pull|push|reflog|remote|reset|restore|rev-list|rev-parse|revert|rm|shortlog|show|show-ref|stash|status|switch|tag"
)
"""Subcommands none of whose own short options runs or writes anything else; of others, a bundle may hold one."""
_GIT_SHORT = re.compile(r"-[a-zA-Z0-9]*[oOxu].*", re.DOTALL)
_OLD_TAR = re.compile(r"[a-zA-Z]*[IF][a-zA-Z]*")
"""A bundle without a dash: `tar cIf program …`."""

_ADDRESS = r"(?:\d+|\$|/[^/\\\n]*/)"


def _sed_command(group: int) -> str:
    text = rf"(?:(?!\{group})[^\\\n]|\\.)*\{group}"
    return (
        rf"\s*(?:{_ADDRESS}(?:,\+?{_ADDRESS})?)?\s*!?\s*"
        rf"(?:[pdq=lnNgGhHxPD]|s([/|#,:@]){text}{text}[gpI0-9]*)\s*"
    )


PRINTING_SED = re.compile(rf"{_sed_command(1)}(?:;{_sed_command(2)})?")
"""One or two commands that only print: others write files or run commands."""

_NO_OPTION = re.compile(r"[\w./~@:%+,^=][^$`]*|\"[\w./@:%+,^=][^\"\\]*\"|[<>]\([^$`]*|\{\}")
"""The raw text of a word that is not known and yet cannot become, or split off, an option."""

_EVALUATED = listed("read declare typeset local export readonly let unset mapfile readarray")
"""Builtins that take names, and run what stands in the subscript of one."""
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
SUBSCRIPT = re.compile(r"\[.*[$`]", re.DOTALL)
"""What bash evaluates where it takes it for the subscript of a name."""


def has_risky_flag(command: tuple[Word, ...], beyond: int) -> bool:
    """Whether by an argument behind the first `beyond` words the program outgrows a prefix rule.

    An argument that the shell makes only when it runs, and that may be such a flag, counts.
    """
    return any(True for _ in risky_flags(command, beyond))


def risky_flags(command: tuple[Word, ...], beyond: int) -> Iterator[int]:
    """The places of all such arguments."""
    name = program(command)
    known = PROGRAMS.get(name, _NONE)
    for at in range(beyond, len(command)) if known is not _NONE else ():
        if _is_risky(command, at, known):
            yield at
    operands = (at for at, word in enumerate(command) if at and (word.value == "-" or (word.value or "")[:1] != "-"))
    script = next(operands, 0)
    if name == "sed" and script >= max(beyond, 1) and not PRINTING_SED.fullmatch(command[script].value or "e"):
        yield script
    if name == "tar" and len(command) > 1 >= beyond and _OLD_TAR.fullmatch(command[1].value or "I"):
        yield 1
    yield from (at for at in (*evaluated(command), *makes_run(command)) if at >= beyond)


def _is_risky(command: tuple[Word, ...], at: int, known: Risky) -> bool:
    value = command[at].value
    if value is None:
        raw = command[at].raw
        return known.any_word or known.has(unquoted(raw)) or not _NO_OPTION.fullmatch(raw)
    bundle = program(command) == "git" and _GIT_SHORT.fullmatch(value)
    return known.has(value) or bool(bundle and not _GIT_WITHOUT_SHORT.fullmatch(command[1].value or ""))


def evaluated(command: tuple[Word, ...]) -> Iterator[int]:
    """The arguments of a builtin in which the shell itself looks for commands: `test -v 'a[$(x)]'`."""
    name = program(command)
    values = [word.value for word in command]
    if name in _EVALUATED:
        for at, value in enumerate(values[1:], 1):
            if not _ASSIGNED.match(command[at].raw) if value is None else SUBSCRIPT.search(value):
                yield at
    options = values[1:2] if name == "printf" else values[1:] if name in ("test", "[") else []
    if any(value is None or value.startswith(("-v", "-R")) for value in options):
        values[0] = "-v" if name == "printf" else ""
        for at, value in enumerate(values[1:], 1):
            if values[at - 1] in ("-v", "-R", None) if value is None else SUBSCRIPT.search(value):
                yield at
