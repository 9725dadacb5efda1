//! Terminals of programs that are contained, by each way this machine has.

use wharf_spawn::{Bind, Sandbox, SandboxMechanism, Spawner};
use wharf_terminal::{Containment, ProgramExit, TerminalRequest, TerminalSession};

use crate::support::{all_text, close, ended, printed, request, until};

#[tokio::test]
async fn a_contained_shell_has_its_terminal_and_job_control() {
    for contained in [SandboxMechanism::Namespaces, SandboxMechanism::Landlock] {
        let spawner = Spawner::with(contained);
        let found = spawner.capabilities().await.expect("an answer");
        if found.containment.is_err() {
            continue;
        }
        let users = if found.another_user { vec![None, Some(65534)] } else { vec![None] };
        for user in users {
            let directory = tempfile::tempdir().expect("a directory");
            if let Some(user) = user {
                std::os::unix::fs::chown(directory.path(), Some(user), Some(user)).expect("another owner");
            }
            let sandbox = Sandbox { writable: vec![Bind::same(directory.path())], ..Sandbox::default() };
            let request = TerminalRequest {
                working_directory: directory.path().into(),
                containment: Containment::Required(sandbox),
                user,
                ..request("/bin/bash", &["--norc", "--noprofile", "-i"])
            };
            let session = TerminalSession::start(&spawner, request).await.expect("a session");
            let prompt = |session: &TerminalSession| session.screen().cursor_line().ends_with('$');
            until(&session, prompt).await;
            let name = format!("{contained:?} as {user:?}: {}", all_text(&session));
            assert!(!all_text(&session).contains("no job control"), "{name}");
            assert!(session.is_in_foreground(), "{name}");
            session.submit("echo own > /dev/tty; stty size < /dev/tty; echo err > /dev/stderr").await.expect("typed");
            printed(&session, "\nown\n24 80\nerr\n").await;
            // Keys become signals for the program in the foreground.
            session.submit("sh -c 'echo be\"\"gun; exec sleep 1000'").await.expect("typed");
            printed(&session, "\nbegun\n").await;
            assert!(!session.is_in_foreground(), "{name}");
            session.press(&["C-c"]).await.expect("pressed");
            until(&session, |session| session.is_in_foreground() && prompt(session)).await;
            session.submit("exit 5").await.expect("typed");
            assert_eq!(ended(&session).await.exit, Some(ProgramExit::Exited { code: 5 }), "{name}");
            assert!(close(&session).await.finished);
        }
    }
}

#[tokio::test]
async fn a_contained_program_cannot_type_into_its_own_terminal() {
    for contained in [SandboxMechanism::Namespaces, SandboxMechanism::Landlock] {
        let spawner = Spawner::with(contained);
        if spawner.capabilities().await.expect("an answer").containment.is_err() {
            continue;
        }
        let script = r#"my $typed = "x"; print ioctl(STDIN, 0x5412, $typed) ? "ESCAPED" : "refused""#;
        let containment = Containment::Required(Sandbox::default());
        let request = TerminalRequest { containment, ..request("/usr/bin/perl", &["-e", script]) };
        let session = TerminalSession::start(&spawner, request).await.expect("a session");
        ended(&session).await;
        assert_eq!(all_text(&session), "refused", "{contained:?}");
    }
}
