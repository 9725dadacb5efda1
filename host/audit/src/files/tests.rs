//! Files of several hosts, that are gone on with and that go.

use std::{io::Write as _, os::unix::fs::PermissionsExt as _};

use chrono::Utc;

use super::*;
use crate::current_file::{SPAN, claim};

const OPTIONS: AuditFileOptions = AuditFileOptions {
    rotate_bytes: 1_000,
    keep_files: 2,
    keep: Duration::from_secs(3_600),
    addresses: AuditAddresses::Full,
};

fn line(number: u32) -> Vec<u8> {
    format!("{{\"number\":{number}}}\n").into_bytes()
}

/// The numbers of the lines of a file, and what else is in it.
fn said(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("text");
    let number = |line: &str| match serde_json::from_str::<serde_json::Value>(line) {
        Ok(line) if line["kind"] == "begin" => None,
        Ok(line) => Some(line["number"].to_string()),
        Err(_) => Some(line.to_owned()),
    };
    text.lines().filter_map(number).collect::<Vec<_>>().join(" ")
}

fn names(directory: &Path) -> Vec<PathBuf> {
    list(directory).expect("listed").into_iter().map(|file| file.path).collect()
}

#[test]
fn two_hosts_write_two_files_and_the_next_one_goes_on_with_one_of_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("audit");
    let mut one = claim(&path, &OPTIONS, None, SystemTime::now()).expect("claimed");
    let mut other = claim(&path, &OPTIONS, None, SystemTime::now()).expect("claimed");
    one.write(&line(1), SystemTime::now()).expect("written");
    other.write(&line(2), SystemTime::now()).expect("written");
    assert_eq!(names(&path).len(), 2);
    drop((one, other));
    let mut next = claim(&path, &OPTIONS, None, SystemTime::now()).expect("claimed");
    next.write(&line(3), SystemTime::now()).expect("written");
    let files = names(&path);
    assert_eq!(files.len(), 2);
    let texts: Vec<_> = files.iter().map(|file| said(file)).collect();
    assert!(texts.iter().any(|text| text == "1 3" || text == "2 3"), "{texts:?}");
    for file in &files {
        assert_eq!(file.metadata().expect("is there").permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(path.metadata().expect("is there").permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_was_left_unfinished_becomes_a_line_of_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut killed = claim(directory.path(), &OPTIONS, None, SystemTime::now()).expect("claimed");
    killed.write(&line(1), SystemTime::now()).expect("written");
    drop(killed);
    let path = names(directory.path()).remove(0);
    fs::OpenOptions::new().append(true).open(path).and_then(|mut file| file.write_all(b"{\"hal")).expect("written");
    claim(directory.path(), &OPTIONS, None, SystemTime::now())
        .expect("claimed")
        .write(&line(2), SystemTime::now())
        .expect("written");
    assert_eq!(said(&names(directory.path())[0]), "1 {\"hal 2");
}

#[test]
fn a_full_file_is_not_gone_on_with_and_a_link_never() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut full = claim(directory.path(), &OPTIONS, None, SystemTime::now()).expect("claimed");
    full.write(&[b'x'; 1_000], SystemTime::now()).expect("written");
    assert!(full.is_full(1, &OPTIONS, SystemTime::now()));
    drop(full);
    let precious = directory.path().join("precious");
    fs::write(&precious, "mine").expect("written");
    let link = directory.path().join(format!("{}-00000000.jsonl", Utc::now().format(NAME_TIME)));
    std::os::unix::fs::symlink(&precious, link).expect("linked");
    claim(directory.path(), &OPTIONS, None, SystemTime::now())
        .expect("claimed")
        .write(&line(2), SystemTime::now())
        .expect("written");
    assert_eq!(fs::read_to_string(&precious).expect("text"), "mine");
    assert_eq!(names(directory.path()).len(), 2);
}

#[test]
fn a_file_that_was_written_under_a_clock_that_is_behind_is_not_old_once_it_is_right() {
    let directory = tempfile::tempdir().expect("a directory");
    // The host has counted on, and the system's clock was set back by five years.
    let counted = SystemTime::now() + Duration::from_secs(5 * 365 * 24 * 3_600);
    let mut file = claim(directory.path(), &OPTIONS, None, counted).expect("claimed");
    file.write(&line(1), counted).expect("written");
    assert!(!file.is_full(1, &OPTIONS, counted));
    assert!(file.is_full(1, &OPTIONS, counted + SPAN), "a day of the host's is over");
    drop(file);
    prune(directory.path(), &OPTIONS, counted + OPTIONS.keep, |_| ()).expect("pruned");
    assert_eq!(names(directory.path()).len(), 1);
    prune(directory.path(), &OPTIONS, counted + 2 * OPTIONS.keep, |_| ()).expect("pruned");
    assert!(names(directory.path()).is_empty());
}

#[test]
fn files_are_kept_by_number_and_age_and_those_in_use_always() {
    let directory = tempfile::tempdir().expect("a directory");
    let held: Vec<_> =
        (0..4).map(|_| claim(directory.path(), &OPTIONS, None, SystemTime::now()).expect("claimed")).collect();
    prune(directory.path(), &OPTIONS, SystemTime::now(), |_| ()).expect("pruned");
    assert_eq!(names(directory.path()).len(), 4);
    drop(held);
    prune(directory.path(), &OPTIONS, SystemTime::now(), |_| ()).expect("pruned");
    assert_eq!(names(directory.path()).len(), 2);
    let later = SystemTime::now() + Duration::from_secs(7_200);
    prune(directory.path(), &OPTIONS, later, |_| ()).expect("pruned");
    assert!(names(directory.path()).is_empty());
}
