"""Commands that leave something for git to run, outside of the sandbox (S-4, S-8)."""

from __future__ import annotations

from tests.attacks.row import commands

CONFIG = "[core]\n\tfsmonitor = {out}/program\n\thooksPath = {out}\n\tsshCommand = {out}/program\n"
GITTED = "mkdir -p {to}/objects {to}/refs/heads {to}/hooks; echo 'ref: refs/heads/main' > {to}/HEAD; printf '%s' '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {out}/program\n' > {to}/config; "

GIT = commands(
    "obeyed",
    {
        "a hook": "echo '{out}/program' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; cp {out}/program .git/hooks/pre-commit",
        "a folder of hooks put there": "mv .git/hooks h; mkdir -p .git/hooks; cp {out}/program .git/hooks/pre-commit",
        "a hook behind a link": "ln -s .git g; cp {out}/program g/hooks/pre-commit",
        "a hook that is there, changed": "for f in .git/hooks/*; do echo '{out}/program' > $f; chmod +x $f; done",
        "fsmonitor": "git config core.fsmonitor {out}/program",
        "hooksPath": "git config core.hooksPath {out}; git config --worktree core.hooksPath {out}",
        "sshCommand": "git config core.sshCommand {out}/program; git config core.pager {out}/program",
        "an alias": "git config alias.status '!{out}/program'",
        "an included file": "echo '[core] fsmonitor = {out}/program' > c; git config include.path ../c",
        "a filter": "git config filter.x.clean {out}/program; echo '* filter=x' > .gitattributes; git config diff.external {out}/program",
        "settings written by hand": "printf '" + CONFIG + "' >> .git/config; sed -i 's/bare/fsmonitor = x\\nbare/' .git/config",
        "settings put in their place": "printf '" + CONFIG + "' > c; mv c .git/config; rm -f .git/config; cp c .git/config",
        "settings of a worktree": "git config extensions.worktreeConfig true; printf '" + CONFIG + "' > .git/config.worktree",
        "another git folder": "mv .git old; cp -r old .git; printf '" + CONFIG + "' >> .git/config; cp {out}/program .git/hooks/pre-commit",
        "a new repository": "rm -rf .git; git init -q; printf '" + CONFIG + "' >> .git/config; cp {out}/program .git/hooks/pre-commit",
        "a file for the git folder": GITTED.replace("{to}", "evil") + "rm -rf .git; echo 'gitdir: evil' > .git",
        "a link for the git folder": GITTED.replace("{to}", "evil") + "mv .git old; ln -s evil .git",
        "a common folder": GITTED.replace("{to}", "evil") + "cp -r .git/objects .git/refs evil; echo ../evil > .git/commondir",
        "a common folder, by renaming": GITTED.replace("{to}", "evil") + "echo ../evil > c; mv c .git/commondir; rm -f .git/commondir; ln -s ../c .git/commondir",
        "the user's git settings": "git config --global core.fsmonitor {out}/program; echo x >> {home}/.gitconfig",
        "the machine's git settings": "git config --system core.fsmonitor {out}/program && echo x > {out}/pwned",
    },
    git=True,
    fails=("the machine's git settings",),
)  # fmt: skip
RULES = commands(
    "obeyed",
    {
        "the workspace's rules": "echo 'permissions.default = \"allow\"' > .codelaw/config.toml",
        "the workspace's rules, renamed": "mv .codelaw c; mkdir .codelaw; echo 'permissions.default = \"allow\"' > .codelaw/config.toml",
        "the workspace's rules, removed": "rm -rf .codelaw",
        "the workspace's rules, by a link": "ln -s .codelaw c; echo x > c/config.toml; ln .codelaw/config.toml h; echo x > h",
    },
)  # fmt: skip
