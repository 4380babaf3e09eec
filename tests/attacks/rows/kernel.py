"""Commands that ask the kernel for what no build needs, by calls that are made in Python (S-4)."""

from __future__ import annotations

from tests.attacks.row import Attack, commands

PYTHON = "{python} - <<'CODE'\nimport ctypes, os, socket, struct, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"
END = "\nCODE"


def python(code: str) -> str:
    """A command that runs Python; braces of the code are its own, words of the world stand in double angles."""
    escaped = code.replace("{", "{{").replace("}", "}}").replace("<<", "{").replace(">>", "}")
    return PYTHON + escaped + END


MADE = "open('made', 'w').write('x')"
"""Said in the workspace when a call is let through; a row's own check looks for it."""


def refused(call: str) -> str:
    """The number of the call is x86-64's; on another machine the attack ends at once."""
    return python(
        "if os.uname().machine != 'x86_64': sys.exit()\n"
        f"if ({call}) >= 0: print('REACHED')"
    )  # fmt: skip


KERNEL: tuple[Attack, ...] = (
    *commands(
        "out",
        {
            "io_uring": refused("libc.syscall(425, 8, ctypes.create_string_buffer(120))"),
            "io_uring by the second set of numbers": refused("libc.syscall(0x40000000 + 425, 8, ctypes.create_string_buffer(120))"),
            "a key of the kernel's": refused("libc.syscall(248, b'user', b'codelaw', b'x', 1, -2)"),
            "the keys of the session": refused("libc.syscall(250, 0, -3, 1)"),
            "a key that is asked for": refused("libc.syscall(249, b'user', b'codelaw', 0, -2)"),
            "page faults by hand": refused("libc.syscall(323, 1)"),
            "a virtual machine's socket": python("s = socket.socket(40, socket.SOCK_STREAM); print('REACHED')"),
        },
        fails=("io_uring by the second set of numbers", "a key that is asked for"),
        marks="REACHED",
    ),
    *commands(
        "out",
        {
            "routes and addresses by netlink": python("s = socket.socket(16, socket.SOCK_RAW, 0); s.bind((0, 0)); s.send(struct.pack('IHHIIBBHiII', 32, 16, 0x605, 1, 0, 0, 0, 0, 1, 0, 1)); print(s.recv(4096)[:4])\nopen('<<out>>/victim', 'w').write('x')"),
            "a raw packet": python("s = socket.socket(17, socket.SOCK_RAW, 3); s.bind(('lo', 0)); s.send(b'x' * 60); open('<<out>>/victim', 'w').write('x')"),
            "echo requests": python("s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP); s.sendto(bytes([8, 0, 0xf7, 0xff, 0, 0, 0, 0]), ('127.0.0.1', 1)); print('REACHED')"),
            "a program in memory": python("f = os.memfd_create('x', 0); os.write(f, b'#!/bin/sh\\necho x > <<out>>/victim\\n'); os.execve(f, ['x'], {'PATH': '/bin'})"),
            "a program in memory that reads": python("f = os.memfd_create('x', 0); os.write(f, b'#!/bin/sh\\ncat <<home>>/.netrc\\n'); os.execve('/proc/self/fd/%d' % f, ['x'], {'PATH': '/bin'})"),
            "the memory of another process, written": python("f = open('/proc/<<pid>>/mem', 'r+b', 0); maps = open('/proc/<<pid>>/maps').read().split('-')[0]; f.seek(int(maps, 16)); f.write(b'x'); open('<<out>>/victim', 'w').write('x')"),
            "the memory of another process, by a call": python("b = ctypes.create_string_buffer(131072)\nclass V(ctypes.Structure): _fields_ = [('a', ctypes.c_void_p), ('n', ctypes.c_size_t)]\nfor l in open('/proc/<<pid>>/maps'):\n  if 'stack' in l:\n    a, e = (int(x, 16) for x in l.split()[0].split('-')); n = libc.syscall(310, <<pid>>, ctypes.byref(V(ctypes.addressof(b), min(e - a, 131072))), 1, ctypes.byref(V(max(a, e - (131072)), min(e - a, 131072))), 1, 0); print(b.raw[:max(n, 0)])"),
            "a descriptor of another process": python("p = libc.syscall(434, <<pid>>, 0); f = libc.syscall(438, p, 3, 0); os.write(f, b'x' * 20)"),
            "a signal by a descriptor": python("p = libc.syscall(434, <<pid>>, 0); libc.syscall(424, p, 9, None, 0)"),
            "keys typed into a terminal": python("import fcntl\nfor n in ('/dev/tty', '/dev/console', '/dev/tty0'):\n  try: fcntl.ioctl(os.open(n, os.O_RDWR), 0x5412, b'x')\n  except OSError: continue\n  open('<<out>>/victim', 'w').write('x')"),
            "the terminals of others": python("import glob\nfor n in glob.glob('/dev/pts/[0-9]*'):\n  try: os.open(n, os.O_WRONLY | os.O_NOCTTY)\n  except OSError: continue\n  open('<<out>>/victim', 'w').write('x')"),
            "the program that is fed with cores": "echo '|{out}/program' > /proc/sys/kernel/core_pattern && echo x > {out}/victim; echo {out}/program > /proc/sys/kernel/modprobe && echo x > {out}/victim; echo c > /proc/sysrq-trigger && echo x > {out}/victim",
            "what runs when a control group is empty": "for d in /sys/fs/cgroup /sys/fs/cgroup/*; do (echo {out}/program > $d/release_agent) 2>/dev/null && echo x > {out}/victim; done; true",
            "a mount by the newer calls": refused("(lambda t: libc.syscall(429, t, b'', -100, b'<<out>>', 4))(libc.syscall(428, -100, b'<<ws>>', 1))"),
            "a mount namespace by a call": python("print(libc.unshare(0x10000000 | 0x20000)); print(libc.mount(b'<<ws>>', b'<<out>>', None, 4096, None)); print(libc.umount2(b'<<home>>', 2)); print(open('<<home>>/.netrc').read())"),
            "a debugger on the parent": python("print(libc.ptrace(0x4206, os.getppid(), 0, 0)); print(open('/proc/%d/environ' % os.getppid(), 'rb').read()); print(open('/proc/<<server>>/environ', 'rb').read())"),
            "the server's memory": python("m = open('/proc/<<server>>/mem', 'rb', 0)\nfor l in open('/proc/<<server>>/maps'):\n  if 'stack' in l: a, e = (int(x, 16) for x in l.split()[0].split('-')); m.seek(a); print(m.read(e - a))"),
            "the server's environment": "tr '\\0' '\\n' < /proc/{server}/environ; tr '\\0' '\\n' < /proc/$PPID/environ",
            "what the server has open": "readlink /proc/{server}/fd/*; ls /proc/{server}/fd && echo REACHED",
            "a signal to the server": "kill -0 {server} && echo REACHED; kill -CONT {server} && echo REACHED",
            "the server's limits": python("import resource; resource.prlimit(<<server>>, resource.RLIMIT_NOFILE); print('REACHED')"),
            "the server's priority": python("os.setpriority(os.PRIO_PROCESS, <<server>>, 19); print('REACHED')") + "\nrenice -n 19 -p {pid} && echo REACHED",
        },
        fails=(
            *("echo requests", "a raw packet", "keys typed into a terminal", "the program that is fed with cores"),
            *("what runs when a control group is empty", "a mount by the newer calls", "the server's memory"),
            *("the server's environment", "a debugger on the parent", "what the server has open"),
        ),
        unsafe=("the terminals of others", "the server's priority"),
        marks="REACHED",
    ),
)  # fmt: skip
