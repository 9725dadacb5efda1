//! Hosts with wrong keys, and configurations that make no cluster.

use serde_json::json;
use wharf_tests::{Authority, Holds, wharf};

use super::{POLL, SHELL, cluster, poll, started};

#[test]
fn a_host_with_a_wrong_or_expired_certificate_is_not_reached_and_reaches_nobody() {
    let Some(cluster) = cluster() else { return };
    let one = cluster.host("one");
    let process = started(&one, "s", "sleep 1000");
    let foreign = Authority::new();
    for (name, authority, holds) in [("foreign", &foreign, Holds::Now), ("expired", &cluster.authority, Holds::Before)]
    {
        let stranger = cluster.host_in(name, cluster.prepare(name, authority, holds));
        let code = stranger.code("s", POLL, &poll(&process));
        assert_eq!(code.as_deref(), Some("unavailable"), "{name} reaches nobody");
        started(&stranger, name, "sleep 1000");
        assert_eq!(one.code(name, SHELL, &json!({"command": "true"})).as_deref(), Some("unavailable"), "{name}");
        assert_eq!(one.state_of(name), "alive", "who is not reached by one is not dead");
    }
    assert_eq!(one.code("s", POLL, &poll(&process)), None);
    one.server.until_logged("showed no certificate of its hosts");
}

#[test]
fn a_host_says_what_keeps_it_from_its_cluster() {
    let Some(cluster) = cluster() else { return };
    let one = cluster.host("one");
    let refused = |change: &dyn Fn(String) -> String, words: &str| {
        let data = cluster.prepare("two", &cluster.authority, Holds::Now);
        let file = data.path().join("wharf.toml");
        let text = std::fs::read_to_string(&file).expect("a file");
        std::fs::write(&file, change(text)).expect("written");
        let token = data.path().join("http-token");
        let run = wharf(["serve", "--http", "127.0.0.1:0", "--http-token-file", token.to_str().expect("text")])
            .config(&file)
            .data(data.path())
            .run();
        assert!(run.code == Some(3) && run.err.contains(words), "{words}: {run:?}");
    };
    refused(&|text| text.replace("name = \"test\"", "name = \"other\""), "belongs to the cell `test`");
    refused(&|text| text.replace("database_file = \"database\"", ""), "`database_file` under [state]");
    refused(&|text| text.replace("host.pem", "absent.pem"), "absent.pem");
    refused(&|text| text.replace("localhost:", "localhost"), "write the address as NAME:PORT");
    refused(&|text| format!("{text}\n[plugins]\nfolder = \"plugins\"\n"), "is for one host");
    let address = one.server.data.path().join("wharf.toml");
    let address = std::fs::read_to_string(address).expect("a file");
    let taken = address.lines().find(|line| line.starts_with("address")).expect("an address").to_owned();
    refused(
        &|text| {
            text.lines()
                .map(|line| if line.starts_with("address") { &taken } else { line })
                .fold(String::new(), |text, line| text + line + "\n")
        },
        "cannot listen for the other hosts",
    );
    let own = cluster.prepare("two", &cluster.authority, Holds::Now);
    let run = wharf(["serve", "--http", "127.0.0.1:0"]).config(&own.path().join("wharf.toml")).data(own.path()).run();
    assert!(run.code == Some(3) && run.err.contains("name the same tokens at all hosts"), "{run:?}");
    assert_eq!(one.hosts().len(), 1, "nobody has joined");
}
