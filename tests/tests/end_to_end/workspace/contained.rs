//! What a command cannot reach, whatever it tries.

use std::net::TcpListener;

use serde_json::json;

use super::{run, setup};

#[tokio::test]
async fn a_command_reaches_neither_files_nor_processes_of_the_host() {
    let fixture = setup().open().await;
    let secret = fixture.data.write("secret", "nobody's business\n");
    let mark = format!("wharf-test-{}", std::process::id());
    let attempts = [
        format!("cat '{}'", secret.display()),
        format!("ls '{}'", fixture.data.path().join("cache").display()),
        format!("cat /proc/{}/environ /proc/{}/cmdline", std::process::id(), std::process::id()),
        format!("touch /usr/{mark} /etc/{mark} '{}'", fixture.data.path().join(&mark).display()),
        "cat /etc/shadow ~root/.ssh/*".to_owned(),
    ];
    for attempt in &attempts {
        let done = run(&fixture, attempt).await;
        assert_ne!(done.structured["exit_code"], 0, "{attempt}: {done:?}");
        assert!(!done.text.contains("nobody's business") && !done.text.contains("nextest"), "{done:?}");
    }
    let written = ["/usr", "/etc"].map(|place| std::path::Path::new(place).join(&mark));
    assert!(written.iter().chain([&fixture.data.path().join(&mark)]).all(|path| !path.exists()));
    // Its process ids are its own, or it may not signal others.
    let done = run(&fixture, &format!("kill -0 {} && grep -q nextest /proc/{0}/cmdline", std::process::id())).await;
    assert_ne!(done.structured["exit_code"], 0, "{done:?}");
}

#[tokio::test]
async fn a_command_has_no_network_unless_it_is_granted() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    listener.set_nonblocking(true).expect("it can be asked");
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached'");
    let fixture = setup().open().await;
    let done = run(&fixture, &connect).await;
    assert_ne!(done.structured["exit_code"], 0, "{done:?}");
    assert!(listener.accept().is_err(), "somebody came");

    let grants = "[plugin.workspace.grants.process]\nreason = \"a test\"\nshell = true\nnetwork = true";
    let granted = wharf_tests::Setup::new().bundled("workspace", grants).open().await;
    let done = run(&granted, &connect).await;
    assert_eq!((&done.structured["exit_code"], done.shown("stdout")), (&json!(0), "reached\n"), "{done:?}");
    assert!(listener.accept().is_ok());
}
