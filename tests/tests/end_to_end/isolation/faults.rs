//! A process of plugins that is killed, hangs, or takes too much; and what it is left with.

use std::{collections::BTreeSet, fs};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use wharf::Code;
use wharf_test_support::{blocking, processes::lives};
use wharf_tests::{Client, Data, context, until, wharf};

use super::{alone, isolated, workers};

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process id");
    kill_process(pid, signal).expect("it lives");
}

#[tokio::test]
async fn each_tenant_has_a_process_and_the_end_of_one_costs_its_own_calls_alone() {
    let _alone = alone().await;
    let fixture = isolated("").open().await;
    let (ours, theirs) = (context("local", "s"), context("theirs", "s"));
    let [of_ours] = workers()[..] else { panic!("one process for one tenant: {:?}", workers()) };
    let their_call = fixture.start(&theirs, "hostile__sleep_forever", json!({}));
    fixture.load_is(1, 0).await;
    until("there is a process for each", || workers().len() == 2).await;
    let our_call = fixture.start(&ours, "hostile__sleep_forever", json!({}));
    fixture.load_is(2, 0).await;
    assert_eq!(workers().len(), 2, "a second call of a tenant runs in its process");

    signal(of_ours, Signal::KILL);
    let lost = our_call.outcome().await.expect_err("its process is gone");
    assert_eq!(lost.code, Code::Internal, "{lost}");
    assert!(lost.message.contains("the process that ran this call is gone: signal 9 ended it"), "{lost}");
    assert!(!their_call.is_over(), "another tenant's call goes on");
    fixture.works().await;
    assert_eq!(workers().len(), 2, "the next call has a new one");
    assert!(!workers().contains(&of_ours));
    their_call.cancel.cancel();
    let ended = their_call.outcome().await.expect_err("cancelled");
    assert_eq!(ended.code, Code::Cancelled, "{ended}");
}

#[test]
fn the_log_tells_whose_process_it_is_and_that_it_ended() {
    let _alone = super::ALONE.blocking_lock();
    let data = Data::new();
    let configuration = data.write("wharf.toml", isolated("").text());
    let serve = wharf(["serve", "--stdio"]).config(&configuration).data(data.path());
    let mut client = Client::connect(serve.env("WHARF_LOG", "warn,wharf::isolation=info"));
    let works = |client: &mut Client| client.call("echo__echo", json!({"text": "hello"}), json!({}));
    assert_eq!(works(&mut client)["isError"], json!(false));
    // That in which the plugins were asked for their tools ends in its own time.
    let worker = blocking::until("there is one process", || match workers()[..] {
        [worker] => Some(worker),
        _ => None,
    });
    let line = |log: &str, words: &str| log.lines().find(|line| line.contains(words)).map(str::to_owned);
    let begun = blocking::until("it is told", || line(&client.log(), "a worker runs plugins"));
    assert!(begun.contains(&format!("pid={worker}")) && begun.contains("tenant=\"local\""), "{begun}");
    // Nothing waits for it, and it is told all the same.
    signal(worker, Signal::KILL);
    let ended = blocking::until("the end is told", || line(&client.log(), "a worker of plugins ended: signal 9"));
    assert!(ended.contains(&format!("pid={worker} tenant=\"local\" calls=0")), "{ended}");
    assert_eq!(works(&mut client)["isError"], json!(false), "the next call has a new one");
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(log.matches("a worker of plugins ended").count(), 1, "what the host ends is no news: {log}");
    blocking::until("its processes are gone", || workers().is_empty());
}

#[tokio::test]
async fn each_plugin_of_a_tenant_may_have_a_process() {
    let _alone = alone().await;
    let fixture = isolated("by = \"plugin\"").open().await;
    let before: BTreeSet<u32> = workers().into_iter().collect();
    assert_eq!(before.len(), 2, "echo and hostile were called");
    fixture.works().await;
    assert_eq!(workers().into_iter().collect::<BTreeSet<_>>(), before);
}

/// Whether no thread of a process runs: one may go on for a moment after the signal was sent.
fn is_stopped(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("it lives");
    tasks.flatten().all(|task| {
        let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('T'))
    })
}

#[tokio::test]
async fn a_process_that_hangs_is_ended_with_its_calls_and_the_next_call_has_a_new_one() {
    let _alone = alone().await;
    // Enough for the start of a process on a machine with much else to do.
    let fixture = isolated("").limit("wall_time_milliseconds", 5_000).open().await;
    let [worker] = workers()[..] else { panic!("one process: {:?}", workers()) };
    signal(worker, Signal::STOP);
    until("it is stopped", || is_stopped(worker)).await;
    let hung = fixture.call("echo__echo", json!({"text": "nobody"})).await.expect_err("it hangs");
    assert!(hung.message.contains("wall_time_milliseconds"), "its time ends as that of any call: {hung}");
    until("it is dead", || !lives(worker)).await;
    fixture.works().await;
    assert!(!workers().contains(&worker));
}

#[tokio::test]
async fn a_process_of_plugins_has_no_file_no_capability_and_no_way_to_get_any() {
    let _alone = alone().await;
    let fixture = isolated("").open().await;
    let [worker] = workers()[..] else { panic!("one process: {:?}", workers()) };
    let status = fs::read_to_string(format!("/proc/{worker}/status")).expect("it lives");
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("no {name}")).trim().to_owned()
    };
    for (name, wanted) in [("NoNewPrivs", "1"), ("Seccomp", "2")] {
        assert_eq!(value(name), wanted, "{name}");
    }
    for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        let held = u64::from_str_radix(&value(name), 16).expect("a number");
        // Only root has a bound to give up.
        assert!(held == 0 || (name == "CapBnd" && !rustix::process::geteuid().is_root()), "{name}: {held:x}");
    }
    if rustix::process::geteuid().is_root() {
        let open = fs::read_dir(format!("/proc/{worker}/fd")).expect("it lives");
        for descriptor in open {
            let to = fs::read_link(descriptor.expect("listed").path()).expect("a descriptor");
            let to = to.to_string_lossy();
            let is_harmless = ["socket:", "pipe:", "anon_inode:", "/memfd:"].iter().any(|kind| to.starts_with(kind));
            assert!(is_harmless || to == "/dev/null" || to.ends_with("/pagemap"), "{to}");
        }
    }
    fixture.works().await;
}
