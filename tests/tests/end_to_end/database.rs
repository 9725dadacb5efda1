//! State on a PostgreSQL server: hosts with data directories of their own share it.

use std::fs;

use serde_json::{Value, json};
use wharf_test_support::postgres::PostgresServer;
use wharf_tests::{Client, Command, Data, Finished, Setup, wharf};

/// A server, and a configuration that names it.
struct Place {
    config: Data,
    server: PostgresServer,
}

impl Place {
    fn new() -> Option<Self> {
        let server = PostgresServer::start()?;
        let config = Data::alone();
        config.write(
            "wharf.toml",
            format!("{}\n[state]\ndatabase_file = \"database\"\n", Setup::bare().planning().text()),
        );
        config.write_private("database", server.connection("postgres"));
        Some(Self { config, server })
    }

    fn command(&self, data: &Data, arguments: &[&str]) -> Command {
        wharf(arguments).config(&self.config.path().join("wharf.toml")).data(data.path())
    }

    fn run(&self, data: &Data, arguments: &[&str]) -> Finished {
        self.command(data, arguments).run()
    }

    /// What a run prints that must succeed.
    #[track_caller]
    fn ran(&self, data: &Data, arguments: &[&str]) -> String {
        let run = self.run(data, arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        run.out
    }
}

#[test]
fn hosts_with_data_directories_of_their_own_share_the_state_of_a_database() {
    let Some(place) = Place::new() else { return };
    let (one, other) = (Data::new(), Data::new());
    place.ran(&one, &["call", "planning__create_goal", r#"{"goal":"가나다"}"#, "--session", "s"]);
    let goals = place.ran(&other, &["call", "planning__list_goals", "--session", "s"]);
    assert!(goals.contains("가나다"), "{goals}");
    assert!(!one.path().join("state.sqlite3").exists(), "a file was made, too");

    let usage: Value = serde_json::from_str(&place.ran(&other, &["state", "usage", "--json"])).expect("JSON");
    assert_eq!((&usage["plugin"], &usage["buckets"]), (&json!("planning"), &json!(1)));
    let exported = place.ran(&other, &["state", "export"]);
    let file = place.config.path().join("state.jsonl");
    fs::write(&file, &exported).expect("written");
    let file = file.to_str().expect("text");

    // Into a file and back, byte for byte.
    let on_disk = Data::new();
    let imported = wharf(["state", "import", file]).data(on_disk.path()).run();
    assert_eq!(imported.code, Some(0), "{imported:?}");
    assert_eq!(wharf(["state", "export"]).data(on_disk.path()).run().out, exported);
    assert_eq!(place.run(&one, &["state", "import", file]).code, Some(1), "the bucket has content");
    place.ran(&one, &["state", "import", file, "--replace"]);
    assert_eq!(place.ran(&other, &["state", "export"]), exported);
    assert!(place.ran(&one, &["doctor"]).contains("ok state          on the database server of "));
    place.ran(&one, &["state", "clear", "--all", "--yes"]);
    assert!(!place.ran(&other, &["call", "planning__list_goals", "--session", "s"]).contains("가나다"));
}

#[test]
fn a_server_that_ends_is_told_to_the_model_and_used_again_once_it_is_back() {
    let Some(mut place) = Place::new() else { return };
    let data = Data::new();
    let mut client = Client::connect(place.command(&data, &["serve", "--stdio"]));
    let mut create =
        |goal: &str| client.call("planning__create_goal", json!({ "goal": goal }), json!({"dev.wharf/sessionId": "s"}));
    assert_eq!(create("before")["isError"], json!(false));
    place.server.kill();
    let refused = create("meanwhile");
    assert_eq!(refused["isError"], json!(true), "{refused}");
    assert!(refused.to_string().contains("the database that holds the state cannot be reached"), "{refused}");
    place.server.resume();
    assert_eq!(create("after")["isError"], json!(false));
}

#[test]
fn what_is_wrong_with_the_database_is_said_when_a_host_starts() {
    let Some(mut place) = Place::new() else { return };
    let data = Data::new();
    place.server.kill();
    let said = place.run(&data, &["call", "planning__list_goals", "--session", "s"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.err.contains("cannot connect to the state's database at") && said.err.contains("user postgres"));
    assert_eq!(place.run(&data, &["state", "usage"]).code, Some(3));
    let doctor = place.run(&data, &["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(doctor.out.contains("!! state") && doctor.out.contains("ok data"), "{}", doctor.out);

    let wrong = [
        ("", "it is empty"),
        ("host=/nowhere\nuser=wharf", "one line"),
        ("host=/nowhere colour=blue", "cannot be read"),
    ];
    for (text, problem) in wrong {
        place.config.write_private("database", text);
        let said = place.run(&data, &["call", "planning__list_goals", "--session", "s"]);
        assert_eq!(said.code, Some(3), "{text:?}: {said:?}");
        assert!(said.err.contains(problem), "{text:?}: {}", said.err);
    }
    fs::remove_file(place.config.path().join("database")).expect("removed");
    place.config.write("database", "host=/nowhere");
    let said = place.run(&data, &["call", "planning__list_goals", "--session", "s"]);
    assert!(said.err.contains("others may read it; take that away with `chmod 600"), "{said:?}");
}
