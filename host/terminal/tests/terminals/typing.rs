//! What is typed, and what is not.

use wharf_terminal::{InputRules, RefusedWord, TerminalError, TerminalRequest, TerminalSession};

use crate::support::{all_text, bash, close, ended, printed, request, shell, spawner, start, until};

#[tokio::test]
async fn end_of_file_is_a_key_and_no_text() {
    let session = start("/bin/cat", &[]).await;
    let refused = session.type_text("\u{4}").await.expect_err("refused");
    assert!(refused.to_string().contains("send it as the key C-d"), "{refused}");
    session.submit("one").await.expect("typed");
    printed(&session, "one\none\n").await;
    session.press(&["C-d"]).await.expect("pressed");
    ended(&session).await;
    assert_eq!(all_text(&session), "one\none\n");
}

#[tokio::test]
async fn a_configured_word_does_not_reach_the_program() {
    let reason = "close the terminal instead".into();
    let rules = InputRules { refused: vec![RefusedWord { word: "exit".into(), reason }], ..InputRules::default() };
    let request = TerminalRequest { rules, ..request("/bin/cat", &[]) };
    let session = TerminalSession::start(&spawner(), request).await.expect("a session");
    let refused = session.submit("exit").await.expect_err("refused");
    assert_eq!(refused.to_string(), "the line \"exit\" is refused here: close the terminal instead");
    session.submit("exit code").await.expect("typed");
    printed(&session, "exit code\nexit code\n").await;
    close(&session).await;
}

#[tokio::test]
async fn an_unknown_key_presses_none_of_the_others() {
    let session = bash().await;
    let refused = session.press(&["x", "Enter", "F99"]).await.expect_err("no key");
    assert!(matches!(&refused, TerminalError::Key(_)) && refused.to_string().contains("PageDown"), "{refused}");
    session.press(&["y"]).await.expect("pressed");
    until(&session, |session| session.screen().cursor_line() == "$ y").await;
    close(&session).await;
}

#[tokio::test]
async fn arrow_keys_are_sent_in_the_mode_that_the_program_set() {
    let script = r"stty raw -echo; printf 'ready\033[?1h'; dd bs=1 count=3 2>/dev/null | od -An -c | tr -d ' \n'";
    let session = shell(script).await;
    until(&session, |session| session.modes().application_cursor).await;
    session.press(&["Up"]).await.expect("pressed");
    printed(&session, "033OA").await;
    ended(&session).await;
}

#[tokio::test]
async fn a_password_is_asked_for_without_echo_and_that_can_be_seen() {
    let session = shell("stty -echo; printf 'Password: '; read word; stty echo; echo; echo length:${#word}").await;
    until(&session, |session| session.line_mode().is_some_and(|mode| mode.canonical && !mode.echo)).await;
    printed(&session, "Password: ").await;
    session.submit("secret").await.expect("typed");
    ended(&session).await;
    assert_eq!(all_text(&session), "Password: \nlength:6\n");
}

#[tokio::test]
async fn typing_that_nobody_reads_can_be_given_up_and_typed_again_later() {
    let session =
        shell("stty raw -echo; echo ready; read line < /dev/null; sleep 0.3; exec head -c 200000 | wc -c").await;
    printed(&session, "ready").await;
    // Far more than the terminal takes while nobody reads.
    let typing = session.write(vec![b'x'; 1_000_000]);
    let given_up = tokio::time::timeout(std::time::Duration::from_millis(50), typing).await;
    assert!(given_up.is_err());
    while !all_text(&session).contains("200000") {
        let typing = session.write(vec![b'x'; 1000]);
        if let Ok(Err(_)) = tokio::time::timeout(std::time::Duration::from_millis(50), typing).await {
            break;
        }
    }
    ended(&session).await;
    printed(&session, "200000").await;
}
