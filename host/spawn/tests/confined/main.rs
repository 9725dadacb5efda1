//! A process that confines itself as a host does, and then tries to get out: each way has to fail, and what a host
//! lives by has to work.
//!
//! Without the harness of tests, which has threads: a process that confines itself has one.

#![cfg_attr(not(target_os = "linux"), expect(missing_docs, reason = "there is nothing to confine"))]

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod lives;

#[cfg(not(target_os = "linux"))]
fn main() {}

/// First argument of the process that tries.
#[cfg(target_os = "linux")]
const TRY: &str = "try";

#[cfg(target_os = "linux")]
#[expect(clippy::print_stderr, reason = "the result of a test without a harness")]
fn main() {
    use std::{
        fs,
        net::TcpListener,
        os::{
            linux::net::SocketAddrExt as _,
            unix::{
                fs::PermissionsExt as _,
                net::{SocketAddr, UnixListener},
                process::CommandExt as _,
            },
        },
        process::Command,
    };

    lives::serve_part();
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, first, place, port, beyond] = arguments.as_slice()
        && first == TRY
    {
        std::process::exit(i32::from(!inside(place.as_ref(), port.parse().expect("a port"), beyond)));
    }
    let offered = wharf_spawn::confine::confinement_offered();
    if let Some(lacks) = offered.lacks() {
        eprintln!("skipped: {lacks}");
        return;
    }
    let is_root = rustix::process::geteuid().is_root();
    // Root keeps some capabilities, and every other user has none.
    for user in [None, is_root.then_some(61_234_u32)].into_iter().take(1 + usize::from(is_root)) {
        let place = tempfile::tempdir().expect("a directory");
        for part in ["in", "out"] {
            let part = place.path().join(part);
            fs::create_dir(&part).expect("a directory");
            fs::write(part.join("file"), part.display().to_string()).expect("a file");
            for path in [&part, &part.join("file")] {
                fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("a mode");
            }
        }
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
        // Of a process outside, which this one is.
        let name = format!("wharf-confined-{}", std::process::id());
        let beyond = SocketAddr::from_abstract_name(&name).expect("a name");
        let _beyond = UnixListener::bind_addr(&beyond).expect("a socket");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port().to_string();
        let program = std::env::current_exe().expect("this program");
        // Other users may not pass to where it was built.
        let copy = place.path().join("program");
        fs::copy(&program, &copy).expect("a copy");
        let mut command = Command::new(&copy);
        command.arg(TRY).arg(place.path()).arg(&port).arg(&name);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let status = command.status().expect("it runs");
        assert!(status.success(), "as {user:?}: {status}");
        let left = fs::read_to_string(place.path().join("out/file")).expect("a file");
        assert!(left.ends_with("/out"), "what is outside is as it was: {left}");
        assert_eq!(fs::read_dir(place.path().join("out")).expect("a directory").count(), 1);
    }
}

/// Confines this process, and says whether it is kept in and lives.
#[cfg(target_os = "linux")]
#[expect(clippy::print_stderr, reason = "the result of a test without a harness")]
fn inside(place: &std::path::Path, port: u16, beyond: &str) -> bool {
    use wharf_spawn::confine::{ConfineError, Confinement, confine_host, is_confined};

    let confinement = Confinement { writable: vec![place.join("in")], ..Confinement::default() };
    // What has another thread would keep it unconfined.
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let other = std::thread::spawn(move || stopped.recv());
    let early = confine_host(&confinement);
    assert!(matches!(early, Err(ConfineError::Threads(2))) && !is_confined(), "{early:?}");
    drop(stop);
    let _ = other.join();
    // The system takes the thread apart after it was joined.
    while std::fs::read_dir("/proc/self/task").expect("threads").count() > 1 {
        std::thread::yield_now();
    }
    let tried =
        wharf_escapes::AttemptPlace { inside: place.join("in"), outside: place.join("out"), beyond: beyond.to_owned() };
    let ready = wharf_escapes::Ready::new(&tried).expect("what an attacker has");
    let report = confine_host(&confinement).expect("confined");
    assert!(report.is_complete() && is_confined(), "{report:?}");
    assert!(matches!(confine_host(&confinement), Err(ConfineError::Again)));
    let mut is_well = true;
    for (name, outcome) in wharf_escapes::all(&tried, &ready, &[]) {
        if !wharf_escapes::is_refused(outcome.as_ref().err().and_then(std::io::Error::raw_os_error)) {
            is_well = false;
            eprintln!("a confined process could {name}: {outcome:?}");
        }
    }
    for (name, outcome) in lives::all(place, port) {
        if let Err(error) = outcome {
            is_well = false;
            eprintln!("a confined process could not {name}: {error}");
        }
    }
    is_well
}
