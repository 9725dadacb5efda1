//! Hosts behind a balancer, with the files of `deploy/`.

use std::{
    fs,
    net::SocketAddr,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use serde_json::{Value, json};
use wharf_tests::{
    Data,
    balancer::{Balancer, deployed},
    blocking,
    cluster::ClusterHost,
    wharf,
};

use super::{POLL, cluster, poll, started};

const ADD: &str = "planning__add_todo";
/// Agents that call while a host is killed.
const LANES: usize = 8;
const STATE: &str = "planning__get_current_state";

/// What clients see whose hosts drain, are killed and come back behind a balancer.
fn serves(make: impl FnOnce([SocketAddr; 3]) -> Option<Balancer>) {
    let Some(cluster) = cluster() else { return };
    let hosts = ["one", "two", "three"].map(|name| cluster.host(name));
    let Some(balancer) = make(hosts.each_ref().map(|host| host.server.address)) else { return };
    let call = |client: &ClusterHost, session: &str, tool: &str, arguments: &Value| {
        client.attempt_at(balancer.address, tool, arguments, &json!({"dev.wharf/sessionId": session}))
    };
    let [one, two, three] = hosts;
    let succeeds = |session: &str, tool: &str, arguments: &Value| {
        let answer = call(&three, session, tool, arguments);
        match answer {
            Some(result) if result["isError"] != true => Ok(()),
            answer => Err(format!("{answer:?}")),
        }
    };
    blocking::until("it serves", || succeeds("s", STATE, &json!({})));
    // The calls of one session reach its home wherever they arrive.
    let process = started(&one, "home", "sleep 1000");
    for _ in 0..9 {
        assert_eq!(succeeds("home", POLL, &poll(&process)), Ok(()));
    }
    // A host that drains takes no new call, and none fails for it.
    assert_eq!(three.command(&["hosts", "drain", "two"]).run().code, Some(0));
    blocking::until("it hears of it", || (!two.is_ready()).then_some(()).ok_or("ready"));
    for number in 0..30 {
        assert_eq!(succeeds("drained", ADD, &json!({"name": format!("todo {number}")})), Ok(()));
    }
    assert_eq!(three.command(&["hosts", "resume", "two"]).run().code, Some(0));
    blocking::until("it serves again", || two.is_ready().then_some(()).ok_or("not ready"));
    // One is killed under load: no call is made twice, and none that was answered is lost.
    let over = AtomicBool::new(false);
    let lane = |number: usize| {
        let (session, mut answered) = (format!("killed-{number}"), Vec::new());
        for call in 0.. {
            let name = format!("todo {call}");
            if succeeds(&session, ADD, &json!({"name": name})).is_ok() {
                answered.push(name);
            }
            if over.load(Ordering::Relaxed) {
                break;
            }
        }
        (session, answered)
    };
    let lanes = thread::scope(|scope| {
        let lane = &lane;
        let lanes: Vec<_> = (0..LANES).map(|number| scope.spawn(move || lane(number))).collect();
        blocking::until("it is under load", || succeeds("killed-0", STATE, &json!({})));
        one.crash();
        blocking::until("its session is gone, and the balancer knows the others", || {
            match call(&three, "home", POLL, &poll(&process)) {
                Some(result) if result.to_string().contains("gone") => Ok(()),
                answer => Err(format!("{answer:?}")),
            }
        });
        over.store(true, Ordering::Relaxed);
        lanes.into_iter().map(|lane| lane.join().expect("it ends")).collect::<Vec<_>>()
    });
    for (session, answered) in lanes {
        let state = three.called(&session, STATE, &json!({}));
        let todos = state["structuredContent"]["todos"].as_array().expect("todos").iter();
        let mut names: Vec<_> = todos.map(|todo| todo["name"].as_str().expect("a name").to_owned()).collect();
        assert!(!answered.is_empty() && answered.iter().all(|name| names.contains(name)), "{answered:?}: {names:?}");
        let number = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), number, "a call was made twice: {names:?}");
    }
}

#[test]
fn hosts_serve_behind_haproxy() {
    serves(Balancer::haproxy);
}

#[test]
fn hosts_serve_behind_nginx() {
    serves(Balancer::nginx);
}

/// A configuration of `deploy/`, with the secrets of a folder, is accepted.
#[track_caller]
fn accepted(files: &Data, text: &str, secrets: &[(&str, &str)]) {
    let text = secrets.iter().fold(text.to_owned(), |text, (mounted, file)| {
        text.replace(mounted, &files.path().join(file).display().to_string())
    });
    let file = files.write("wharf.toml", text);
    let run = wharf(["config", "check"]).config(&file).data(&files.path().join("data")).run();
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn the_configurations_that_are_shipped_are_accepted_with_the_secrets_that_the_script_makes() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/compose/make-secrets");
    let files = Data::alone();
    let hosts = ["wharf-0", "*.wharf-hosts.wharf.svc.cluster.local"];
    let made = |name: &str| fs::read(files.path().join("secrets").join(name)).expect("made");
    let make = || {
        let mut make = Command::new(script);
        make.current_dir(files.path()).arg("secrets").args(hosts).stdin(Stdio::null()).output()
    };
    let Ok(output) = make() else { panic!("sh runs") };
    if String::from_utf8_lossy(&output.stderr).contains("openssl: not found") {
        return;
    }
    assert!(output.status.success(), "{output:?}");
    let before = (made("wharf-0.pem"), made("cluster"));
    assert!(make().expect("sh runs").status.success());
    assert!((made("wharf-0.pem"), made("cluster")) == before, "it replaces nothing");
    accepted(
        &files,
        &deployed("compose/wharf.toml"),
        &[
            ("/run/secrets/database", "secrets/database"),
            ("/run/secrets/cluster", "secrets/cluster"),
            ("/run/secrets/certificate", "secrets/wharf-0.pem"),
            ("/run/secrets/key", "secrets/wharf-0.key"),
            ("/run/secrets/authority", "secrets/authority.pem"),
        ],
    );
    let manifest = deployed("kubernetes/wharf.yaml");
    let (_, rest) = manifest.split_once("  wharf.toml: |\n").expect("a configuration");
    let lines = rest.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    let text: String = lines.map(|line| format!("{}\n", line.trim_start())).collect();
    let any = "secrets/any.wharf-hosts.wharf.svc.cluster.local";
    accepted(
        &files,
        &text,
        &[
            ("/run/secrets/wharf-state/database", "secrets/database"),
            ("/run/secrets/wharf-state/cluster", "secrets/cluster"),
            ("/run/secrets/wharf-tls/certificate", &format!("{any}.pem")),
            ("/run/secrets/wharf-tls/key", &format!("{any}.key")),
            ("/run/secrets/wharf-tls/authority", "secrets/authority.pem"),
        ],
    );
}
