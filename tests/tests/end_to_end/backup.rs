//! `wharf backup` beside a host that serves and writes, and `wharf restore` elsewhere: the real
//! binary at both ends.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    thread,
};

use serde_json::{Value, json};
use wharf_test_support::blocking;
use wharf_tests::{Client, Data, Finished, Setup, not_on_this_machine, start, wharf};

use crate::plugins::commands::Place;

/// Writes that are acknowledged before a backup begins.
const BEFORE: u64 = 40;

/// A host that keeps state and files, and a plugin that was added.
fn place() -> Place {
    let setup = Setup::new().with("profile = \"developer\"").state("").bundled("workspace", "");
    let place = Place::new(&setup);
    place.ran(&["plugin", "add", &place.file("greeter.wasm")]);
    place
}

fn meta() -> Value {
    json!({"dev.wharf/sessionId": "s"})
}

/// Writes an entry; the host has acknowledged it when this returns.
fn put(client: &mut Client, number: u64) {
    let arguments = json!({"scope": "session", "key": format!("key-{number:06}"), "value": "kept"});
    let put = client.call("hostile__state_put", arguments, meta());
    assert_eq!(put["isError"], json!(false), "{put}");
}

fn write(client: &mut Client, path: &str, content: &str) {
    let written = client.call("workspace__write_file", json!({"path": path, "content": content}), meta());
    assert_eq!(written["isError"], json!(false), "{written}");
}

/// A data directory on which a host has served, and the path of its backup.
fn backed_up(more: &[&str]) -> (Place, String) {
    let place = place();
    let mut host = place.serve();
    put(&mut host, 0);
    write(&mut host, "src/note.txt", "a session's own");
    let file = place.file("wharf.backup");
    place.ran(&[&["backup", &file], more].concat());
    assert_eq!(host.leave().2, Some(0));
    (place, file)
}

/// A run on another data directory, with the configuration of a place.
fn elsewhere(place: &Place, data: &Path, arguments: &[&str]) -> Finished {
    wharf(arguments).config(&place.files.path().join("wharf.toml")).data(data).run()
}

#[track_caller]
fn ran(place: &Place, data: &Path, arguments: &[&str]) -> String {
    let run = elsewhere(place, data, arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run.out
}

/// That a restore ends so, says this, and leaves nothing of what it did.
#[track_caller]
fn refused(place: &Place, file: &str, code: i32, word: &str) {
    let parent = Data::alone();
    let data = parent.path().join("data");
    let run = elsewhere(place, &data, &["restore", file]);
    assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{word}: {run:?}");
    assert!(run.err.contains(word), "{word}: {run:?}");
    let left: Vec<_> = fs::read_dir(parent.path()).expect("listed").flatten().map(|entry| entry.path()).collect();
    assert_eq!(left, Vec::<PathBuf>::new(), "{word}");
}

/// What a directory has, in order.
fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).expect("listed").flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The files that sessions have below a data directory.
fn notes(data: &Path) -> Vec<PathBuf> {
    let sessions = fs::read_dir(data.join("workspaces")).into_iter().flatten().flatten();
    sessions.map(|entry| entry.path().join("files/src/note.txt")).filter(|path| path.exists()).collect()
}

#[test]
fn a_backup_beside_a_host_that_writes_and_is_killed_has_all_that_was_acknowledged_before_it() {
    let place = place();
    let mut host = place.serve();
    for number in 0..BEFORE {
        put(&mut host, number);
    }
    write(&mut host, "src/note.txt", "a session's own");
    let file = place.file("wharf.backup");
    let (config, data) = (place.files.path().join("wharf.toml"), place.data.path().to_owned());
    let backing_up = thread::spawn({
        let file = file.clone();
        move || wharf(["backup", &file, "--json"]).config(&config).data(&data).run()
    });
    let mut written = BEFORE;
    while !backing_up.is_finished() {
        put(&mut host, written);
        written += 1;
    }
    let run = backing_up.join().expect("no panic");
    assert_eq!(run.code, Some(0), "{run:?}");
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert_eq!(report["contains"], json!(["state", "plugins", "workspaces", "audit"]), "{report}");
    assert_eq!((&report["format"], &report["file"]), (&json!(1), &json!(file)), "{report}");
    assert_eq!(fs::metadata(&file).expect("is there").permissions().mode() & 0o777, 0o600);
    put(&mut host, written);
    host.kill();
    let left: Vec<_> = names(place.data.path()).into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(left.is_empty(), "a backup leaves nothing in the data directory: {left:?}");

    let other = Data::alone();
    let data = other.path().join("restored");
    let told = ran(&place, &data, &["restore", &file]);
    assert!(told.contains("1 sessions have files") && told.contains("state.sqlite3"), "{told}");
    for name in ["cache", "hosts", "http-token", "state.sqlite3-wal"] {
        assert!(!data.join(name).exists(), "{name}");
    }
    let exported = ran(&place, &data, &["state", "export"]);
    for number in 0..BEFORE {
        assert!(exported.contains(&format!("key-{number:06}")), "{number} was acknowledged before the backup began");
    }
    let keys = exported.matches("key-").count() as u64;
    assert!(keys <= written, "{keys} of {written}: what came after the backup is not in it");
    assert!(exported.contains(&format!("key-{:06}", keys - 1)), "entries are of one moment: a prefix of the writes");
    let verified = ran(&place, &data, &["audit", "verify"]);
    assert!(verified.contains("nothing was changed, taken out or cut off"), "{verified}");
    let listed = ran(&place, &data, &["plugin", "info", "greeter"]);
    assert!(listed.contains("greeter.wasm"), "the receipt says where it came from: {listed}");

    let config = place.files.path().join("wharf.toml");
    let mut host = Client::connect(wharf(["serve", "--stdio"]).config(&config).data(&data));
    assert_eq!(host.call("greeter__run", json!({}), json!({}))["content"][0]["text"], "yes");
    let read = host.call("workspace__read_file", json!({"path": "src/note.txt"}), meta());
    assert!(read.to_string().contains("a session's own"), "{read}");
    write(&mut host, "src/note.txt", "goes on");
    let got = host.call("hostile__state_get", json!({"scope": "session", "key": "key-000000"}), meta());
    assert!(got.to_string().contains("kept"), "{got}");
    put(&mut host, 0);
    assert_eq!(host.leave().2, Some(0));
    ran(&place, &data, &["audit", "verify"]);
}

#[test]
fn a_backup_that_is_killed_leaves_no_file_that_passes_for_one_and_the_next_makes_room_for_itself() {
    /// Noise takes as much room in an archive, and so long to write.
    const NOISE_BYTES: usize = 64 << 20;

    let place = place();
    let mut host = place.serve();
    put(&mut host, 0);
    write(&mut host, "src/note.txt", "a session's own");
    let [note] = &notes(place.data.path())[..] else { panic!("one session has files") };
    let mut noise = vec![0; NOISE_BYTES];
    fastrand::fill(&mut noise);
    fs::write(note.with_file_name("noise"), noise).expect("written");
    let file = place.file("wharf.backup");
    let config = place.files.path().join("wharf.toml");
    let mut backup = start(wharf(["backup", &file]).config(&config).data(place.data.path()));
    let staged = || names(place.data.path()).iter().filter(|name| name.starts_with(".backup-")).count();
    blocking::until("it is under way", || staged() == 1);
    backup.kill().expect("it runs");
    assert_eq!(backup.wait().expect("it ends").code(), None, "it was killed before its end");
    assert!(!Path::new(&file).exists(), "what is half written has no name");

    // The host has noticed nothing, and the next backup is whole.
    put(&mut host, 1);
    place.ran(&["backup", &file]);
    assert_eq!(staged(), 0, "what the killed one left is gone");
    assert_eq!(names(place.files.path()), ["greeter.wasm", "wharf.backup", "wharf.toml"], "nothing is left beside it");
    assert_eq!(host.leave().2, Some(0));
    let other = Data::alone();
    let data = other.path().join("restored");
    ran(&place, &data, &["restore", &file]);
    let exported = ran(&place, &data, &["state", "export"]);
    assert!(exported.contains("key-000000") && exported.contains("key-000001"), "{exported}");
}

#[test]
fn a_damaged_backup_is_refused_and_leaves_nothing() {
    let (place, file) = backed_up(&[]);
    let whole = fs::read(&file).expect("read");
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("cut-at-the-end", whole[..whole.len() - 1].to_vec()),
        ("longer", [whole.as_slice(), b"x"].concat()),
        ("text", b"this is a text and no backup of anything".to_vec()),
    ] {
        let path = place.files.write(name, bytes).display().to_string();
        refused(&place, &path, 1, "nothing was restored");
    }
    for at in [whole.len() / 5, whole.len() / 2, whole.len() - 40] {
        let mut flipped = whole.clone();
        // One bit may be one that Zstandard does not use.
        flipped[at..at + 16].iter_mut().for_each(|byte| *byte = !*byte);
        let path = place.files.write("flipped", flipped).display().to_string();
        refused(&place, &path, 1, "nothing was restored");
    }
    refused(&place, "/nonexistent/file", 1, "/nonexistent/file");
}

/// Hostile archives, as the program of the machine makes them.
#[test]
fn an_archive_that_wharf_does_not_write_is_refused_and_leaves_nothing() {
    let (place, file) = backed_up(&[]);
    let made = place.files.path().join("unpacked");
    fs::create_dir(&made).expect("made");
    let run = |arguments: &[&str]| {
        std::process::Command::new("tar")
            .arg("-C")
            .arg(&made)
            .args(arguments)
            .output()
            .is_ok_and(|output| output.status.success())
    };
    if !run(&["--zstd", "-xf", &file]) {
        return not_on_this_machine("`tar --zstd`");
    }
    symlink("/etc", made.join("out")).expect("linked");
    fs::write(made.join("evil"), "x").expect("written");
    let manifest = "wharf-backup.json";
    let archive = place.file("hostile");
    for (arguments, word) in [
        (vec![manifest, "state.sqlite3"], "ends before the list"),
        (vec![manifest, "evil"], "no backup has a file there"),
        (vec!["-P", "--transform=s,evil,../evil,", manifest, "evil"], "no backup has a file there"),
        (vec!["-P", "--transform=s,evil,/tmp/evil,", manifest, "evil"], "no backup has a file there"),
        (vec!["--transform=s,out,audit,S", manifest, "out"], "neither the file nor the directory"),
        // The second one becomes a hard link.
        (vec![manifest, "state.sqlite3", "state.sqlite3"], "no file, directory or link"),
        (vec![manifest, "state.sqlite3", manifest], "there twice"),
        (vec!["evil", manifest], "this is no backup"),
    ] {
        let arguments = [vec!["--format=gnu", "--zstd", "-cf", archive.as_str()], arguments].concat();
        assert!(run(&arguments), "{arguments:?}");
        refused(&place, &archive, 1, word);
    }
    let device = made.join("audit/null.jsonl");
    if std::process::Command::new("mknod").arg(&device).args(["c", "1", "3"]).status().is_ok_and(|made| made.success())
    {
        assert!(run(&["--format=gnu", "--zstd", "-cf", &archive, manifest, "audit/null.jsonl"]));
        refused(&place, &archive, 1, "no file, directory or link");
    }
    assert!(!Path::new("/tmp/evil").exists());
}

#[test]
fn nothing_is_replaced_that_was_not_meant() {
    let (place, file) = backed_up(&[]);
    let again = place.run(&["backup", &file]);
    assert!(again.code == Some(1) && again.err.contains("--replace"), "{again:?}");
    let number = || fs::metadata(&file).expect("is there").ino();
    let before = number();
    place.ran(&["backup", &file, "--replace"]);
    assert_ne!(number(), before, "it is another file");
    let occupied = place.run(&["restore", &file]);
    assert!(occupied.code == Some(3) && occupied.err.contains("not empty"), "{occupied:?}");
    let nowhere = place.run(&["backup", "/nonexistent/directory/file"]);
    assert!(nowhere.code == Some(1) && nowhere.err.contains("/nonexistent/directory/file"), "{nowhere:?}");
    let absent = elsewhere(&place, Path::new("/nonexistent/data"), &["backup", &place.file("absent")]);
    assert!(absent.code == Some(3) && absent.err.contains("there is no data directory"), "{absent:?}");
    assert!(!Path::new(&place.file("absent")).exists());
    let full = place.run(&["backup", "/dev/full"]);
    assert!(full.code == Some(1) && full.err.contains("cannot be written"), "{full:?}");
}

#[test]
fn parts_are_left_out_and_what_is_there_goes_through_a_pipe() {
    let (place, file) = backed_up(&["--without", "workspaces,audit"]);
    let empty = Data::alone();
    let told = ran(&place, empty.path(), &["restore", &file]);
    assert!(told.contains("In it: state.sqlite3, plugins") && told.contains("left out as asked"), "{told}");
    assert!(!empty.path().join("workspaces").exists());
    // The only line of its audit says where the directory is from.
    let lines = ran(&place, empty.path(), &["audit", "--json"]);
    let line: Value = serde_json::from_str(&lines).unwrap_or_else(|error| panic!("{error}: {lines}"));
    assert_eq!(
        [&line["kind"], &line["function"], &line["asked"]],
        [&json!("operator"), &json!("restore"), &json!(file)]
    );
    assert_eq!(notes(place.data.path()).len(), 1);

    let config = place.files.path().join("wharf.toml");
    let other = Data::alone();
    let data = other.path().join("data");
    let piped = place.files.path().join("piped");
    let script = format!("\"$@\" > '{}'", piped.display());
    let run = wharf(["backup", "-", "--json"]).config(&config).data(place.data.path()).through(&script).run();
    let report: Value = serde_json::from_str(&run.err).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert_eq!((run.code, &report["format"]), (Some(0), &json!(1)), "{run:?}");
    let piped = fs::File::open(piped).expect("is there");
    let run = wharf(["restore", "-", "--json"]).config(&config).data(&data).input(piped).run();
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    assert_eq!((run.code, &report["workspaces"]), (Some(0), &json!(1)), "{run:?}");
    let notes = notes(&data);
    assert_eq!(notes.len(), 1);
    assert_eq!(fs::read_to_string(&notes[0]).expect("read"), "a session's own");
    let closed = place.run(&["backup", "-"]);
    assert_eq!(closed.code, Some(0), "standard output is no terminal here: {}", closed.err);
}
