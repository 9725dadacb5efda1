//! Carrying a playbook out: select it, complete its steps, see what is next.

use serde_json::{Value, json};
use wharf_sdk::Scope;

use crate::{Agent, TestAgent as _, report, step};

fn selected() -> (Agent, String) {
    let agent = Agent::new();
    let id = agent.report();
    agent.ok("select_playbook", &json!({ "id": id }));
    (agent, id)
}

fn complete(agent: &Agent, step: &str, output: &str) -> Value {
    agent.ok("complete_step", &json!({ "stepId": step, "output": output }))
}

#[test]
fn selecting_answers_what_is_needed_to_carry_it_out() {
    let agent = Agent::new();
    let id = agent.report();
    let (selected, text) = agent.answer("select_playbook", &json!({ "id": id }));
    let active = &selected["active"];
    assert_eq!((&active["id"], &active["goal"]), (&json!(id), &json!("A weekly report")));
    assert_eq!((&active["stepsDone"], &active["nextStep"]["stepId"]), (&json!([]), &json!("step-1")));
    assert_eq!(active["workflow"][1]["description"], "Write about {{figures}}");
    assert_eq!(active["workflow"][1]["waitingFor"], json!(["figures"]));
    assert_eq!(active["workflow"][2]["waitingFor"], json!(["page", "figures"]));
    assert_eq!(active["successCriteria"]["requiredArtifacts"], json!(["report.md"]));
    assert_eq!(
        text,
        format!(
            "Playbook {id}\nGoal: A weekly report\nInitial command: Write the report\nSteps: 0 of 3 done\n  [ ] step-1: \
             Find the figures\n      tool: search - find figures\n      yields: figures\n  [ ] step-2: Write about \
             {{{{figures}}}}\n      tool: write - a page on {{{{ figures }}}}\n      needs: {{{{figures}}}}\n      \
             needs: the template\n      yields: page\n      waits for: figures\n  [ ] send: Send {{{{page}}}}, which \
             has {{{{figures}}}}\n      tool: mail - send it\n      waits for: page, figures\nSuccess: The report is \
             sent\n  needs: report.md\nNext:\n  [ ] step-1: Find the figures\n      tool: search - find figures\n      \
             yields: figures\nCall complete_step with `step-1` once it is done."
        )
    );
    let mut shown = agent.active();
    shown["selectedAt"] = active["selectedAt"].clone();
    assert_eq!(&shown, active);
}

#[test]
fn outputs_stand_in_later_steps_once_the_step_that_yields_them_is_completed() {
    let (agent, id) = selected();
    let completed = complete(&agent, "step-1", "42 ships and {{page}}");
    assert_eq!((&completed["stepsDone"], &completed["steps"]), (&json!(1), &json!(3)));
    assert_eq!(completed["outputVariable"], "figures");
    let next = &completed["nextStep"];
    assert_eq!(next["description"], "Write about 42 ships and {{page}}", "an output is no template");
    assert_eq!(next["action"]["purpose"], "a page on 42 ships and {{page}}");
    assert_eq!(next["requiredData"], json!(["42 ships and {{page}}", "the template"]));
    assert_eq!(next["waitingFor"], json!([]));
    let active = agent.active();
    assert_eq!(active["workflow"][2]["description"], "Send {{page}}, which has 42 ships and {{page}}");
    assert_eq!(active["workflow"][2]["waitingFor"], json!(["page"]));
    assert_eq!(active["stepsDone"][0]["output"], "42 ships and {{page}}");
    let raw = agent.ok("get_playbook", &json!({ "id": id }));
    assert_eq!(raw["playbook"]["workflow"][1]["description"], "Write about {{figures}}", "the playbook stays as it is");
}

#[test]
fn after_the_last_step_the_success_criteria_are_what_is_left() {
    let (agent, _) = selected();
    complete(&agent, "step-1", "a");
    complete(&agent, "step-2", "b");
    let (completed, text) = agent.answer("complete_step", &json!({ "stepId": "send" }));
    assert_eq!((&completed["nextStep"], &completed["stepsDone"]), (&json!(null), &json!(3)));
    assert_eq!(completed["successCriteria"]["description"], "The report is sent");
    assert_eq!(
        text,
        "Step send is done: 3 of 3.\nAll 3 steps are done.\nSuccess: The report is sent\n  needs: report.md"
    );
    assert_eq!(agent.active()["nextStep"], json!(null));
}

#[test]
fn a_step_without_its_output_is_done_and_says_who_waits_for_it() {
    let (agent, _) = selected();
    let (completed, text) = agent.answer("complete_step", &json!({ "stepId": "step-1" }));
    assert_eq!(completed["waitingSteps"], json!(["step-2", "send"]));
    assert!(text.contains("call complete_step again with `output`"), "{text}");
    assert_eq!(completed["nextStep"]["waitingFor"], json!(["figures"]));
    let again = complete(&agent, "step-1", "");
    assert_eq!((&again["stepsDone"], &again["nextStep"]["description"]), (&json!(1), &json!("Write about ")));
    let once_more = agent.ok("complete_step", &json!({ "stepId": "step-1" }));
    assert_eq!(once_more["nextStep"]["waitingFor"], json!([]), "an output that is left out stays");
    assert_eq!(complete(&agent, "step-1", "new")["nextStep"]["description"], "Write about new");
}

#[test]
fn steps_may_be_completed_in_another_order_and_the_first_open_one_is_next() {
    let (agent, _) = selected();
    assert_eq!(complete(&agent, "send", "x")["nextStep"]["stepId"], "step-1");
    assert_eq!(complete(&agent, "step-1", "x")["nextStep"]["stepId"], "step-2");
}

#[test]
fn an_unknown_step_is_not_found_and_the_valid_ones_are_listed() {
    let (agent, _) = selected();
    assert_eq!(
        agent.refused("complete_step", &json!({ "stepId": "step-9" })),
        "not-found: the playbook has no step `step-9`; valid ids: step-1, step-2, send"
    );
    assert_eq!(agent.active()["stepsDone"], json!([]));
}

#[test]
fn nothing_in_force_is_no_error_to_ask_and_one_to_complete() {
    let agent = Agent::new();
    let (active, text) = agent.answer("get_active_playbook", &json!({}));
    assert_eq!((&active, text.contains("select_playbook")), (&json!({ "active": null }), true));
    let refusal = agent.refused("complete_step", &json!({ "stepId": "step-1" }));
    assert!(refusal.starts_with("not-found: no playbook is in force for this thread; select_playbook"), "{refusal}");
}

#[test]
fn selecting_again_starts_over_and_another_one_replaces_it() {
    let (agent, id) = selected();
    complete(&agent, "step-1", "a");
    agent.ok("select_playbook", &json!({ "id": id }));
    assert_eq!(agent.active()["stepsDone"], json!([]));
    let other = agent.report();
    agent.ok("select_playbook", &json!({ "id": other }));
    assert_eq!(agent.active()["id"], json!(other));
}

#[test]
fn every_thread_has_its_own_playbook_in_force_and_its_own_progress() {
    let (here, id) = selected();
    let there = Agent(here.0.clone().thread("other"));
    assert_eq!(there.active(), json!(null));
    there.ok("select_playbook", &json!({ "id": id }));
    complete(&there, "step-1", "there");
    assert_eq!(here.active()["stepsDone"], json!([]));
    let other_session = Agent(here.0.clone().session("other"));
    assert_eq!(other_session.active(), json!(null));
}

#[test]
fn a_playbook_in_force_that_is_deleted_is_said_to_be_gone() {
    let (agent, id) = selected();
    Agent(agent.0.clone().session("other")).ok("delete_playbook", &json!({ "id": id }));
    for (tool, arguments) in [("get_active_playbook", json!({})), ("complete_step", json!({ "stepId": "step-1" }))] {
        let refusal = agent.refused(tool, &arguments);
        assert!(refusal.starts_with(&format!("gone: the playbook `{id}` that was in force")), "{refusal}");
        assert!(refusal.contains("A weekly report") && refusal.contains("select_playbook"), "{refusal}");
    }
    let other = agent.report();
    agent.ok("select_playbook", &json!({ "id": other }));
    assert_eq!(agent.active()["id"], json!(other));
}

#[test]
fn progress_follows_the_ids_of_steps_when_the_playbook_changes() {
    let (agent, id) = selected();
    complete(&agent, "step-1", "42");
    complete(&agent, "step-2", "page");
    assert_eq!(agent.active()["changedSinceSelected"], false);
    // Later than the millisecond in which it was made.
    let before = agent.active()["updatedAt"].clone();
    let mut kept = step("Find better figures");
    kept["stepId"] = json!("step-1");
    kept["outputVariable"] = json!("numbers");
    let workflow = json!([kept, step("Think about {{numbers}}"), step("Rest")]);
    while agent.ok("update_playbook", &json!({ "id": id, "playbook": { "workflow": workflow } }))["playbook"]["updatedAt"]
        == before
    {}
    let active = agent.active();
    assert_eq!(active["changedSinceSelected"], true);
    assert_eq!(active["stepsDone"].as_array().map(Vec::len), Some(1), "new steps are not the former ones");
    assert_eq!(active["nextStep"]["description"], "Think about 42");
    assert_ne!(active["nextStep"]["stepId"], "step-2");
}

#[test]
fn progress_that_expired_says_so_and_the_playbook_is_kept() {
    let (agent, id) = selected();
    agent.0.expire(Scope::Thread);
    let (active, text) = agent.answer("get_active_playbook", &json!({}));
    assert!(active["notice"].as_str().is_some_and(|notice| text.contains(notice)), "{text}");
    assert!(agent.refused("complete_step", &json!({ "stepId": "step-1" })).contains("expired at"));
    agent.ok("get_playbook", &json!({ "id": id }));
}

#[test]
fn steps_completed_at_the_same_time_are_all_recorded() {
    let agent = Agent::new();
    let mut playbook = report();
    playbook["workflow"] = (0..50).map(|number| step(&number.to_string())).collect();
    let id = crate::id_of(&agent.create(&playbook));
    agent.ok("select_playbook", &json!({ "id": id }));
    std::thread::scope(|scope| {
        for worker in 0..5 {
            let agent = &agent;
            scope.spawn(move || {
                for number in 1..=10 {
                    complete(agent, &format!("step-{}", worker * 10 + number), "done");
                }
            });
        }
    });
    assert_eq!(agent.active()["stepsDone"].as_array().map(Vec::len), Some(50));
}
