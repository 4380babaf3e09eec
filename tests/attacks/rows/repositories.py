"""Repositories of every shape, and what a command makes of them for git to obey (S-4, S-8)."""

from __future__ import annotations

from tests.attacks.row import Attack, commands

SETTINGS = "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = {out}/program\\n'"
MADE = (
    "mkdir -p {to}/objects {to}/refs/heads {to}/hooks; echo 'ref: refs/heads/main' > {to}/HEAD; "
    + SETTINGS
    + " > {to}/config; cp {out}/program {to}/hooks/pre-commit; "
)
"""A git folder at `{to}` that runs a program at every `git status`."""


def made(place: str) -> str:
    return MADE.replace("{to}", place)


def bare(place: str) -> str:
    """A folder that is a repository by what lies in it, with a working tree."""
    return (
        made(place)
        + "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = {ws}\\n\\tfsmonitor = {out}/program\\n' > "
        + place
        + "/config; "
    )


def of(start: str, lines: dict[str, str], **more: object) -> tuple[Attack, ...]:
    return commands("obeyed", lines, start=start, git=True, **more)  # type: ignore[arg-type]


REPOSITORIES: tuple[Attack, ...] = (
    *of(
        "no repository",
        {
            "a repository where there was none": made(".git"),
            "git init": "git init -q; git config core.fsmonitor {out}/program",
            "a bare repository at the top": bare("."),
            "a bare repository at the top, moved there": bare("b") + "mv b/* .",
            "a file for .git where there was none": made("evil") + "echo 'gitdir: evil' > .git",
            "a link for .git where there was none": made("evil") + "ln -s evil .git",
            "a link for .git that comes first": "ln -s evil .git; " + made("evil"),
            "a clone over the workspace": "mkdir x; cd x; git init -q; git config core.fsmonitor {out}/program; cd ..; mv x/.git .git; cp -r x/.git .git",
            "rules where there were none": "mkdir .codelaw; printf 'permissions.default = \"allow\"\\n' > .codelaw/config.toml",
            "rules where there were none, by a link": "mkdir r; printf 'permissions.default = \"allow\"\\n' > r/config.toml; ln -s r .codelaw",
            "a race for a name that is masked": "for n in $(seq 60); do rmdir .git 2>/dev/null; mkdir .git 2>/dev/null && " + made(".git").rstrip("; ") + "; done",
        },
    ),
    *of(
        "a folder of a repository",
        {
            "a hook of the repository above": "cp {out}/program ../.git/hooks/pre-commit",
            "settings of the repository above": "git config core.fsmonitor {out}/program",
            "a repository that hides the one above": made(".git"),
            "a bare repository that hides the one above": bare("."),
            "a file for .git that hides the one above": made("evil") + "echo 'gitdir: evil' > .git",
            "attributes of the repository above": "mkdir -p ../.git/info; echo '* filter=x' > ../.git/info/attributes; git config filter.x.clean {out}/program; git config filter.x.smudge {out}/program",
        },
    ),
    *of(
        "a worktree",
        {
            "a hook by the worktree": "cp {out}/program $(git rev-parse --git-common-dir)/hooks/pre-commit",
            "settings by the worktree": "git config core.fsmonitor {out}/program",
            "settings of the worktree": "git config extensions.worktreeConfig true; printf '[core]\\n\\tfsmonitor = {out}/program\\n' > $(git rev-parse --git-dir)/config.worktree",
            "another common folder for the worktree": made("evil") + "echo {ws}/evil > $(git rev-parse --git-dir)/commondir",
            "another common folder, renamed into place": made("evil") + "d=$(git rev-parse --git-dir); echo {ws}/evil > c; mv c $d/commondir; rm -f $d/commondir; ln -s {ws}/c $d/commondir",
            "the worktree's file, replaced": made("evil") + "echo 'gitdir: {ws}/evil' > g; mv g .git; rm -f .git; cp g .git",
            "the worktree's folder, replaced": "d=$(git rev-parse --git-dir); mv $d $d-old; " + made("evil") + "cp -r evil $d",
        },
    ),
    *of(
        "a submodule",
        {
            "a submodule's hook": "cp {out}/program .git/modules/lib/sub/hooks/pre-commit; cp {out}/program .git/modules/lib/sub/hooks/post-checkout",
            "a submodule's settings": "git -C lib/sub config core.fsmonitor {out}/program",
            "a submodule's common folder": made("evil") + "echo {ws}/evil > .git/modules/lib/sub/commondir",
            "a submodule's file": made("evil") + "echo 'gitdir: {ws}/evil' > lib/sub/.git",
            "a submodule's file, renamed": made("evil") + "echo 'gitdir: {ws}/evil' > g; mv g lib/sub/.git; rm -f lib/sub/.git; cp g lib/sub/.git",
            "a submodule's folder, moved away": made("evil") + "mv lib/sub lib/old; mkdir lib/sub; echo 'gitdir: {ws}/evil' > lib/sub/.git",
            "a folder above a submodule, moved away": made("evil") + "mv lib old; mkdir -p lib/sub; echo 'gitdir: {ws}/evil' > lib/sub/.git",
            "a repository in a submodule's place": "rm -rf lib/sub; mkdir -p lib/sub; " + made("lib/sub/.git"),
            "the modules, moved away": "mv .git/modules .git/old; mkdir -p .git/modules/lib/sub; " + made(".git/modules/lib/sub"),
            "another submodule": made("evil") + "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),more; mkdir more; echo 'gitdir: {ws}/evil' > more/.git",
        },
    ),
    *of(
        "a repository",
        {
            "a repository inside that the index knows": "mkdir more; " + made("more/.git") + "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),more",
            "a repository inside, added": "git init -q more; cd more; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; cd ..; git add more; git -C more config core.fsmonitor {out}/program",
            "attributes in the git folder": "mkdir -p .git/info; echo '* filter=x diff=x' > .git/info/attributes; printf '[filter \"x\"]\\n\\tclean = {out}/program\\n' >> .git/config",
            "alternates": "mkdir -p .git/objects/info; echo {home} > .git/objects/info/alternates; echo {out} >> .git/objects/info/alternates; git log; cat .git/objects/info/alternates | xargs -I@ cat @/.netrc",
            "the settings, swapped while they are held": "for n in $(seq 60); do mv .git/config c 2>/dev/null; " + SETTINGS + " > .git/config 2>/dev/null; done; true",
            "the git folder, swapped back and forth": made("evil") + "for n in $(seq 60); do mv .git old 2>/dev/null && mv evil .git 2>/dev/null; done; true",
            "two names of one hook": "ln .git/hooks/pre-commit.sample h; echo {out}/program > h; ln .git/config c; " + SETTINGS + " > c",
            "a hook by the root of a process": "cp {out}/program /proc/self/root{ws}/.git/hooks/pre-commit; cp {out}/program /proc/self/cwd/.git/hooks/pre-commit",
            "a hook by a descriptor": "exec 9< .git; cp {out}/program /proc/self/fd/9/hooks/pre-commit",
            "settings by a lock": SETTINGS + " > .git/config.lock; mv -f .git/config.lock .git/config",
            "a rebase that runs": "git -c rebase.autosquash=true rebase -x {out}/program HEAD 2>/dev/null; mkdir -p .git/rebase-merge; echo 'exec {out}/program' > .git/rebase-merge/git-rebase-todo",
            "a template for hooks": "mkdir -p t/hooks; cp {out}/program t/hooks/pre-commit; git config --global init.templateDir {ws}/t; git init -q --template t .; git init -q --template t",
            "git's own folder for programs": "git config --local core.gitProxy {out}/program; git config --local uploadpack.packObjectsHook {out}/program; git config diff.external {out}/program; git config core.editor {out}/program; git config gpg.program {out}/program; git config commit.gpgSign true",
        },
        fails=("a rebase that runs",),
    ),
    *of(
        "hooks in the workspace",
        {
            "a hook of the workspace": "cp {out}/program tools/hooks/pre-commit",
            "a new hook of the workspace": "cp {out}/program tools/hooks/post-index-change; cp {out}/program tools/hooks/post-commit",
            "the workspace's hooks, moved away": "mv tools/hooks tools/old; mkdir -p tools/hooks; cp {out}/program tools/hooks/pre-commit",
            "the folder above the workspace's hooks, moved away": "mv tools old; mkdir -p tools/hooks; cp {out}/program tools/hooks/pre-commit",
            "the workspace's hooks by a second name": "ln tools/hooks/pre-commit h; cat {out}/program > h",
        },
    ),
    *of(
        "hooks that are not there",
        {
            "hooks that the settings wait for": "mkdir -p tools/hooks; cp {out}/program tools/hooks/pre-commit",
            "a link that the settings wait for": "mkdir -p h; cp {out}/program h/pre-commit; mkdir -p tools; ln -s ../h tools/hooks",
            "a link above what the settings wait for": "mkdir -p t/hooks; cp {out}/program t/hooks/pre-commit; ln -s t tools",
        },
    ),
    *of(
        "included settings",
        {
            "settings that are included": SETTINGS + " > tools/gitconfig",
            "settings that are included, moved away": "mv tools old; mkdir tools; " + SETTINGS + " > tools/gitconfig",
        },
    ),
    *of(
        "included settings that are not there",
        {
            "included settings that were awaited": "mkdir -p tools; " + SETTINGS + " > tools/gitconfig",
            "included settings behind a link": "mkdir -p t; ln -s t tools; " + SETTINGS + " > t/gitconfig",
        },
    ),
    *of("settings included for a branch", {"settings for a branch": SETTINGS + " > tools/gitconfig"}),
    *of(
        "a monitor of the workspace",
        {
            "the monitor of the workspace": "cp {out}/program tools/watch",
            "the monitor, moved away": "mv tools old; mkdir tools; cp {out}/program tools/watch",
        },
    ),
    *of(
        "a filter of the workspace",
        {"the filter of the workspace": "cp {out}/program tools/clean; echo x > a.x; touch a.txt; echo '*.txt filter=x' >> .gitattributes; echo b > a.txt"},
    ),
    *of(
        "a link for .git",
        {
            "a hook behind a link for .git": "cp {out}/program .git/hooks/pre-commit; cp {out}/program store/hooks/pre-commit",
            "settings behind a link for .git": "git config core.fsmonitor {out}/program; " + SETTINGS + " >> store/config",
            "a link for .git, turned elsewhere": made("evil") + "ln -sfn evil .git; rm -f .git; ln -s evil .git",
            "what a link for .git leads to, moved away": "mv store old; " + made("store"),
        },
    ),
    *of(
        "a link for .git that leads out",
        {
            "a hook outside by a link for .git": "cp {out}/program .git/hooks/pre-commit; cp {out}/program {base}/store/hooks/pre-commit",
            "settings outside by a link for .git": "git config core.fsmonitor {out}/program; " + SETTINGS + " >> {base}/store/config",
            "a head outside by a link for .git": "echo x > .git/HEAD; echo x > {base}/store/HEAD",
        },
    ),
    *of(
        "a file for .git that leads out",
        {
            "a hook outside by a file for .git": "cp {out}/program {base}/store/hooks/pre-commit",
            "settings outside by a file for .git": "git config core.fsmonitor {out}/program; " + SETTINGS + " >> {base}/store/config",
            "a head outside by a file for .git": "echo x > {base}/store/HEAD",
        },
    ),
    *of(
        "a file for .git that leads home",
        {"a home made a git folder": "mkdir -p {home}/objects; echo 'ref: refs/heads/main' > {home}/HEAD; echo {ws}/.git > {home}/gitdir; echo x > {home}/.bashrc; cat {home}/.netrc"},
    ),
    *of(
        "a submodule that cannot be read",
        {"a hook beside a submodule that cannot be read": "cp {out}/program .git/hooks/pre-commit; git config core.fsmonitor {out}/program"},
    ),
    *of(
        "a link for hooks",
        {
            "hooks behind a link": "cp {out}/program hooks/pre-commit; cp {out}/program .git/hooks/pre-commit",
            "hooks behind a link, turned elsewhere": "mkdir h; cp {out}/program h/pre-commit; rm .git/hooks; ln -s ../h .git/hooks; mv hooks old; mv h hooks",
        },
    ),
    *of(
        "a link for hooks that leads out",
        {"hooks outside behind a link": "cp {out}/program .git/hooks/pre-commit; echo x > .git/hooks/victim"},
    ),
    *of(
        "a link for the rules",
        {
            "rules behind a link": "echo 'permissions.default = \"allow\"' > .codelaw/config.toml; echo 'permissions.default = \"allow\"' > rules/config.toml",
            "a link for the rules, turned elsewhere": "mkdir r; echo 'permissions.default = \"allow\"' > r/config.toml; rm .codelaw; ln -s r .codelaw; mv rules old; mv r rules",
        },
    ),
    *of(
        "a link for the rules that leads nowhere",
        {"rules where a link leads": "mkdir rules; echo 'permissions.default = \"allow\"' > rules/config.toml"},
    ),
    *of(
        "a link for .git that leads nowhere",
        {"a repository where a link leads": made("store")},
    ),
)  # fmt: skip
