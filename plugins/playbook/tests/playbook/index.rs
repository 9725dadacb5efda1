//! The index of owners stays as small as what is in use.

use std::time::SystemTime;

use serde_json::{Value, json};
use wharf_sdk::testing::TestCall;
use wharf_sdk::{Bucket, Call, Scope};

use crate::{Agent, TestAgent as _, id_of, report};

fn owners(call: &Call) -> Bucket<'_> {
    call.state(Scope::Plugin, "owners").expect("state is granted")
}

fn today() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is later").as_secs() / 86_400
}

/// An entry as the index has it.
fn entry(owner: &str, owned_by: &str, used_day: u64) -> String {
    json!({"version": 1, "content": {"agentId": owner, "ownedBy": owned_by, "usedDay": used_day}}).to_string()
}

/// Entries whose ids begin with each digit, so that whatever start is chosen
/// some of them are looked at.
fn fill(call: &Call, count: u32, entry: &str) {
    let changes = (0..count).map(|number| {
        let id = format!("pb_{:08x}{:024x}", number.wrapping_mul(u32::MAX / count), number);
        wharf_sdk::Change::put(id, entry)
    });
    owners(call).apply(changes.collect()).expect("they can be written");
}

fn used_day(call: &Call, id: &str) -> Option<Value> {
    let entry = owners(call).get(id).expect("it can be read")?;
    Some(entry.json::<Value>().expect("JSON")["content"]["usedDay"].clone())
}

#[test]
fn making_playbooks_clears_entries_of_sessions_that_are_long_gone_and_no_others() {
    let agent = Agent(TestCall::new().session("here"));
    let call = agent.0.call();
    for (owner, owned_by, day, stays) in [
        ("gone", "session", today() - 91, false),
        ("gone", "session", 0, false),
        ("here", "session", today() - 89, true),
        ("assistant", "assistant", today() - 400, true),
    ] {
        fill(&call, 200, &entry(owner, owned_by, day));
        for _ in 0..60 {
            let id = id_of(&agent.create(&report()));
            agent.ok("delete_playbook", &json!({ "id": id }));
        }
        let left = owners(&call).usage().expect("usage").entries;
        // From a random place twenty are looked at: sixty times see most of two hundred.
        assert_eq!(left == 200, stays, "{owner} of day {day}: {left}");
        assert!(stays || left < 60, "{left} of 200 stay");
        let page = owners(&call).scan("", None, 1_000).expect("a page");
        owners(&call)
            .apply(page.entries.iter().map(|entry| wharf_sdk::Change::delete(&entry.key)).collect())
            .expect("cleared");
    }
}

#[test]
fn what_a_newer_plugin_wrote_into_the_index_stays() {
    let agent = Agent(TestCall::new().session("here"));
    let call = agent.0.call();
    fill(&call, 20, r#"{"version":9,"content":{}}"#);
    for _ in 0..10 {
        agent.create(&report());
    }
    assert_eq!(owners(&call).usage().expect("usage").entries, 30);
}

#[test]
fn an_owner_that_works_keeps_its_entries_in_use_and_puts_lost_ones_up_again() {
    let agent = Agent(TestCall::new().session("here"));
    let other = Agent(agent.0.clone().session("other"));
    let (first, second) = (agent.report(), agent.report());
    let call = agent.0.call();
    let playbooks = call.state(Scope::Session, "playbooks").expect("state is granted");
    for (tool, arguments) in [
        ("get_playbook", json!({ "id": first })),
        ("list_playbooks", json!({})),
        ("update_playbook", json!({ "id": first, "playbook": { "goal": "new" } })),
    ] {
        // Another day: what the owner was told is old, and an entry is lost.
        playbooks.put_json("used", &json!({"version": 1, "content": {"day": today() - 1}})).expect("written");
        owners(&call).put(&first, entry("here", "session", today() - 80)).expect("written");
        owners(&call).delete(&second).expect("deleted");
        assert!(other.refused("get_playbook", &json!({ "id": second })).starts_with("not-found: "));
        agent.ok(tool, &arguments);
        for id in [&first, &second] {
            assert_eq!(used_day(&call, id), Some(json!(today())), "{tool}");
        }
        assert!(other.refused("get_playbook", &json!({ "id": second })).starts_with("denied: "), "{tool}");
    }
    // Within the day nothing more is written.
    owners(&call).delete(&second).expect("deleted");
    agent.ok("get_playbook", &json!({ "id": second }));
    assert_eq!(used_day(&call, &second), None);
}
