"""Commands that want more rights, other mounts or the kernel itself (S-4)."""

from __future__ import annotations

from tests.attacks.row import FENCES, Attack, commands

SYSCALL = "import ctypes, os, sys; libc = ctypes.CDLL(None, use_errno=True); "

RIGHTS = commands(
    "out",
    {
        "sudo and its kin": "sudo -n {out}/program; pkexec {out}/program </dev/null; su -c {out}/program </dev/null; doas -n {out}/program",
        "a program that is another user": "cp /bin/sh s; chmod u+s s; ./s -p -c 'echo x > {out}/victim'; grep -q 'NoNewPrivs:.1' /proc/self/status || echo x > {out}/pwned",
        "a mount over it": "mount -t tmpfs none {out}; mount --bind {ws} {out}; mount -o remount,rw /; mount -o remount,rw,bind /; echo x > {out}/victim",
        "an unmount of what hides": "umount -l {home}; umount {own}; umount -l {ws}/.git/config; cat {home}/.netrc {own}/config.toml",
        "namespaces of its own": "unshare -Urm sh -c 'mount -o remount,rw,bind /; umount -l {home}; umount -l {own}; mount --bind {ws} {out}; cat {home}/.netrc {own}/config.toml; echo x > {out}/victim'",
        "the namespaces of the first process": "nsenter -t 1 -a sh -c 'echo x > {out}/victim; cat {home}/.netrc'",
        "the namespaces of another process": "nsenter -t {pid} -m -p sh -c 'echo x > {out}/victim; cat {home}/.netrc'",
        "chroot": "chroot /proc/1/root sh -c 'echo x > {out}/victim'; chroot /proc/{pid}/root sh -c 'echo x > {out}/victim'",
        "the old way out of chroot": "{python} -c 'import os; os.mkdir(\"j\"); f = os.open(\".\", 0); os.chroot(\"j\"); os.fchdir(f); [os.chdir(\"..\") for _ in range(40)]; os.chroot(\".\"); open(\"{out}/victim\", \"w\").write(\"x\"); print(open(\"{home}/.netrc\").read())'",
        "another root": "mkdir -p r/o; {python} -c '" + SYSCALL + "libc.syscall(155, b\"r\", b\"r/o\"); print(open(\"{home}/.netrc\").read())'",
        "a device made here": "mknod d b $(stat -c '%Hd %Ld' {out} 2>/dev/null || echo 8 0) && dd if=d bs=1M count=1 | strings | head -1 && echo x > {out}/victim",
        "the machine's memory": "head -c 64 /dev/mem && echo x > {out}/victim; head -c 64 /proc/kcore && cat {home}/.netrc; head -c 1 /dev/sda /dev/vda && echo x > {out}/victim",
        "a file handle": "{python} -c '" + SYSCALL + "h = ctypes.create_string_buffer(128); h[0:4] = (8).to_bytes(4, \"little\"); h[4:8] = (1).to_bytes(4, \"little\"); h[8:12] = (2).to_bytes(4, \"little\"); f = libc.syscall(304, os.open(\"/\", 0), h, os.O_RDONLY); print(f); os.chdir(f) if f >= 0 else sys.exit(1); print(open(\".{home}/.netrc\").read())'",
        "a module of the kernel": "touch m.ko; insmod ./m.ko && echo x > {out}/victim; modprobe dummy && echo x > {out}/victim",
        "a control group": "mkdir -p c && mount -t cgroup2 none c && echo x > {out}/victim; mkdir /sys/fs/cgroup/codelaw-escape && echo x > {out}/victim",
    },
    fails=(
        *("sudo and its kin", "the namespaces of the first process", "the namespaces of another process", "chroot"),
        *("the old way out of chroot", "a device made here", "the machine's memory", "a file handle"),
        *("a module of the kernel", "a control group"),
    ),
    needs={"sudo and its kin": ("sudo", "pkexec", "su", "doas"), "a module of the kernel": ("insmod", "modprobe")},
)  # fmt: skip

LEFT: tuple[Attack, ...] = commands(
    "out",
    {
        "a shell by which others become the user": "cp /bin/sh s; chmod u+s s; install -m 4755 /bin/sh t; {python} -c 'import os; os.mknod(\"m\", 0o104755)'; find . -perm -4000 | grep -q . && echo REACHED",
        "a shell by which others become the user, made so": "{python} -c 'import os; os.umask(0); os.open(\"o\", os.O_CREAT | os.O_WRONLY, 0o4755)'; {python} -c 'import ctypes, os; libc = ctypes.CDLL(None); print(libc.creat(b\"c\", 0o4755), libc.syscall(437, -100, b\"p\", ctypes.byref((ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o4755, 0)), 24))'; find . -perm -4000 | grep -q . && echo REACHED",
    },
    means=FENCES[:2],
    marks="REACHED",
)  # fmt: skip
