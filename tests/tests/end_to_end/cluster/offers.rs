//! Prompts, resources, completions and rounds of input, at whichever host they arrive.

use serde_json::{Value, json};
use wharf_tests::{
    blocking,
    cluster::{Cluster, ClusterHost},
    component,
};

use super::TABLES;
use crate::http_mcp::ask_modern;

/// The hosts of a plugin that offers everything. It needs a home, since it is granted files.
fn offering() -> Option<Cluster> {
    let component = component("guest-conformance");
    Cluster::new(&format!(
        "{TABLES}[plugin.conformance]\nsource = {:?}\n[plugin.conformance.grants.workspace]\nreason = \"a test\"\n",
        component.to_str().expect("text")
    ))
}

/// What a host answers a client that can be asked for forms.
fn asked(host: &ClusterHost, method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = json!({
        "dev.wharf/sessionId": "s",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    let reply = ask_modern(&host.server, json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    reply.message()
}

/// How many prompts, resources and completions a host has been asked for.
fn asked_for(host: &ClusterHost) -> usize {
    let run = host.command(&["audit", "--kind", "offer", "--json"]).run();
    assert_eq!(run.code, Some(0), "{run:?}");
    run.out.lines().count()
}

#[test]
fn prompts_resources_and_completions_come_from_the_home_of_the_session() {
    let Some(cluster) = offering() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let prompt = json!({"name": "conformance__test_prompt_with_arguments", "arguments": {"arg1": "a", "arg2": "b"}});
    let complete = json!({
        "ref": {"type": "ref/prompt", "name": "conformance__test_prompt_with_arguments"},
        "argument": {"name": "arg1", "value": "te"},
    });
    let requests = [
        ("prompts/get", prompt),
        ("prompts/get", json!({"name": "conformance__test_prompt_with_image"})),
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "test://static-binary"})),
        ("resources/read", json!({"uri": "test://template/7/data"})),
        ("resources/read", json!({"uri": "test://nothing"})),
        ("completion/complete", complete),
    ];
    let at_home: Vec<_> = requests.iter().map(|(method, params)| asked(&one, method, params)).collect();
    assert!(at_home[0]["result"].to_string().contains("arg1='a'"), "{at_home:?}");
    assert_eq!(at_home[6]["result"]["completion"]["values"], json!(["test", "testing"]));
    blocking::until("the home has written all down", || {
        if asked_for(&one) == requests.len() { Ok(()) } else { Err(asked_for(&one)) }
    });
    for ((method, params), at_home) in requests.iter().zip(at_home) {
        assert_eq!(asked(&two, method, params), at_home, "{method} {params}");
    }
    blocking::until("the home was asked again", || {
        let of_both = (asked_for(&one), asked_for(&two));
        if of_both == (2 * requests.len(), requests.len()) { Ok(()) } else { Err(of_both) }
    });
}

#[test]
fn what_a_call_asks_for_is_answered_at_another_host() {
    let Some(cluster) = offering() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let call = |host: &ClusterHost, answer: Value| {
        let mut params = json!({"name": "conformance__test_input_required_result_multi_round", "arguments": {}});
        for (name, value) in answer.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        asked(host, "tools/call", &params)
    };
    let given = |step: &str, field: &str, value: &str, asked: &Value| {
        let responses = json!({step: {"action": "accept", "content": {field: value}}});
        json!({"inputResponses": responses, "requestState": asked["result"]["requestState"]})
    };
    let first = call(&one, json!({}));
    let second = call(&two, given("step1", "name", "Ada", &first));
    let answer = call(&one, given("step2", "color", "blue", &second));
    assert_eq!(answer["result"]["content"][0]["text"], "Hello, Ada! Your favorite color is blue.", "{second} {answer}");
    // A state of another question is worth nothing anywhere.
    let forged = call(&two, given("step2", "color", "blue", &json!({"result": {"requestState": "rs2.forged"}})));
    assert!(forged["error"]["message"].as_str().is_some_and(|told| told.contains("requestState")), "{forged}");
}
