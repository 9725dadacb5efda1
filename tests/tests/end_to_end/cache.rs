//! Compiled code that was kept: used where it is what was stored, made again
//! where anything about it changed, and never trusted.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;
use wharf_tests::{Client, Crafted, Data, Setup, wharf};

/// A plugin that says `yes` and one that says `no`, and a setup of each.
struct Pair {
    _files: Data,
    yes: Setup,
    no: Setup,
    both: Setup,
}

impl Pair {
    fn new() -> Self {
        let files = Data::alone();
        let yes = files.write("yes.wasm", Crafted::default().bytes());
        let no = files.write("no.wasm", Crafted::calling("i32.const 0").bytes());
        let (with_yes, with_no) = (Setup::bare().plugin("yes", &yes, ""), Setup::bare().plugin("no", &no, ""));
        Self { _files: files, both: with_yes.clone().plugin("no", &no, ""), yes: with_yes, no: with_no }
    }
}

/// A new host on this directory, and what its plugin says.
async fn says(setup: &Setup, data: &Data, tool: &str) -> String {
    let host = wharf::Host::open(setup.configuration(), data.path()).await.expect("the host opens");
    let context = wharf_tests::context("local", "test");
    let request = wharf::CallRequest::new(context, tool, serde_json::Map::new());
    let answer = host.call(request).await.expect("the plugin answers");
    answer.content[0].as_text().expect("a text").to_owned()
}

fn entries(data: &Data, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(data.path().join("cache")).expect("there is a cache");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    paths.sort();
    paths
}

fn only(data: &Data, ending: &str) -> PathBuf {
    let entries = entries(data, ending);
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

/// Which file it is: a replaced one is another.
fn identity(path: &Path) -> (u64, std::time::SystemTime) {
    use std::os::unix::fs::MetadataExt;
    let file = fs::metadata(path).expect("it is there");
    (file.ino(), file.modified().expect("it has a time"))
}

#[tokio::test]
async fn the_second_start_uses_what_the_first_one_compiled() {
    let (pair, data) = (Pair::new(), Data::alone());
    assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
    let before = (identity(&only(&data, "code")), identity(&only(&data, "tools")));
    assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
    assert_eq!((identity(&only(&data, "code")), identity(&only(&data, "tools"))), before);
}

#[tokio::test]
async fn a_flipped_byte_anywhere_is_compiled_again() {
    let (pair, data) = (Pair::new(), Data::alone());
    assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
    for ending in ["code", "tools"] {
        let path = only(&data, ending);
        let good = fs::read(&path).expect("read");
        let last = good.len() - 1;
        let spread = (0..24).map(|step| last * step / 24);
        for position in spread.chain([1, 2, 3, last - 40, last - 32, last - 31, last - 1, last]) {
            let mut bad = good.clone();
            bad[position] ^= 0x40;
            fs::write(&path, &bad).expect("written");
            assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes", "{ending}, byte {position}");
            let now = fs::read(only(&data, ending)).expect("read");
            assert!(now != bad, "{ending}, byte {position} is still flipped");
        }
    }
}

#[tokio::test]
async fn a_truncated_or_lengthened_entry_is_compiled_again() {
    let (pair, data) = (Pair::new(), Data::alone());
    assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
    for ending in ["code", "tools"] {
        let path = only(&data, ending);
        let good = fs::read(&path).expect("read");
        let half = good.len() / 2;
        let cuts = [0, 1, 31, 32, 33, half, good.len() - 32, good.len() - 1].map(|cut| good[..cut].to_vec());
        let more = [[good.clone(), vec![0]].concat(), [good.clone(), good.clone()].concat()];
        for bad in cuts.into_iter().chain(more) {
            fs::write(&path, &bad).expect("written");
            assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes", "{ending} of {} bytes", bad.len());
            assert_ne!(fs::read(only(&data, ending)).expect("read"), bad);
        }
    }
}

#[tokio::test]
async fn an_entry_of_another_component_or_directory_is_foreign() {
    let (pair, data, other) = (Pair::new(), Data::alone(), Data::alone());
    assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
    let of_yes = only(&data, "code");
    assert_eq!(says(&pair.no, &other, "no__run").await, "no");
    let of_no = only(&other, "code");

    // The right name, made under another key.
    fs::copy(&of_yes, other.path().join("cache").join(of_yes.file_name().expect("a name"))).expect("copied");
    assert_eq!(says(&pair.both, &other, "yes__run").await, "yes");

    // The right key, another component: it would answer for this one.
    assert_eq!(entries(&other, "code").len(), 2);
    let of_yes_here = other.path().join("cache").join(of_yes.file_name().expect("a name"));
    fs::copy(&of_yes_here, &of_no).expect("copied");
    assert_eq!(says(&pair.both, &other, "no__run").await, "no");
    let metadata = entries(&other, "tools");
    fs::copy(&metadata[0], &metadata[1]).expect("copied");
    assert_eq!(says(&pair.both, &other, "no__run").await, "no");
    assert_eq!(says(&pair.both, &other, "yes__run").await, "yes");
}

#[tokio::test]
async fn a_changed_key_costs_the_entries_and_nothing_else() {
    let (pair, data) = (Pair::new(), Data::alone());
    assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
    let key = data.path().join("cache/key");
    let entry = only(&data, "code");
    for spoilt in [vec![], vec![0; 31], vec![0; 32], vec![0; 33], vec![7; 5_000]] {
        let before = identity(&entry);
        fs::write(&key, &spoilt).expect("written");
        assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
        assert_ne!(identity(&entry), before, "a key of {} bytes: the entry was trusted", spoilt.len());
    }
    fs::remove_file(&key).expect("removed");
    assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
}

#[tokio::test]
async fn only_the_owner_reads_and_nothing_half_written_stays() {
    use std::os::unix::fs::PermissionsExt;
    let (pair, data) = (Pair::new(), Data::alone());
    assert_eq!(says(&pair.both, &data, "yes__run").await, "yes");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let cache = data.path().join("cache");
    assert_eq!(mode(&cache), 0o700);
    let mut kinds = Vec::new();
    for entry in fs::read_dir(&cache).expect("there is a cache") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        kinds.push(path.extension().map_or("key".into(), |ending| ending.to_string_lossy().into_owned()));
    }
    kinds.sort();
    assert_eq!(kinds, ["code", "code", "key", "tools", "tools"]);
    assert_eq!(mode(&data.path().join("state.sqlite3")), 0o600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_hosts_may_fill_one_cache_at_once() {
    let (pair, data) = (Pair::new(), Data::alone());
    let config = data.write("wharf.toml", pair.both.text());
    let serve = || wharf(["serve", "--stdio"]).config(&config).data(data.path());
    // Binaries and libraries, all starting cold.
    let binaries: Vec<_> = (0..3)
        .map(|_| {
            std::thread::spawn({
                let command = serve();
                move || {
                    let mut client = Client::connect(command);
                    let answers = ["yes__run", "no__run"].map(|tool| client.call(tool, json!({}), json!({})));
                    drop(client.leave());
                    answers.map(|answer| answer["content"][0]["text"].clone())
                }
            })
        })
        .collect();
    for _ in 0..3 {
        let (first, second) = tokio::join!(says(&pair.both, &data, "yes__run"), says(&pair.both, &data, "no__run"));
        assert_eq!((first.as_str(), second.as_str()), ("yes", "no"));
    }
    for binary in binaries {
        assert_eq!(binary.join().expect("a client"), [json!("yes"), json!("no")]);
    }
    // The entries that they left are right: none is made again.
    let before: Vec<_> = entries(&data, "code").iter().map(|path| identity(path)).collect();
    assert_eq!(before.len(), 2);
    assert_eq!(says(&pair.both, &data, "yes__run").await, "yes");
    assert_eq!(entries(&data, "code").iter().map(|path| identity(path)).collect::<Vec<_>>(), before);
    let unfinished = fs::read_dir(data.path().join("cache")).expect("there is a cache");
    let unfinished = unfinished
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(".new-")));
    assert_eq!(unfinished.count(), 0);
}

#[tokio::test]
async fn code_from_elsewhere_is_no_component() {
    // wasmtime's own compiled form starts like an ELF file; only a component is
    // ever taken from an operator.
    let (pair, data) = (Pair::new(), Data::alone());
    assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
    let code = fs::read(only(&data, "code")).expect("read");
    let files = Data::alone();
    for part in [&code[..], &code[..code.len() - 32]] {
        let path = files.write("precompiled.wasm", part);
        let fixture = Setup::bare().plugin("bad", &path, "").open_in(Data::new()).await;
        let rejected = fixture.host.rejected();
        assert!(rejected.len() == 1 && rejected[0].reason.contains("no Wasm component"), "{rejected:?}");
    }
}

/// What may stand where the cache or a file of it should be.
const IN_THE_WAY: [&str; 6] = [
    "rm -rf $0; mkdir $0",
    "rm -rf $0; mkdir -p $0/theirs",
    "rm -rf $0; mkfifo $0",
    "rm -rf $0; ln -s /dev/zero $0",
    "rm -rf $0; echo text > $0",
    "rm -rf $0; truncate -s 1T $0",
];

fn put(script: &str, path: &Path) {
    let script = script.replace("$0", "\"$0\"");
    let put = std::process::Command::new("sh").args(["-c", &script]).arg(path).status().expect("a shell");
    assert!(put.success(), "{script}");
}

#[tokio::test]
async fn what_is_broken_in_a_cache_is_mended_and_keeps_no_host_from_starting() {
    let (pair, data) = (Pair::new(), Data::alone());
    assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
    for file in [data.path().join("cache/key"), only(&data, "code"), only(&data, "tools")] {
        for script in IN_THE_WAY {
            put(script, &file);
            assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes", "{}: {script}", file.display());
            assert!(fs::symlink_metadata(&file).expect("made again").is_file(), "{}: {script}", file.display());
            // It is of use again: the next host makes nothing.
            let before = identity(&file);
            assert_eq!(says(&pair.yes, &data, "yes__run").await, "yes");
            assert_eq!(identity(&file), before, "{}: {script}", file.display());
        }
    }
}

#[test]
fn a_host_works_without_a_cache_and_says_so_once() {
    let pair = Pair::new();
    for script in IN_THE_WAY.iter().filter(|script| !script.contains("mkdir")) {
        let data = Data::alone();
        let config = data.write("wharf.toml", pair.both.text());
        put(script, &data.path().join("cache"));
        let mut client = Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path()));
        let answers = ["yes__run", "no__run"].map(|tool| client.call(tool, json!({}), json!({})));
        assert_eq!(answers.map(|answer| answer["content"][0]["text"].clone()), [json!("yes"), json!("no")], "{script}");
        let (_, log, code) = client.leave();
        assert_eq!((code, log.matches("the cache of compiled code").count()), (Some(0), 1), "{script}: {log}");
        assert!(log.contains("a directory is expected") && !log.contains("File exists"), "{script}: {log}");
        let doctor = wharf(["doctor"]).config(&config).data(data.path()).run();
        let line = doctor.out.lines().find(|line| line.starts_with("!! cache")).unwrap_or_default();
        assert!(doctor.code == Some(1) && line.contains("a directory is expected"), "{script}: {doctor:?}");
        assert!(!fs::symlink_metadata(data.path().join("cache")).expect("there").is_dir(), "it is not the host's");
    }
}
