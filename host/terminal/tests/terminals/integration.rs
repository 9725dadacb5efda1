//! Shells that say themselves when their commands end.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use wharf_completion::detection::{Confidence, Nonce, Preset, Reason};
use wharf_spawn::{Bind, Sandbox, SandboxMechanism, Spawner};
use wharf_terminal::{Containment, ShellIntegration, TerminalRequest, TerminalSession, TurnState};
use wharf_test_support::soon_once;

use crate::support::{answered, begin, close, ended, is_there, request, said, spawner, started, until, within};

/// A directory with a home and the files of the integration.
struct Place {
    directory: TempDir,
    integration: ShellIntegration,
}

impl Place {
    fn new(bashrc: &str, zshrc: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join("home")).expect("a home");
        fs::write(directory.path().join("home/.bashrc"), bashrc).expect("a file");
        fs::write(directory.path().join("home/.zshrc"), zshrc).expect("a file");
        let integration = ShellIntegration::write(&directory.path().join("shells")).expect("written");
        Self { directory, integration }
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    fn request(&self, program: &str, arguments: &[&str]) -> TerminalRequest {
        let mut request = request(program, arguments);
        request.environment.retain(|(name, _)| name != "HOME");
        request.environment.push(("HOME".into(), self.home().into()));
        TerminalRequest { integration: Some(self.integration.clone()), ..request }
    }

    /// A shell that has shown its prompt.
    async fn shell(&self, program: &str) -> TerminalSession {
        let session = TerminalSession::start(&spawner(), self.request(program, &[])).await.expect("a session");
        started(&session, Preset::Shell).await;
        session
    }
}

/// The shells that are there.
fn shells() -> impl Iterator<Item = &'static str> {
    ["/bin/bash", "/usr/bin/zsh"].into_iter().filter(|program| is_there(program))
}

fn ended_with(state: &TurnState) -> Option<i32> {
    match state.decision.reason() {
        Some(Reason::CommandEnded { exit_code }) => exit_code,
        _ => panic!("not by the shell's word: {state:?}"),
    }
}

#[tokio::test]
async fn a_shell_says_when_each_command_ended_and_with_which_code() {
    let place = Place::new("", "");
    for shell in shells() {
        let session = place.shell(shell).await;
        for (line, code, answer) in [
            ("echo on''e", 0, "one\n"),
            ("(exit 42)", 42, ""),
            ("", 42, ""),
            ("sleep 0.4; printf 'Continue? (y/n) '; sleep 0.8; echo n''o", 0, "Continue? (y/n) no\n"),
            ("if true; then false; fi", 1, ""),
            ("no''nsense 2>/dev/null", 127, ""),
            ("sh -c 'kill -9 $$'", 137, ""),
            ("printf 'no end of the line'", 0, "no end of the line"),
        ] {
            let state = answered(&session, line, Preset::Shell).await;
            let said = said(&session, &state);
            assert_eq!(ended_with(&state), Some(code), "{shell}: {line}: {said:?}");
            assert_eq!(state.decision.verdict.expect("over").confidence, Confidence::Certain);
            // The prompt is no part of the answer.
            assert!(said.ends_with(answer) && !said.ends_with("$ "), "{shell}: {line}: {said:?}");
        }
        let state = answered(&session, "(", Preset::Shell).await;
        assert_eq!(state.decision.reason(), Some(Reason::NeedsContinuation), "{shell}: {state:?}");
        let state = answered(&session, "exit 3)", Preset::Shell).await;
        assert_eq!(ended_with(&state), Some(3));
        // What does not parse ends, too.
        let state = answered(&session, "echo )", Preset::Shell).await;
        assert!(ended_with(&state).is_some_and(|code| code != 0), "{shell}: {state:?}");
        let state = answered(&session, "sleep 0.3\nsleep 0.4\necho la''st", Preset::Shell).await;
        assert_eq!(ended_with(&state), Some(0));
        assert!(said(&session, &state).ends_with("last\n"), "{shell}: {:?}", said(&session, &state));
        close(&session).await;
    }
}

#[tokio::test]
async fn a_command_that_is_interrupted_has_ended() {
    let place = Place::new("", "");
    for shell in shells() {
        let session = place.shell(shell).await;
        let turn = begin(&session, "sleep 1000", Preset::Shell).await;
        until(&session, |session| !session.is_in_foreground()).await;
        // A shell forgets an interrupt that comes before its child is a program.
        while !turn.state().is_over() {
            session.press(&["C-c"]).await.expect("pressed");
            turn.completed(Duration::from_secs(1)).await;
        }
        assert_eq!(ended_with(&turn.state()), Some(130), "{shell}");
        close(&session).await;
    }
}

#[tokio::test]
async fn a_program_in_a_shell_that_asks_is_heard_before_its_command_ends() {
    let place = Place::new("", "");
    for shell in shells() {
        soon_once(shell, async || {
            let session = place.shell(shell).await;
            let state = answered(&session, "sh -c 'read a; echo Hello $a'", Preset::Shell).await;
            assert_eq!(state.decision.reason(), Some(Reason::AwaitsInput), "{shell}: {state:?}");
            let state = answered(&session, "Ann", Preset::Shell).await;
            assert_eq!(ended_with(&state), Some(0));
            assert!(said(&session, &state).ends_with("Hello Ann\n"), "{shell}");
            close(&session).await;
            // It was the end of a command that ran before, and no other was typed.
            within(Duration::from_secs(1), &state)
        })
        .await;
    }
}

#[tokio::test]
async fn what_the_user_has_set_up_stays_as_it_is() {
    let bashrc =
        "PROMPT_COMMAND=('printf \"own:%s:\" $?' 'PS1=\"mine \"'); PS0='begins '; alias two='echo 2'; PS2='more '";
    let zshrc = "precmd() { printf 'own:%s:mine\\n' $? }; preexec() { printf 'begins ' }; PS1='mine '; alias two='echo 2'; PS2='more '";
    let place = Place::new(bashrc, zshrc);
    for shell in shells() {
        let session = place.shell(shell).await;
        let state = answered(&session, "two; (exit 5)", Preset::Shell).await;
        assert_eq!(ended_with(&state), Some(5), "{shell}");
        let text = said(&session, &state);
        assert!(text.contains("begins 2\n"), "{shell}: {text:?}");
        until(&session, |session| session.screen().lines.iter().any(|line| line.contains("own:5:mine"))).await;
        let state = answered(&session, "echo 'a", Preset::Shell).await;
        assert_eq!(state.decision.reason(), Some(Reason::NeedsContinuation), "{shell}: {state:?}");
        until(&session, |session| session.screen().cursor_line().starts_with("more")).await;
        assert_eq!(ended_with(&answered(&session, "b'", Preset::Shell).await), Some(0));
        close(&session).await;
    }
    // One command instead of a list, as older versions have it.
    let place = Place::new("PROMPT_COMMAND='printf \"own:%s:\" $?'; set -u", "setopt nounset prompt_subst");
    for shell in shells() {
        let session = place.shell(shell).await;
        assert_eq!(ended_with(&answered(&session, "(exit 6)", Preset::Shell).await), Some(6), "{shell}");
        close(&session).await;
    }
}

#[tokio::test]
async fn no_program_is_shown_the_nonce_and_one_that_forges_a_mark_is_not_believed() {
    let place = Place::new("", "");
    for shell in shells() {
        let session = place.shell(shell).await;
        for line in ["env", "export -p", "set -x; true", "set +x", "exec 3>&1; sh -c env"] {
            let state = answered(&session, line, Preset::Shell).await;
            let text = said(&session, &state);
            let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
            assert!(!text.contains("NONCE") && words.all(|word| Nonce::new(word).is_err()), "{shell}: {line}: {text}");
        }
        let forged = r"printf '\033]133;D;0\007\033]133;D;0;nonce=\007\033]133;A;k=s;nonce=0123456789abcdef\007'";
        let state = answered(&session, &format!("{forged}; sleep 0.7; (exit 9)"), Preset::Shell).await;
        assert_eq!(ended_with(&state), Some(9), "{shell}");
        close(&session).await;
    }
}

#[tokio::test]
async fn a_shell_that_is_no_longer_ours_is_seen_to_wait() {
    let place = Place::new("", "");
    for shell in shells() {
        let session = place.shell(shell).await;
        let state = answered(&session, "exec sh", Preset::Shell).await;
        assert_eq!(state.decision.reason(), Some(Reason::ShellIdle), "{shell}: {state:?}");
        let state = answered(&session, "sleep 1; echo af''ter", Preset::Shell).await;
        assert_eq!(state.decision.reason(), Some(Reason::ShellIdle), "{shell}: {state:?}");
        assert!(said(&session, &state).contains("\nafter\n"));
        close(&session).await;
    }
    let session = place.shell("/bin/bash").await;
    // A failure that ends nothing does not end the shell at its prompt.
    answered(&session, "set -e", Preset::Shell).await;
    assert_eq!(ended_with(&answered(&session, "! true", Preset::Shell).await), Some(1));
    let state = answered(&session, "false", Preset::Shell).await;
    assert_eq!(state.decision.reason(), Some(Reason::ProcessExited));
    ended(&session).await;
}

#[tokio::test]
async fn a_line_that_is_typed_before_the_first_prompt_ends_with_its_own_command() {
    let place = Place::new("sleep 0.5", "sleep 0.5");
    for shell in shells() {
        let session = TerminalSession::start(&spawner(), place.request(shell, &[])).await.expect("a session");
        let state = answered(&session, "sleep 0.6; echo fi''rst", Preset::Shell).await;
        assert_eq!(ended_with(&state), Some(0), "{shell}");
        assert!(said(&session, &state).ends_with("first\n"), "{shell}: {:?}", said(&session, &state));
        close(&session).await;
    }
}

#[tokio::test]
async fn arguments_that_say_otherwise_are_followed() {
    let place = Place::new("echo OWN", "");
    for arguments in [&["--norc"][..], &["-c", "read a; echo $a"]] {
        let session =
            TerminalSession::start(&spawner(), place.request("/bin/bash", arguments)).await.expect("a session");
        let state = answered(&session, "echo x", Preset::Shell).await;
        assert!(!matches!(state.decision.reason(), Some(Reason::CommandEnded { .. })), "{state:?}");
        assert!(session.marks(0).is_empty());
        close(&session).await;
    }
}

#[tokio::test]
async fn a_contained_shell_says_it_too_and_a_contained_program_is_found_to_wait() {
    let place = Place::new("", "");
    for contained in [SandboxMechanism::Namespaces, SandboxMechanism::Landlock] {
        let spawner = Spawner::with(contained);
        let found = spawner.capabilities().await.expect("an answer");
        if found.containment.is_err() {
            continue;
        }
        let users = if found.another_user { vec![None, Some(65534)] } else { vec![None] };
        for user in users {
            for shell in shells() {
                if let Some(user) = user {
                    std::os::unix::fs::chown(place.home(), Some(user), Some(user)).expect("another owner");
                    // Where nothing is mounted, the way there has to be open.
                    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                    fs::set_permissions(place.directory.path(), open).expect("opened");
                }
                let sandbox = Sandbox { writable: vec![Bind::same(place.home())], ..Sandbox::default() };
                let request = TerminalRequest {
                    working_directory: place.home(),
                    containment: Containment::Required(sandbox),
                    user,
                    ..place.request(shell, &[])
                };
                let session = TerminalSession::start(&spawner, request).await.expect("a session");
                let name = format!("{shell}, {contained:?} as {user:?}");
                started(&session, Preset::Shell).await;
                let state = answered(&session, "sleep 0.3; (exit 7)", Preset::Shell).await;
                assert_eq!(ended_with(&state), Some(7), "{name}");
                // By the machine's clock: the turn's own leaves out when nobody could look.
                let began = Instant::now();
                let state = answered(&session, "sh -c 'sleep 0.5; read a'", Preset::Shell).await;
                assert_eq!(state.decision.reason(), Some(Reason::AwaitsInput), "{name}: {state:?}");
                assert!(began.elapsed() >= Duration::from_millis(500), "{name}: {state:?}");
                close(&session).await;
            }
        }
    }
}
