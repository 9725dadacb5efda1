//! Programs that no pattern was made for: what the system knows of them is
//! enough.

use std::time::Duration;

use wharf_completion::detection::{Layer, Preset};
use wharf_test_support::soon_once;

use crate::support::{answered, close, is_there, said, start, started, within};

/// Lines, and what their answers end with.
type Conversation<'c> = &'c [(&'c str, &'c str)];

async fn converse(program: &str, arguments: &[&str], conversation: Conversation<'_>) {
    if is_there(program) {
        soon_once(program, async || attempt(program, arguments, conversation).await).await;
    }
}

async fn attempt(program: &str, arguments: &[&str], conversation: Conversation<'_>) -> Result<(), String> {
    let session = start(program, arguments).await;
    started(&session, Preset::Shell).await;
    for (line, end) in conversation {
        let state = answered(&session, line, Preset::Shell).await;
        let said = said(&session, &state);
        assert!(
            said.trim_end().ends_with(end) || (program.ends_with("tmux") && said.contains(end)),
            "{program}: {line}: {said:?} lacks {end:?}: {state:?}"
        );
        assert_eq!(state.decision.layer(), Some(Layer::Status), "{program}: {line}: {state:?}");
        within(Duration::from_secs(1), &state)?;
    }
    close(&session).await;
    Ok(())
}

#[tokio::test]
async fn interpreters_and_tools_are_done_when_they_wait_whatever_they_show() {
    converse("/usr/bin/bc", &["-q"], &[("6 * 7", "\n42"), ("2 ^ 300000 % 7", "\n1"), ("x = 5", "x = 5")]).await;
    converse("/usr/bin/dc", &[], &[("6 7 * p", "\n42")]).await;
    converse("/usr/bin/ed", &[], &[("a", "a"), ("text", "text"), (".", "."), ("p", "\ntext"), ("nonsense", "\n?")])
        .await;
    converse("/usr/bin/awk", &["{ system(\"sleep 0.7\"); print $1 * 2 }"], &[("21", "\n42")]).await;
    converse(
        "/usr/bin/perl",
        &["-de0"],
        &[("print 6 * 7", "42\n  DB<2>"), ("sleep 1; print 'la' . 'te'", "late\n  DB<3>")],
    )
    .await;
    converse("/usr/bin/tclsh", &[], &[("expr 6 * 7", "42\n%"), ("after 900; puts la[]te", "late\n%")]).await;
    converse("/usr/bin/lua", &["-i"], &[("print(6 * 7)", "42\n>"), ("function f()", ">>"), ("end", "\n>")]).await;
    converse(
        "/bin/dash",
        &["-i"],
        &[("sleep 0.8; echo la''te", "late\n$"), ("if true", ">"), ("then echo y''es; fi", "yes\n$")],
    )
    .await;
    converse("/usr/bin/vim", &["-N", "-u", "NONE", "-e"], &[("sleep 800m | echo 'la' .. 'te'", "late\n:")]).await;
}

#[tokio::test]
async fn a_program_that_hands_its_terminal_to_a_service_is_judged_by_its_screen() {
    // The service reads the terminal, and the program in front only waits. The
    // status line would be drawn again at each new minute, within any answer.
    let name = format!("wharf-test-{}", std::process::id());
    let prompt = "PS1='ann@host:~$ ' exec sh -i";
    let arguments = ["-L", &name, "-f", "/dev/null", "new-session", prompt, ";", "set", "-g", "status", "off"];
    converse(
        "/usr/bin/tmux",
        &arguments,
        &[("echo o''ne", "one\nann@host:~$"), ("sleep 1.2; echo la''te", "late\nann@host:~$")],
    )
    .await;
}
