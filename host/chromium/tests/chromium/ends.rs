//! How the browser and its pages end, and what is left: nothing.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    task::yield_now,
    time::{advance, pause, resume},
};
use wharf_chromium::{Chromium, ChromiumError};
use wharf_core::WebViewLimits;
use wharf_spawn::Spawner;
use wharf_test_support::{processes::lives, until, until_async};
use wharf_webview::{Operation, PageEvent, WebViewBackend as _};

use super::support::{Page, Stage, below, note, place, settings};

const ROLE: &str = "WHARF_TEST_HOST";

fn us() -> u32 {
    std::process::id()
}

/// The processes of browsers, and of what supervises them.
fn browsers() -> Vec<u32> {
    let ours = below(us()).into_iter().filter(|(_, arguments)| arguments.contains("--remote-debugging-pipe"));
    ours.map(|(pid, _)| pid).collect()
}

fn signal_browsers(signal: Signal) {
    for pid in browsers() {
        send(pid, signal);
    }
}

fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid");
    kill_process(pid, signal).expect("it is there");
}

fn kill(pid: u32) {
    send(pid, Signal::KILL);
}

/// Moves the clock, and lets the tasks that waited for it run.
async fn later(seconds: u64) {
    pause();
    advance(Duration::from_secs(seconds)).await;
    for _ in 0..10 {
        yield_now().await;
    }
    resume();
}

async fn closed(page: &Page<'_>) -> Option<String> {
    page.until("the page is closed", |events| {
        events.iter().find_map(|event| match event {
            PageEvent::Closed { unasked } => Some(unasked.clone()),
            _ => None,
        })
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_run_in_the_browsers_own_sandbox_as_a_user_of_their_own() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    page.go(&stage.site.page("/", "<p>x")).await;
    let renderers: Vec<_> =
        below(us()).into_iter().filter(|(_, arguments)| arguments.contains("--type=renderer")).collect();
    assert!(!renderers.is_empty());
    let own = fs::read_link("/proc/self/ns/user").expect("a namespace");
    for (pid, _) in renderers {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a status");
        let line = |name: &str| status.lines().find(|line| line.starts_with(name)).expect("a line").to_owned();
        assert_eq!(line("Seccomp:").split_whitespace().nth(1), Some("2"), "a filter of system calls");
        if rustix::process::geteuid().is_root() {
            assert_ne!(fs::read_link(format!("/proc/{pid}/ns/user")).expect("a namespace"), own);
            assert!(!line("Uid:").contains("\t0"), "{}", line("Uid:"));
        }
    }
    let environment = below(us()).into_iter().filter(|(_, arguments)| arguments.contains("--remote-debugging-pipe"));
    for (pid, _) in environment {
        let text = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains("CARGO"), "the host's environment is nobody's business");
    }
    stage.end().await;
}

/// Ports on which a process listens, whatever network it is in.
fn listening(pid: u32) -> Vec<String> {
    let sockets: Vec<_> = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(fs::read_link(entry.ok()?.path()).ok()?.to_str()?.to_owned()))
        .collect();
    let tables =
        ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines().skip(1));
    let columns = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    // The state of a socket that listens, and its inode.
    let listening = columns.filter(|columns| columns.get(3) == Some(&"0A"));
    listening
        .filter(|columns| columns.get(9).is_some_and(|inode| sockets.contains(&format!("socket:[{inode}]"))))
        .map(|columns| columns[1].to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_of_the_browser_listens_on_a_port() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    page.go(&stage.site.page("/", "<p>x</p>")).await;
    assert!(!listening(us()).is_empty(), "the site of this test listens, and is found");
    let processes = below(us());
    assert!(processes.iter().any(|(_, arguments)| arguments.contains("--type=renderer")), "{processes:?}");
    for (pid, arguments) in processes {
        assert_eq!(listening(pid), [""; 0], "{arguments}");
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_pages_leave_no_process_no_descriptor_and_no_directory() {
    let Some(stage) = Stage::new().await else { return };
    let url = stage.site.page("/", "<p>x");
    let first = stage.page_with(|settings| settings.downloads = true).await;
    first.go(&url).await;
    let descriptors = || fs::read_dir("/proc/self/fd").expect("descriptors").count();
    let directories = || walk(stage.temporary.path());
    let (processes, open) = (below(us()).len(), descriptors());
    for round in 0..20 {
        let mut pages = Vec::new();
        for _ in 0..10 {
            pages.push(stage.begin(|settings| settings.downloads = true));
        }
        for (number, page) in pages.iter().enumerate() {
            // Some are closed while they open.
            if (number + round) % 3 != 0 {
                page.until("it is open", |events| events.contains(&PageEvent::Opened).then_some(())).await;
            }
            if number == 0 {
                page.order(Operation::Navigate { url: url.clone() });
            }
        }
        for page in &pages {
            stage.chromium.close(page.id);
        }
        for page in &pages {
            assert_eq!(closed(page).await, None);
        }
    }
    // The renderer of the next page may be kept ready.
    until("the processes are gone", || below(us()).len() <= processes + 2).await;
    until("the descriptors are closed", || descriptors() <= open).await;
    assert_eq!(directories(), 1, "that of the first page");
    assert_eq!(first.run("'still here'").await, "still here");
    stage.end().await;
}

/// How many pages have a directory of downloads.
fn walk(place: &std::path::Path) -> usize {
    let mut count = 0;
    for browser in fs::read_dir(place).expect("a directory").flatten() {
        count += fs::read_dir(browser.path().join("downloads")).expect("a directory").count();
    }
    count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_is_killed_takes_its_pages_and_the_next_page_has_another_one() {
    let limits = WebViewLimits { crashes: 2, ..WebViewLimits::default() };
    let Some(stage) = Stage::with(limits).await else { return };
    for _ in 0..2 {
        let page = stage.page().await;
        let waits = page.inject("new Promise(() => {})");
        kill(stage.chromium.processes().await[0]);
        let why = closed(&page).await.expect("nobody asked for it");
        assert!(why.contains("ended by itself"), "{why}");
        let _ = waits;
        until("nothing of it is left", || browsers().is_empty()).await;
    }
    let page = stage.begin(|_| {});
    let why = closed(&page).await.expect("there is none");
    assert!(why.contains("crashed 2 times"), "{why}");
    stage.end().await;
}

#[tokio::test]
async fn a_browser_that_answers_nothing_is_killed() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    signal_browsers(Signal::STOP);
    until_async("the page is closed", async || {
        later(5).await;
        let closed = |event: &PageEvent| matches!(event, PageEvent::Closed { unasked: Some(_) });
        if page.events().iter().any(closed) { Ok(()) } else { Err(page.events()) }
    })
    .await;
    stage.end().await;
}

/// Its clock went on while it was stopped or its machine was paused, and its browser could not
/// answer meanwhile.
#[tokio::test]
async fn a_host_that_was_suspended_takes_no_browser_for_stuck() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.page().await;
    signal_browsers(Signal::STOP);
    // It asks for a sign of life, and is suspended before the answer comes.
    later(6).await;
    later(3_600).await;
    signal_browsers(Signal::CONT);
    assert_eq!(page.run("'still here'").await, "still here");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_without_a_page_is_stopped_after_a_while() {
    let limits = WebViewLimits { backend_idle_seconds: 1, ..WebViewLimits::default() };
    let Some(stage) = Stage::with(limits).await else { return };
    stage.page().await.close().await;
    until("the browser is stopped", || browsers().is_empty()).await;
    let page = stage.page().await;
    assert_eq!(page.run("'another one'").await, "another one");
    stage.end().await;
    assert_eq!(browsers(), [0; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_is_found_and_said_to_work_or_why_it_does_not() {
    let Some(stage) = Stage::new().await else { return };
    let found = Chromium::probe(Spawner::new(), settings(&stage.temporary, &stage.limits)).await.expect("a browser");
    assert!(found.version.contains("Chrome/") && found.sandbox, "{found:?}");
    let mut other = settings(&stage.temporary, &stage.limits);
    other.program = Some("/bin/false".into());
    let error = Chromium::probe(Spawner::new(), other).await.expect_err("no browser");
    assert!(error.to_string().contains("ended while it started"), "{error}");
    // What it says where its sandbox does not work.
    let program = stage.temporary.path().join("chromium");
    fs::write(
        &program,
        "#!/bin/sh\necho '[1:1:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox! ...' >&2; exit 1\n",
    )
    .expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let mut other = settings(&stage.temporary, &stage.limits);
    other.program = Some(program.clone());
    let error = Chromium::probe(Spawner::new(), other).await.expect_err("no sandbox");
    assert!(matches!(&error, ChromiumError::Sandbox { reason } if reason.contains("No usable sandbox")), "{error}");
    fs::remove_file(program).expect("gone");
    // Without it only where somebody says so.
    let mut other = settings(&stage.temporary, &stage.limits);
    other.no_sandbox = true;
    let found = Chromium::probe(Spawner::new(), other).await.expect("a browser");
    assert!(!found.sandbox);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_host_that_was_killed_lives_on_and_the_next_one_sweeps_its_directory() {
    let temporary = place();
    let mut host = Command::new(env::current_exe().expect("itself"))
        .args(["--exact", "ends::host", "--nocapture"])
        .env(ROLE, temporary.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a host");
    let lines = BufReader::new(host.stderr.take().expect("piped")).lines();
    let said = lines.map_while(Result::ok).find(|line| line == "ready" || line.contains("NOT TESTED"));
    if said.as_deref() != Some("ready") {
        host.wait().expect("its end");
        return note("NOT TESTED: there is no Chromium here");
    }
    let lived: Vec<_> = below(host.id()).into_iter().map(|(pid, _)| pid).collect();
    assert!(lived.len() > 3, "a browser is several processes");
    host.kill().expect("a kill");
    host.wait().expect("its end");
    until("the browser is gone", || !lived.iter().any(|pid| lives(*pid))).await;
    let left = || fs::read_dir(temporary.path()).expect("a directory").count();
    assert_eq!(left(), 1, "nobody was there to remove it");
    let limits = WebViewLimits::default();
    let next = Chromium::probe(Spawner::new(), settings(&temporary, &limits)).await;
    next.expect("a browser");
    assert_eq!(left(), 0);
}

/// Plays a host that is to be killed; does nothing when the tests are run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn host() {
    let Some(temporary) = env::var_os(ROLE) else { return };
    let Some(mut stage) = Stage::new().await else { return };
    let mut ours = settings(&place(), &stage.limits);
    ours.temporary = temporary.into();
    stage.chromium = Chromium::new(Spawner::new(), ours).expect("a browser").into();
    let page = stage.page().await;
    page.inject("while (true) {}");
    note("ready");
    std::future::pending::<()>().await;
}
