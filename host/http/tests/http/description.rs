//! The description for programs says what is served.

use hyper::StatusCode;
use serde_json::{Value, json};
use wharf_core::limit::StreamLimits;

use crate::support::{say, start, start_with};

/// Every `$ref` below a value.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_described_operation_is_served_and_no_other_method_is() {
    // The routes of the operator refuse everybody else, whatever the method.
    let served = start_with(|settings| settings.clients[0].rights.operator = true, StreamLimits::default());
    let description = served.client.get("/v1/openapi.json").await.json();
    assert_eq!(description["openapi"], "3.1.0");
    let mut found = Vec::new();
    references(&description, &mut found);
    assert!(found.len() > 30, "{found:?}");
    for reference in found {
        assert!(description.pointer(&reference[1..]).is_some(), "{reference}");
    }
    let paths = description["paths"].as_object().expect("an object");
    assert_eq!(paths.len(), 73);
    let mut names = Vec::new();
    for (path, operations) in paths {
        let named = |part: &str| if part.starts_with('{') { "1".to_owned() } else { part.to_owned() };
        let place = path.split('/').map(named).collect::<Vec<_>>().join("/");
        for method in ["get", "post", "delete", "put", "patch"] {
            let answered = served.client.ask(&method.to_uppercase(), &place, None).await;
            let Some(operation) = operations.get(method) else {
                assert_eq!(answered.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
                continue;
            };
            assert_ne!(answered.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert!(!answered.body.contains("no such route"), "{method} {path}");
            names.push(operation["operationId"].as_str().expect("a name").to_owned());
            let named = operation["parameters"]
                .as_array()
                .map_or(0, |parameters| parameters.iter().filter(|parameter| parameter["in"] == "path").count());
            assert_eq!(named, path.matches('{').count(), "{method} {path}");
        }
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 86, "{names:?}");
}

#[tokio::test]
async fn sizes_and_times_are_described_with_the_bounds_that_hold() {
    let served = start();
    let description = served.client.get("/v1/openapi.json").await.json();
    let bounds = |schema: &str, property: &str| {
        let found = &description["components"]["schemas"][schema]["properties"][property];
        (found["minimum"].as_u64(), found["maximum"].as_u64())
    };
    for schema in ["StartTerminal", "ResizeTerminal"] {
        assert_eq!(bounds(schema, "columns"), (Some(1), Some(500)), "{schema}");
        assert_eq!(bounds(schema, "rows"), (Some(1), Some(200)), "{schema}");
    }
    for (schema, property) in [
        ("TurnRequest", "time_limit_ms"),
        ("TurnRequest", "inactivity_timeout_ms"),
        ("Tuning", "time_limit_milliseconds"),
        ("Tuning", "adaptive_shortest_milliseconds"),
    ] {
        assert_eq!(bounds(schema, property), (Some(1), Some(86_400_000)), "{property}");
    }
}

#[tokio::test]
async fn answers_are_as_described() {
    let served = start();
    let client = &served.client;
    let description = client.get("/v1/openapi.json").await.json();
    let check = |operation: &str, status: &str, answer: &Value| {
        let response = description.pointer(&format!("{operation}/responses/{status}")).expect("described");
        let response = match response["$ref"].as_str() {
            Some(reference) => description.pointer(&reference[1..]).expect("described"),
            None => response,
        };
        let mut schema = response["content"]["application/json"]["schema"].clone();
        schema["components"] = description["components"].clone();
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let errors: Vec<_> = validator.iter_errors(answer).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{operation} {status}: {errors:?} in {answer}");
        assert!(!validator.is_valid(&json!({"another": "object"})), "{operation}");
    };
    check("/paths/~1v1~1health/get", "200", &client.get("/v1/health").await.json());
    let started = client.post("/v1/terminals", json!({})).await.json();
    check("/paths/~1v1~1terminals/post", "201", &started);
    check("/paths/~1v1~1terminals/get", "200", &client.get("/v1/terminals").await.json());
    let place = format!("/v1/terminals/{}", started["terminal"].as_str().expect("a handle"));
    check("/paths/~1v1~1terminals~1{terminal}/get", "200", &client.get(&place).await.json());
    let turn = client.post(&format!("{place}/turns"), json!({"text": "true"})).await.json();
    check("/paths/~1v1~1terminals~1{terminal}~1turns/post", "202", &turn);
    let screen = client.get(&format!("{place}/screen")).await.json();
    check("/paths/~1v1~1terminals~1{terminal}~1screen/get", "200", &screen);
    let output = client.get(&format!("{place}/output?view=raw")).await.json();
    check("/paths/~1v1~1terminals~1{terminal}~1output/get", "200", &output);
    let writer = served.stream();
    writer.begin_turn(None).expect("begins");
    say(&writer, "x");
    writer.cancel_turn().expect("runs");
    check("/paths/~1v1~1streams/get", "200", &client.get("/v1/streams").await.json());
    let page = client.get(&format!("/v1/streams/{}", writer.id())).await.json();
    assert_eq!(page["events"].as_array().map(Vec::len), Some(2));
    check("/paths/~1v1~1streams~1{stream}/get", "200", &page);
    let unknown = client.get("/v1/streams/x").await.json();
    check("/paths/~1v1~1streams~1{stream}/get", "4XX", &unknown);
}
