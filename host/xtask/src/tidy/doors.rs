//! What only few files may write, though others of their crate could: how a program is started,
//! and how a function that guests call is linked without being counted by `watch`.
//!
//! Reads code line by line, without tests. Who may depend on whom is another rule (`edges`).

use std::path::Path;

use super::{
    source::{SourceFile, end_of_code, place},
    violation::Violation,
};

/// Something that is written in few places.
struct Door {
    /// Below which the rule holds.
    folder: &'static str,
    writes: fn(&str) -> bool,
    /// The files that may, and the folders whose files may.
    places: &'static [&'static str],
    text: &'static str,
}

const DOORS: [Door; 2] = [
    Door {
        folder: "",
        writes: starts_program,
        // Compilers of an author run with the author's rights, as in a shell.
        places: &[
            "host/spawn/src",
            "host/author/src/building.rs",
            "host/author/src/building",
            "host/xtask/src",
            "tests",
        ],
        text: "a program is started here - let wharf-spawn start it, which contains it and ends its tree",
    },
    Door {
        folder: "host/engine/src",
        writes: links_uncounted,
        // Those of WASI and its HTTP are counted where they borrow the store's data (`guest.rs`).
        places: &[
            "host/engine/src/adapter.rs",
            "host/engine/src/adapter/clocks.rs",
            "host/engine/src/adapter/files.rs",
            "host/engine/src/adapter/http.rs",
            "host/engine/src/runtime.rs",
            "host/engine/src/watch.rs",
            "host/engine/src/watch",
        ],
        text: "wasmtime's own linker counts no call - link by `watch::component::Linker`",
    },
];

pub(super) fn check(source: &SourceFile) -> Vec<Violation> {
    if place(&source.path).is_none() {
        return Vec::new();
    }
    let code = &source.text[..end_of_code(&source.text)];
    let is_closed = |door: &&Door| {
        let is_place = |place: &&str| source.path.starts_with(Path::new(place));
        source.path.starts_with(door.folder) && !door.places.iter().any(is_place)
    };
    let mut violations = Vec::new();
    for door in DOORS.iter().filter(is_closed) {
        let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        let written = lines.filter(|(_, line)| (door.writes)(line));
        violations.extend(written.map(|(at, _)| Violation::new(&source.path, at + 1, door.text)));
    }
    violations
}

fn starts_program(line: &str) -> bool {
    line.contains("process::Command") || line.contains("Command::new(")
}

fn links_uncounted(line: &str) -> bool {
    line.match_indices("Linker").any(|(at, name)| {
        let (before, behind) = (&line[..at], &line[at + name.len()..]);
        let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        !is_part(before.chars().next_back())
            && !is_part(behind.chars().next())
            && !before.ends_with("watch::component::")
    })
}

#[cfg(test)]
mod tests {
    use super::{super::violation, *};

    fn lines(path: &str, text: &str) -> Vec<usize> {
        violation::lines(check, path, text)
    }

    #[test]
    fn programs_are_started_in_few_places() {
        let code = "use std::process::Command;\n\nfn a() {\n    Command::new(\"b\").spawn();\n}\n\
                    \n#[cfg(test)]\nmod tests {\n    fn c() {\n        Command::new(\"d\");\n    }\n}\n";
        for path in ["host/wharf/src/a.rs", "plugins/a/src/lib.rs", "sdk/rust/src/a/b.rs"] {
            assert_eq!(lines(path, code), [1, 4], "{path}");
        }
        for path in ["host/spawn/src/root.rs", "host/xtask/src/node.rs", "host/wharf/build.rs", "tests/src/a.rs"] {
            assert_eq!(lines(path, code), [0; 0], "{path}");
        }
    }

    #[test]
    fn the_engine_links_what_is_counted() {
        for code in [
            "use wasmtime::component::Linker;",
            "use wasmtime::component::{HasSelf, Linker, Resource};",
            "fn link(linker: &mut wasmtime::component::Linker<Guest>) {}",
            "    component::Linker::new(&engine);",
        ] {
            assert_eq!(lines("host/engine/src/adapter/new.rs", code), [1], "{code}");
            assert_eq!(lines("host/engine/src/runtime.rs", code), [0; 0], "{code}");
            assert_eq!(lines("host/other/src/new.rs", code), [0; 0], "{code}");
        }
        for code in [
            "fn link(linker: &mut watch::component::Linker<Guest>) {}",
            "    watch::component::LinkerInstance,",
            "// The Linker of wasmtime.",
            "#[cfg(test)]\nmod tests {\n    use wasmtime::component::Linker;\n}",
        ] {
            assert_eq!(lines("host/engine/src/adapter/new.rs", code), [0; 0], "{code}");
        }
    }
}
