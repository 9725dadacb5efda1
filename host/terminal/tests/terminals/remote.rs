//! A shell on another machine, which here is this one: nothing is known of what
//! it does but what it shows.

use std::{fs, process::Command, time::Duration};

use tempfile::TempDir;
use wharf_completion::detection::{Layer, Preset, Reason};
use wharf_terminal::{TerminalSession, TurnState};
use wharf_test_support::soon_once;

use crate::support::{answered, begin, close, is_there, over, said, start, started, within};

const SSHD: &str = "/usr/sbin/sshd";

/// The keys and the settings of a server that serves one connection, without a
/// port: the client starts it.
fn server() -> Option<(TempDir, Vec<String>)> {
    if !is_there(SSHD) || !is_there("/usr/bin/ssh") || !is_there("/usr/bin/ssh-keygen") {
        return None;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    for name in ["host", "own"] {
        let arguments = ["-q", "-t", "ed25519", "-N", "", "-f", &path(name)];
        assert!(Command::new("/usr/bin/ssh-keygen").args(arguments).status().expect("a run").success());
    }
    fs::rename(path("own.pub"), path("keys")).expect("renamed");
    let settings = format!(
        "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPrintMotd no\n\
         PrintLastLog no\nPidFile none\n",
        path("host"),
        path("keys")
    );
    fs::write(path("settings"), settings).expect("a file");
    // As root it wants a directory that only its service makes, so it gets one
    // that nobody else sees.
    let serve = if rustix::process::geteuid().is_root() {
        format!("mount -t tmpfs tmpfs /run && mkdir /run/sshd && exec {SSHD} -i -f {}", path("settings"))
    } else {
        format!("exec {SSHD} -i -f {}", path("settings"))
    };
    fs::write(path("serve"), serve).expect("a file");
    let unshare = if rustix::process::geteuid().is_root() { "unshare -m " } else { "" };
    let options = [
        format!("UserKnownHostsFile={}", path("known")),
        format!("ProxyCommand={unshare}sh {}", path("serve")),
        format!("IdentityFile={}", path("own")),
    ];
    let mut arguments = vec!["-F".to_owned(), "none".to_owned()];
    arguments.extend(options.into_iter().flat_map(|option| ["-o".to_owned(), option]));
    let user = Command::new("id").arg("-un").output().expect("a run");
    arguments.push(format!("{}@elsewhere", String::from_utf8_lossy(&user.stdout).trim()));
    Some((directory, arguments))
}

#[tokio::test]
async fn a_remote_shell_is_done_at_its_prompt_and_what_it_runs_is_not_cut() {
    let Some((directory, arguments)) = server() else { return };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let session = start("/usr/bin/ssh", &arguments).await;
    let state = started(&session, Preset::Shell).await;
    assert_eq!(state.decision.reason(), Some(Reason::StrictPrompt), "{state:?}");
    assert!(session.screen().cursor_line().contains("(yes/no/[fingerprint])?"), "{:?}", session.screen());
    answered(&session, "yes", Preset::Shell).await;
    // Whatever the user's own prompt is.
    answered(&session, "PS1='ann@elsewhere:~$ '; PS2='> '; unset PROMPT_COMMAND; clear", Preset::Shell).await;
    let done = directory.path().join("done");
    for line in [
        "sleep 1.3",
        "echo Continue:; sleep 1.5",
        "for i in 1 2 3; do echo $i; sleep 0.6; done",
        "echo '$ '; sleep 2.5; printf '50%%'; sleep 0.5; echo",
        "seq 1 100000",
    ] {
        soon_once(line, async || {
            _ = fs::remove_file(&done);
            let state = answered(&session, &format!("{line}; touch {}", done.display()), Preset::Shell).await;
            assert!(done.exists(), "{line} was cut: {state:?}");
            at_prompt(&session, &state)
        })
        .await;
    }
    let state = answered(&session, "read -s -p 'Password: ' word; echo", Preset::Shell).await;
    assert_eq!(state.decision.reason(), Some(Reason::StrictPrompt), "{state:?}");
    // Its echo is waited for, since nobody here sees that there is none.
    let state = answered(&session, "secret", Preset::Shell).await;
    assert_eq!(state.decision.reason(), Some(Reason::StrictPrompt), "{state:?}");
    let turn = begin(&session, "exit 4", Preset::Shell).await;
    assert_eq!(over(&turn).await.decision.layer(), Some(Layer::Ended));
    close(&session).await;
}

#[track_caller]
fn at_prompt(session: &TerminalSession, state: &TurnState) -> Result<(), String> {
    assert_eq!(state.decision.reason(), Some(Reason::StrictPrompt), "{state:?}");
    let said = said(session, state);
    assert!(said.ends_with("ann@elsewhere:~$ "), "{said:?}");
    // No later than the quiet time says.
    within(Duration::from_secs(1), state)
}
