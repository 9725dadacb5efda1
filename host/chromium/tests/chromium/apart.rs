//! Browsers apart: from the files of the host, and those of each tenant from those of others.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use wharf_chromium::Chromium;
use wharf_core::WebViewLimits;
use wharf_spawn::{Spawner, offers_landlock};
use wharf_webview::{Operation, PageEvent, Settled, WebViewBackend as _, staging_of};

use super::support::{Page, Stage, below, note, place, settings};

/// A file that everybody may read, as far as its permissions go.
fn file(directory: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(directory).expect("a directory");
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).expect("open");
    let path = directory.join("some.txt");
    fs::write(&path, text).expect("a file");
    path
}

/// What the browser reads of a file that its page is given, or the name of its error.
async fn read(page: &Page<'_>, file: &Path) -> Value {
    page.go(&page.stage.site.page("/", "<input type=file id=f>")).await;
    let files = vec![file.to_owned()];
    let given = page.perform(Operation::SetFiles { element: "document.getElementById('f')".into(), files }).await;
    match given {
        Settled::Done(_) => {
            page.run("document.getElementById('f').files[0].text().catch(error => 'refused: ' + error.name)").await
        }
        Settled::Failed(failure) => json!(format!("refused: {}", failure.message)),
        other => panic!("{other:?}"),
    }
}

fn is_refused(read: &Value) -> bool {
    read.as_str().is_some_and(|text| text.starts_with("refused: "))
}

async fn apart(limits: WebViewLimits) -> Option<Stage> {
    Stage::set_up(limits, |settings| settings.shared = false).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_reads_what_its_pages_are_given_and_no_other_file_of_the_host() {
    if !offers_landlock() {
        return note("NOT TESTED: there is no Landlock here");
    }
    let elsewhere = place();
    let named = place();
    let Some(stage) = Stage::set_up(WebViewLimits::default(), |settings| {
        settings.readable = vec![named.path().to_owned(), "/no/such/directory".into()];
    })
    .await
    else {
        return;
    };
    let page = stage.page().await;
    assert_eq!(read(&page, &file(stage.staging.path(), "given")).await, "given");
    assert_eq!(read(&page, &file(named.path(), "named")).await, "named");
    let secret = file(elsewhere.path(), "secret");
    for closed in [secret.as_path(), Path::new("/etc/fstab"), Path::new("/etc/shadow")] {
        let read = read(&page, closed).await;
        assert!(is_refused(&read), "{}: {read}", closed.display());
    }
    stage.end().await;
}

/// A browser that somebody took over runs what it likes: here a script in its place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_in_the_place_of_the_browser_reads_writes_and_signals_nothing_of_the_host() {
    if !offers_landlock() {
        return note("NOT TESTED: there is no Landlock here");
    }
    let elsewhere = place();
    let secret = file(elsewhere.path(), "secret");
    fs::set_permissions(elsewhere.path(), fs::Permissions::from_mode(0o777)).expect("open");
    let (programs, staged) = (place(), place());
    file(&staged.path().join("tenant"), "of another tenant");
    let program = programs.path().join("browser");
    let tries = format!(
        "#!/bin/sh\n{{ cat {0} && echo READ; echo x > {1}/written && echo WRITTEN; ls {1} && echo LISTED\n\
         kill -STOP {2} && echo SIGNALLED; cat /proc/{2}/environ && echo ENVIRONMENT; ls /proc/{2}/fd && echo FILES\n\
         cat {3}/*/* && echo STAGED; }} > \"$HOME/trying\" 2>/dev/null\n\
         mv \"$HOME/trying\" \"$HOME/seen\"\nexec sleep 1000\n",
        secret.display(),
        elsewhere.path().display(),
        std::process::id(),
        staged.path().display(),
    );
    fs::write(&program, tries).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let Some(stage) =
        Stage::set_up(WebViewLimits::default(), |settings| settings.program = Some(program.clone())).await
    else {
        return;
    };
    let page = stage.begin(|_| {});
    let seen = wharf_test_support::until("it has tried", || {
        let profile = fs::read_dir(stage.temporary.path()).expect("a directory").flatten().next();
        let seen = profile.map(|profile| profile.path().join("profile/seen")).ok_or("no profile")?;
        fs::read_to_string(&seen).map_err(|_| "it tries")
    })
    .await;
    assert_eq!(seen, "", "it reached something");
    // The next one ends by itself, and so does the page.
    fs::write(&program, "#!/bin/sh\nexit 1\n").expect("a program");
    let asleep = below(std::process::id()).into_iter().find(|(_, arguments)| arguments.starts_with("sleep 1000"));
    kill(asleep.expect("it sleeps").0);
    closed(&page).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_once_did_not_start_apart_from_files_is_tried_so_again_and_then_held_to_it() {
    if !offers_landlock() {
        return note("NOT TESTED: there is no Landlock here");
    }
    let Some(found) = Stage::new().await else { return };
    let browser = Chromium::probe(Spawner::new(), settings(&found.temporary, &found.limits)).await.expect("a browser");
    let (elsewhere, programs) = (place(), place());
    let secret = file(elsewhere.path(), "secret");
    // Any user may write here, so that Landlock alone is in the way.
    fs::set_permissions(programs.path(), fs::Permissions::from_mode(0o777)).expect("open");
    let (program, well) = (programs.path().join("browser"), programs.path().join("well"));
    // It starts where files of the host are within its reach, and where they are not only with a file beside it.
    let script = format!(
        "#!/bin/sh\nhere=$(dirname \"$0\")\n[ -e \"$here/well\" ] || : > \"$here/written-$$\" || exit 1\nexec {} \"$@\"\n",
        browser.program.display()
    );
    fs::write(&program, script).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let set_up = Stage::set_up(WebViewLimits::default(), |settings| {
        settings.shared = false;
        settings.program = Some(program);
    });
    let Some(stage) = set_up.await else { return };

    let page = stage.page_of("acme").await;
    assert_eq!(fs::read_dir(programs.path()).expect("a directory").count(), 2, "it runs without");
    let kill_browser = async || kill(stage.chromium.processes().await[0]);
    kill_browser().await;
    closed(&page).await;

    fs::write(&well, "").expect("a file");
    let page = stage.page_of("acme").await;
    assert!(is_refused(&read(&page, &secret).await), "it is tried again");
    kill_browser().await;
    closed(&page).await;

    fs::remove_file(&well).expect("a file");
    // The browser of another tenant, too: it is the same program.
    let page = stage.begin(|settings| settings.tenant = "globex".parse().expect("a tenant"));
    closed(&page).await;
    assert!(!page.events().contains(&PageEvent::Opened));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_tenant_has_a_browser_that_ends_without_the_others() {
    let Some(stage) = apart(WebViewLimits::default()).await else { return };
    let (first, second) = (stage.page_of("acme").await, stage.page_of("globex").await);
    let again = stage.page_of("acme").await;
    let processes = stage.chromium.processes().await;
    assert_eq!(processes.len(), 2, "two tenants have two browsers");
    let users: Vec<_> = [&first, &second, &again].map(|page| stage.chromium.user(page.id)).to_vec();
    assert_eq!(users[0], users[2]);
    if rustix::process::geteuid().is_root() {
        assert_ne!(users[0], users[1]);
        let mut own: Vec<_> = processes
            .iter()
            .map(|pid| fs::metadata(format!("/proc/{pid}")).expect("a process").uid())
            .map(Some)
            .collect();
        own.sort_unstable();
        let mut said = vec![users[0], users[1]];
        said.sort_unstable();
        assert_eq!(own, said);
    }
    if offers_landlock() {
        let given = |tenant: &str| file(&staging_of(stage.staging.path(), &tenant.parse().expect("a tenant")), tenant);
        let (of_first, of_second) = (given("acme"), given("globex"));
        assert_eq!(read(&first, &of_first).await, "acme");
        let foreign = read(&second, &of_first).await;
        assert!(is_refused(&foreign), "{foreign}");
        assert_eq!(read(&second, &of_second).await, "globex");
    }
    kill(of_page(&stage, &second).await);
    closed(&second).await;
    assert_eq!(first.run("1 + 1").await, 2);
    assert_eq!(again.run("1 + 1").await, 2);
    assert_eq!(stage.page_of("globex").await.run("2 + 2").await, 4, "its tenant gets another one");
    stage.end().await;
}

async fn closed(page: &Page<'_>) {
    page.until("the page is closed", |events| events.iter().find(|event| is_closed(event)).map(drop)).await;
}

fn is_closed(event: &PageEvent) -> bool {
    matches!(event, PageEvent::Closed { .. })
}

/// The browser of a page whose tenant came last.
async fn of_page(stage: &Stage, page: &Page<'_>) -> u32 {
    let user = stage.chromium.user(page.id);
    let processes = stage.chromium.processes().await;
    let pid = match user {
        Some(user) => {
            let is_of = |pid: &u32| fs::metadata(format!("/proc/{pid}")).is_ok_and(|about| about.uid() == user);
            processes.into_iter().find(is_of)
        }
        // The one that was started last.
        None => processes.into_iter().max(),
    };
    pid.expect("a browser")
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process");
    kill_process(pid, Signal::KILL).expect("a kill");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_without_a_page_makes_room_and_one_with_a_page_does_not() {
    let limits = WebViewLimits { browsers: 1, ..WebViewLimits::default() };
    let Some(stage) = apart(limits).await else { return };
    let first = stage.page_of("acme").await;
    let second = stage.begin(|settings| settings.tenant = "globex".parse().expect("a tenant"));
    let why = second
        .until("the page is refused", |events| {
            events.iter().find_map(|event| match event {
                PageEvent::Closed { unasked } => Some(unasked.clone().unwrap_or_default()),
                _ => None,
            })
        })
        .await;
    assert!(why.contains("limit `browsers` under [webview.limits]"), "{why}");
    assert_eq!(first.run("1 + 1").await, 2, "nobody is evicted for another tenant");
    first.close().await;
    let third = stage.page_of("globex").await;
    assert_eq!(third.run("2 + 2").await, 4);
    assert_eq!(stage.chromium.processes().await.len(), 1);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_takes_the_memory_of_its_browser_costs_no_other_tenant() {
    const TAKE: &str =
        "const all = []; for (let i = 0; i < 12; i++) all.push(new Uint8Array(50 << 20).fill(1)); return all.length";
    let limits = WebViewLimits { browser_memory_bytes: 400 << 20, ..WebViewLimits::default() };
    let Some(stage) = apart(limits).await else { return };
    let other = stage.page_of("globex").await;
    let page = stage.page_of("acme").await;
    let token = page.inject(TAKE);
    let ended = wharf_test_support::until("it is stopped", || {
        if page.settled(token) || page.events().iter().any(|event| is_closed(event) || is_crash(event)) {
            return Ok(page.settled(token));
        }
        Err("it takes memory")
    })
    .await;
    if ended && let Settled::Envelope(envelope) = page.outcome(token).await {
        let envelope: Value = serde_json::from_str(&envelope).expect("an envelope");
        assert_ne!(envelope["value"], 12, "it had 600 MiB");
    }
    assert_eq!(other.run("1 + 1").await, 2);
    stage.end().await;
}

fn is_crash(event: &PageEvent) -> bool {
    matches!(event, PageEvent::Crashed)
}
