//! What a host lives by, which has to work in its confinement.

use std::{
    fs::{self, File},
    io,
    net::{TcpListener, TcpStream, ToSocketAddrs as _},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
};

use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use wharf_spawn::{
    ChildInput, ChildLimits, ChildOutput, Containment, OutsidePart, SpawnRequest, Spawner, serve_outside,
};

use crate::calls;

/// First argument of a part that stays outside.
const PART: &str = "wharf-test:part";

/// Answers as the part, where this process is it.
pub(crate) fn serve_part() {
    serve_outside(PART, |path: String| fs::read_to_string(path).ok());
}

pub(crate) fn all(place: &Path, port: u16) -> Vec<(&'static str, io::Result<()>)> {
    let inside = place.join("in");
    vec![
        ("use its files", files(&inside)),
        ("run code that it has compiled", calls::run_code()),
        ("map code that it has kept", File::open(inside.join("file")).and_then(|file| calls::map_code(&file))),
        ("start threads", std::thread::Builder::new().spawn(|| ()).and_then(|thread| joined(thread.join()))),
        ("look up names", ("localhost", port).to_socket_addrs().map(drop)),
        ("connect", TcpStream::connect(("127.0.0.1", port)).map(drop)),
        ("listen", TcpListener::bind("127.0.0.1:0").map(drop)),
        ("use sockets of its own", sockets(&inside)),
        ("open a terminal", terminal()),
        (
            "be told of changes",
            rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::CLOEXEC)
                .and_then(|notices| {
                    rustix::fs::inotify::add_watch(notices, &inside, rustix::fs::inotify::WatchFlags::CREATE)
                })
                .map(drop)
                .map_err(io::Error::from),
        ),
        ("know itself", itself()),
        ("know the machine", fs::read_to_string("/proc/meminfo").map(drop)),
        ("use the null device", fs::write("/dev/null", "x")),
        ("ask a part outside", part(place)),
        ("have programs started", programs()),
    ]
}

fn files(inside: &Path) -> io::Result<()> {
    fs::create_dir(inside.join("directory"))?;
    fs::write(inside.join("directory/file"), "kept")?;
    fs::rename(inside.join("directory/file"), inside.join("renamed"))?;
    fs::hard_link(inside.join("renamed"), inside.join("directory/again"))?;
    let file = File::options().write(true).open(inside.join("renamed"))?;
    file.set_len(2)?;
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)?;
    file.lock()?;
    if fs::read_to_string(inside.join("directory/again"))? != "ke" {
        return Err(io::Error::other("it is another file"));
    }
    fs::remove_dir_all(inside.join("directory"))
}

fn joined(result: std::thread::Result<()>) -> io::Result<()> {
    result.map_err(|_| io::Error::other("it panicked"))
}

fn sockets(inside: &Path) -> io::Result<()> {
    let listener = UnixListener::bind(inside.join("socket"))?;
    UnixStream::connect(inside.join("socket"))?;
    listener.accept().map(drop)
}

fn terminal() -> io::Result<()> {
    let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    unlockpt(&host)?;
    let name = ptsname(&host, Vec::new())?;
    File::options().read(true).write(true).open(std::ffi::OsStr::new(name.to_str().map_err(io::Error::other)?))?;
    Ok(())
}

/// What `/proc` says of a confined process, where nobody can take it back.
fn itself() -> io::Result<()> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line =
        |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned();
    // CHOWN, DAC_OVERRIDE and FOWNER.
    let kept = if rustix::process::geteuid().is_root() { "000000000000000b" } else { "0000000000000000" };
    let said = ["NoNewPrivs:", "Seccomp:", "CapEff:", "CapPrm:", "CapInh:", "CapAmb:"].map(line);
    let none = "0000000000000000";
    if said == ["1", "2", kept, kept, none, none] {
        return Ok(());
    }
    Err(io::Error::other(format!("{said:?}")))
}

fn part(place: &Path) -> io::Result<()> {
    let part = OutsidePart::start(PART)?;
    let answer: Option<String> = part.ask(&place.join("out/file").display().to_string())?;
    if answer.is_some_and(|text| text.ends_with("/out")) { Ok(()) } else { Err(io::Error::other("it says nothing")) }
}

fn programs() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let request = SpawnRequest {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), "grep NoNewPrivs /proc/self/status".into()],
            environment: Vec::new(),
            working_directory: "/".into(),
            stdin: ChildInput::Null,
            stdout: ChildOutput::Pipe,
            stderr: ChildOutput::Null,
            descriptors: Vec::new(),
            limits: ChildLimits::default(),
            containment: Containment::None,
            user: None,
        };
        let mut child = Spawner::new().spawn(request).await.map_err(io::Error::other)?;
        let mut said = String::new();
        let mut output = child.take_stdout().ok_or_else(|| io::Error::other("no output"))?;
        tokio::io::AsyncReadExt::read_to_string(&mut output, &mut said).await?;
        child.wait().await.map_err(io::Error::other)?;
        if said.trim_end().ends_with('0') { Ok(()) } else { Err(io::Error::other(format!("it says {said:?}"))) }
    })
}
