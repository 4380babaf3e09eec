"""What may be allowed for good by its first words, and with which flags such an answer goes on to count (S-2).

A list of what is harmless, not of what is not: a program that runs others, changes things outside of the workspace or
takes its meaning from its arguments is none of these, and is offered as the very command or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from codelaw.permissions.shell import Word, listed


@dataclass(frozen=True, slots=True)
class _Offer:
    """The flags that keep a command what it was allowed for."""

    flags: str | None = None
    """Separated by blanks; None: all that the module `risky_flags` does not know as harmful."""
    short: str = ""
    """Letters that may be bundled; 0 stands for any number."""
    valued: str = ""
    """Letters whose value may be attached."""


_ANY = _Offer()
_HELP = "--help --version"
_GIT_OUTPUT = (
    "--abbrev-commit --all --author --branches --cached --color --date --decorate --diff-filter --exit-code"
    " --first-parent --follow --format --function-context --graph --grep --histogram --ignore-all-space"
    " --ignore-blank-lines --ignore-space-change --merge-base --merges --minimal --name-only --name-status --no-color"
    " --no-ext-diff --no-index --no-merges --no-pager --no-patch --no-prefix --no-renames --no-textconv --not --numstat"
    " --oneline --patch --patience --pickaxe-regex --porcelain --pretty --quiet --raw --relative --remotes --reverse"
    " --shortstat --show-toplevel --since --skip --sort --staged --stat --summary --tags --text --unified --until"
    " --verbose --word-diff --max-count --after --before --find-renames --find-copies --left-right --cherry-pick"
    " --cherry-mark --topo-order --date-order --full-index --abbrev --is-inside-work-tree --git-dir --show-current"
    " --short --branch --ignored --untracked-files --null"
)
_PYTEST = (
    "--quiet --verbose --exitfirst --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise"
    " --maxfail --tb --durations --durations-min --co --collect-only --showlocals --no-header --no-summary --color"
    " --capture --deselect --ignore --ignore-glob --strict-markers --strict-config --disable-warnings --markers"
    " --fixtures --setup-show --dist --timeout --cov --cov-report --no-cov --cov-fail-under --cov-branch --runxfail"
)
_MYPY = (
    "--strict --pretty --show-error-codes --hide-error-codes --show-error-context --show-column-numbers"
    " --no-color-output --ignore-missing-imports --follow-imports --no-incremental --python-version --platform"
    " --exclude --no-error-summary --check-untyped-defs --disallow-untyped-defs --warn-unused-ignores"
    " --warn-unreachable --no-implicit-optional --explicit-package-bases --namespace-packages --disable-error-code"
    " --enable-error-code --no-site-packages --verbose"
)
_JEST = (
    "--verbose --silent --bail --ci --coverage --colors --no-color --color --watch --run-in-band --runInBand"
    " --onlyChanged --onlyFailures --findRelatedTests --testNamePattern --testPathPattern --testPathPatterns"
    " --passWithNoTests --listTests --detectOpenHandles --forceExit --maxWorkers --updateSnapshot --expand --json"
    " --run --changed --retry"
)
_CARGO = (
    "--all --workspace --package --all-targets --all-features --no-default-features --features --release --lib"
    " --bin --bins --example --examples --test --tests --bench --benches --doc --no-run --no-fail-fast --quiet"
    " --verbose --locked --offline --frozen --jobs --keep-going --message-format --color --exact --nocapture"
    " --ignored --include-ignored --skip --depth --no-dedupe --invert --duplicates --no-deps --check --list"
    " --test-threads --deny --warn --allow"
)
_GO = (
    "-v -race -short -count -run -bench -benchmem -timeout -failfast -cover -covermode -coverpkg -json -x -n -p"
    " -tags -list -parallel -cpu -shuffle -skip -vet -trimpath -m -f -deps -e -test -src -all -s"
)
_GH = (
    "--json --jq --repo --state --limit --comments --label --author --assignee --search --base --head --name-only --log"
)
_PIP = "--format --outdated --uptodate --user --local --not-required --verbose --files --all --quiet --exclude-editable"
_NPM_READS = "--depth --all --json --long --parseable --omit --include --production"
_RUFF = (
    "--select --ignore --extend-select --extend-ignore --show-files --show-settings --statistics --output-format"
    " --diff --check --preview --no-preview --exclude --line-length --target-version --no-cache --quiet --verbose"
    " --silent --isolated --exit-zero --no-fix --respect-gitignore --force-exclude --watch --explain"
)

_READERS = "ls cat head tail wc grep egrep fgrep rg stat file du df which uname pwd date"
_GIT_READERS = (
    "status diff log show blame ls-files ls-tree rev-parse rev-list describe shortlog grep cat-file merge-base"
    " show-ref name-rev whatchanged check-ignore diff-tree diff-index"
)

_OFFERS: dict[tuple[str, ...], _Offer] = {
    **dict.fromkeys([(name,) for name in _READERS.split()], _ANY),
    ("pytest",): _Offer(f"{_PYTEST} {_HELP}", "qvxslhrkmn0", "kmnr"),
    ("mypy",): _Offer(f"{_MYPY} {_HELP}", "vh"),
    ("pyright",): _Offer(
        f"--outputjson --stats --verbose --warnings --level --pythonversion --pythonplatform --watch --skipunannotated"
        f" {_HELP}",
        "wh",
    ),
    ("eslint",): _Offer(
        "--ext --max-warnings --quiet --color --no-color --no-error-on-unmatched-pattern --no-warn-ignored --no-ignore"
        f" --no-inline-config --report-unused-disable-directives --ignore-pattern {_HELP}",
        "hv",
    ),
    ("tsc",): _Offer(
        f"--noEmit --pretty --skipLibCheck --strict --listFiles --noErrorTruncation --watch {_HELP}", "whv"
    ),
    ("jest",): _Offer(f"{_JEST} {_HELP}", "tibouwhe0"),
    ("vitest",): _Offer(f"{_JEST} {_HELP}", "tuwh0"),
    **dict.fromkeys(
        [("git", verb) for verb in _GIT_READERS.split()],
        _Offer(f"{_GIT_OUTPUT} {_HELP}", "psSnLGwbaqzMCRtldEeFPiIhHorv0U", "SGLnUMC"),
    ),
    ("git", "stash", "list"): _Offer(_GIT_OUTPUT, "pn0"),
    ("git", "stash", "show"): _Offer(_GIT_OUTPUT, "pn0"),
    ("git", "add"): _Offer("--all --update --patch --verbose --dry-run --intent-to-add --ignore-removal", "AuvnN"),
    ("git", "commit"): _Offer("--message --all --signoff --verbose --quiet --dry-run --allow-empty --status", "amsvq"),
    **dict.fromkeys(
        [("cargo", verb) for verb in ("check", "build", "test", "clippy", "tree", "doc", "bench")],
        _Offer(f"{_CARGO} {_HELP}", "pqvjDWAFkie0h"),
    ),
    ("cargo", "fmt"): _Offer(f"{_CARGO} {_HELP}", "pqvh"),
    **dict.fromkeys([("go", verb) for verb in ("build", "test", "vet", "list", "doc", "version")], _Offer(_GO)),
    **dict.fromkeys(
        [("gh", kind, verb) for kind in ("pr", "issue", "run", "release") for verb in ("view", "list")],
        _Offer(f"{_GH} {_HELP}", "RqLsclAaSBHj0"),
    ),
    **dict.fromkeys([("gh", "pr", verb) for verb in ("diff", "status", "checks")], _Offer(f"{_GH} {_HELP}", "RqL0")),
    **dict.fromkeys(
        [("pip", verb) for verb in ("list", "show", "freeze", "check")], _Offer(f"{_PIP} {_HELP}", "ouflqvh")
    ),
    **dict.fromkeys(
        [("npm", verb) for verb in ("ls", "list", "outdated", "why", "explain")], _Offer(f"{_NPM_READS} {_HELP}", "alp")
    ),
    ("ruff", "check"): _Offer(f"{_RUFF} {_HELP}", "nqvsewh"),
    ("ruff", "format"): _Offer(f"{_RUFF} {_HELP}", "nqvsh"),
}
LONGEST = 3
"""Words of an offer."""


def offered(words: tuple[str | None, ...]) -> tuple[str, ...] | None:
    """The first words of a command by which it may be allowed for good; None where it may not be.

    Only words that are known count: `git $X` is offered as nothing.
    """
    for length in range(LONGEST, 0, -1):
        chosen = tuple(word for word in words[:length] if word is not None)
        if len(chosen) == length and chosen in _OFFERS:
            return chosen
    return None


def keeps_to_offer(prefix: tuple[str, ...], command: tuple[Word, ...]) -> bool:
    """Whether a command has no flag but those for which an answer by these first words counts.

    For a prefix that is not offered, as an earlier version may have stored one, there is no list.
    """
    offer = _OFFERS.get(prefix)
    if offer is None or offer.flags is None:
        return True
    flags = listed(offer.flags)
    return all(_is_safe(word, offer, flags) for word in command[len(prefix) :])


def _is_safe(word: Word, offer: _Offer, flags: frozenset[str]) -> bool:
    if word.value is None:
        return not word.raw.startswith(("-", "{", "$", "`", "<", ">", "*", "?", "["))
    given = word.value.partition("=")[0]
    known = given in flags or (given.startswith("--no-") and f"--{given[5:]}" in flags)
    if known or not word.value.startswith("-") or word.value in ("-", "--"):
        return True
    if given.startswith("--") or not offer.short:
        return False
    letters = word.value[1:]
    if letters.isdigit():
        return "0" in offer.short
    if letters[0] in offer.valued:
        return True
    bundle = letters.partition("=")[0].rstrip("0123456789")
    return len(bundle) <= 4 and set(bundle) <= set(offer.short)
