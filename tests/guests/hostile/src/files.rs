//! Attacks through files: filling disks, links out of folders, handles without end.

use std::{fs, io::Write as _, time::Duration};

use serde_json::{Value, json};
use wasip2::filesystem::{
    preopens::get_directories,
    types::{Descriptor, ErrorCode, PathFlags},
};
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::types::Error;

use crate::attack::{Attack, length, number, report, text};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::new(
        "write_over",
        "Writes a file of so many bytes again and again, whatever comes of it.",
        &[("path", "string"), ("bytes", "integer"), ("times", "integer")],
        write_over,
    ),
    Attack::new("set_length", "Sets the length of a file.", &[("path", "string"), ("bytes", "integer")], set_length),
    Attack::new(
        "make_link",
        "Makes a symbolic link, or gives a file a further name.",
        &[("target", "string"), ("path", "string"), ("hard?", "boolean")],
        make_link,
    ),
    Attack::new(
        "hold_files",
        "Opens a file so many times, and holds all of them open for a while.",
        &[("path", "string"), ("handles", "integer"), ("milliseconds?", "integer")],
        hold_files,
    ),
    Attack::new(
        "hold_listings",
        "Begins to list a directory so many times.",
        &[("path", "string"), ("handles", "integer")],
        hold_listings,
    ),
];

fn outcome<T: Into<Value>>(result: Result<T, String>) -> Result<Answer, Error> {
    match result {
        Ok(found) => report(&json!({ "reached": true, "found": found.into() })),
        Err(error) => report(&json!({ "reached": false, "error": error })),
    }
}

fn write_over(arguments: &Value) -> Result<Answer, Error> {
    let bytes = vec![b'x'; length(arguments, "bytes")];
    let mut failed = 0;
    for _ in 0..number(arguments, "times") {
        let written = fs::File::create(text(arguments, "path")).and_then(|mut file| file.write_all(&bytes));
        failed += u64::from(written.is_err());
    }
    report(&json!({ "failed": failed }))
}

fn set_length(arguments: &Value) -> Result<Answer, Error> {
    let file = fs::File::create(text(arguments, "path"));
    outcome(file.and_then(|file| file.set_len(number(arguments, "bytes"))).map_err(|error| error.to_string()))
}

/// The directory of a path among those that were handed out, and the path in it.
fn below(path: &str) -> Result<(Descriptor, String), String> {
    let found = get_directories().into_iter().find_map(|(directory, name)| {
        let rest = path.strip_prefix(&name)?.strip_prefix('/')?.to_owned();
        Some((directory, rest))
    });
    found.ok_or_else(|| format!("nothing was handed out for {path}"))
}

fn make_link(arguments: &Value) -> Result<Answer, Error> {
    let (target, path) = (text(arguments, "target"), text(arguments, "path"));
    let told = |error: ErrorCode| error.name().to_owned();
    outcome(below(path).and_then(|(directory, name)| {
        if arguments["hard"] == true {
            let (from, file) = below(target)?;
            from.link_at(PathFlags::empty(), &file, &directory, &name).map_err(told)
        } else {
            directory.symlink_at(target, &name).map_err(told)
        }
    }))
}

fn hold_files(arguments: &Value) -> Result<Answer, Error> {
    let open = |_| fs::File::options().read(true).open(text(arguments, "path"));
    let held: Result<Vec<_>, _> = (0..number(arguments, "handles")).map(open).collect();
    std::thread::sleep(Duration::from_millis(number(arguments, "milliseconds")));
    outcome(held.map(|held| held.len()).map_err(|error| error.to_string()))
}

fn hold_listings(arguments: &Value) -> Result<Answer, Error> {
    let begin = |_| {
        let mut entries = fs::read_dir(text(arguments, "path"))?;
        let first = entries.next().is_some();
        Ok::<_, std::io::Error>((entries, first))
    };
    let held: Result<Vec<_>, _> = (0..number(arguments, "handles")).map(begin).collect();
    outcome(held.map(|held| held.len()).map_err(|error| error.to_string()))
}
