//! Programs that the detector was tuned on: those that its documents and the
//! tests of terminals name.
//!
//! In all texts, `{stamp}` is a command of the shell that writes the time into
//! the file of truth, `{done}` that file, `{p}` a pause in seconds and `{ms}`
//! one in milliseconds, each another one every time.

use wharf_completion::detection::Preset;

use super::{
    Program,
    Step::{Keys, Line},
    Truth::{Ended, File, Never, Shown},
};

const BASH: &[(super::Step, super::Truth)] = &[
    (Line("sleep {p}; {stamp}"), File),
    (Line("for i in 1 2 3; do echo step $i:; sleep {p}; done; {stamp}"), File),
    (Line("printf 'Password: '; sleep {p}; echo; {stamp}"), File),
    (Line("printf 'Continue? (y/n) '; sleep {p}; sleep {p}; echo no; {stamp}"), File),
    (Line("printf '$ '; sleep {p}; sleep {p}; echo; {stamp}"), File),
    (Line("seq 1 100000; {stamp}"), File),
    (Line("i=0; while [ $i -lt 120000 ]; do i=$((i+1)); done; {stamp}"), File),
    (Line("sleep {p} & wait; {stamp}; (exit 3)"), File),
    (Line("nonsense 2>&1; {stamp}"), File),
    (Line("top -n 2 -d 0.4; {stamp}"), File),
    (Line("read -p 'name? ' name; sleep {p}; {stamp}"), Shown("name?")),
    (Line("Ann"), File),
    (Line("seq 1 500 | less"), Shown("23")),
    (Keys(&["Space"]), Shown("46")),
    (Keys(&["G"]), Shown("(END)")),
    (Keys(&["q"]), Shown("$")),
    (Line("echo 'one"), Shown(">")),
    (Line("two'"), Shown("two\n")),
    (Line("while :; do printf .; sleep 0.1; [ $((i+=1)) -gt 120020 ] && break; done; {stamp}"), File),
];

pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "bash",
        program: "/bin/bash",
        arguments: &["--norc", "--noprofile", "-i"],
        preset: Preset::Shell,
        integration: false,
        turns: BASH,
    },
    Program {
        name: "bash with marks",
        program: "/bin/bash",
        arguments: &[],
        preset: Preset::Shell,
        integration: true,
        turns: BASH,
    },
    Program {
        name: "python",
        program: "/usr/bin/python3",
        arguments: &["-q"],
        preset: Preset::Repl,
        integration: false,
        turns: &[
            (Line("import os, time; stamp = lambda: os.system('{stamp}') and None"), Shown(">>>")),
            (Line("time.sleep({p}); _ = stamp()"), File),
            (Line("_ = [(print('>>> ', end='', flush=True), time.sleep({p})) for i in range(3)]; _ = stamp()"), File),
            (Line("_ = sum(range(20_000_000)); _ = stamp()"), File),
            (Line("print('log:\\n' * 3000); _ = stamp()"), File),
            (Line("name = input('name? ')"), Shown("name?")),
            (Line("Ann"), Shown(">>>")),
            (Line("def f():"), Shown("...")),
            (Line("    time.sleep({p}); return stamp()"), Shown("...")),
            (Line(""), Shown(">>>")),
            (Line("_ = f()"), File),
            (
                Line(
                    "import sys; _ = [(sys.stdout.write(c), sys.stdout.flush(), time.sleep(0.1)) for c in 'is it? (y/n) ']; _ = stamp()",
                ),
                File,
            ),
        ],
    },
    Program {
        name: "sqlite",
        program: "/usr/bin/sqlite3",
        arguments: &[],
        preset: Preset::Repl,
        integration: false,
        turns: &[
            (Line("select 6 * 7;"), Shown("42")),
            (Line(".shell sleep {p}; {stamp}"), File),
            (Line("select"), Shown("...>")),
            (Line("1 + 1;"), Shown("2")),
            (
                Line(
                    "with recursive n(i) as (select 1 union all select i + 1 from n limit 2000000) select count(*) from n;",
                ),
                Shown("2000000"),
            ),
            (Line(".shell for i in 1 2 3; do printf 'sqlite> '; sleep {p}; done; echo; {stamp}"), File),
        ],
    },
    Program {
        name: "gdb",
        program: "/usr/bin/gdb",
        arguments: &["-q", "-nx", "/bin/sh"],
        preset: Preset::Repl,
        integration: false,
        turns: &[
            (Line("print 6 * 7"), Shown("42")),
            (Line("shell sleep {p}; {stamp}"), File),
            (Line("shell printf '(gdb) '; sleep {p}; echo; {stamp}"), File),
            (Line("define two"), Shown(">")),
            (Line("print 2"), Shown(">")),
            (Line("end"), Shown("(gdb)")),
        ],
    },
    Program {
        name: "less",
        program: "/usr/bin/less",
        arguments: &["/etc/services"],
        preset: Preset::Repl,
        integration: false,
        turns: &[
            (Keys(&["G"]), Shown("(END)")),
            (Line("!sleep {p}; {stamp}"), File),
            (Keys(&["Enter"]), Shown("(END)")),
            (Keys(&["q"]), Ended),
        ],
    },
    Program {
        name: "vim",
        program: "/usr/bin/vim",
        arguments: &["-u", "NONE"],
        preset: Preset::Repl,
        integration: false,
        turns: &[
            (Line(":call system('sleep {p}; {stamp}')"), File),
            (Line(":!sleep {p}; {stamp}"), File),
            (Keys(&["Enter"]), Shown("~")),
            (Line("ia word"), Shown("a word")),
            (Keys(&["Escape"]), Shown("a word")),
        ],
    },
    Program {
        name: "an agent",
        program: "/usr/bin/python3",
        arguments: &["{scripts}/agent.py", "{done}", "{seed}"],
        preset: Preset::Agent,
        integration: false,
        turns: &[(Line("what is it?"), File), (Line("and then?"), File), (Line("why?"), File), (Line("go on"), File)],
    },
    Program {
        name: "prompts in its log",
        program: "/usr/bin/python3",
        arguments: &["{scripts}/prompts.py", "{done}"],
        preset: Preset::Repl,
        integration: false,
        turns: &[(Line("{p}"), File), (Line("3"), File), (Line("0"), File), (Line("{p}"), File)],
    },
    Program {
        name: "never answers",
        program: "/usr/bin/python3",
        arguments: &["{scripts}/never.py"],
        preset: Preset::Repl,
        integration: false,
        turns: &[(Line("hello?"), Never)],
    },
    Program {
        name: "dies",
        program: "/usr/bin/python3",
        arguments: &["{scripts}/dies.py", "{done}", "{p}"],
        preset: Preset::Repl,
        integration: false,
        turns: &[(Line("go"), File)],
    },
];
