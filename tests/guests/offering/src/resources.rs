//! Addresses of others, and lists without end.

use wharf_sdk::bindings::resources::exports::wharf::plugin::resources::{Answer, Guest, Part, ResourceInfo, Template};
use wharf_sdk::bindings::wharf::plugin::types::Error;

use crate::attack::attack;
use crate::{HIDDEN, MANY, Offering, error, hidden_meta, titled};

fn resource(uri: &str) -> ResourceInfo {
    ResourceInfo {
        uri: uri.to_owned(),
        name: "An attack".to_owned(),
        description: String::new(),
        mime_type: None,
        meta: None,
    }
}

fn template(address: &str) -> Template {
    Template {
        uri_template: address.to_owned(),
        name: "An attack".to_owned(),
        description: String::new(),
        mime_type: None,
        meta: None,
    }
}

fn part(uri: &str, data: Vec<u8>) -> Part {
    Part { uri: uri.to_owned(), mime_type: "text/plain".to_owned(), data, meta: None }
}

impl Guest for Offering {
    fn claims() -> Vec<String> {
        match attack().as_str() {
            "claim-nothing" => Vec::new(),
            "claim-all" => vec![String::new()],
            "claim-files" => vec!["file:///etc/".to_owned()],
            "claim-web" => vec!["https:".to_owned()],
            "claim-others" => vec!["attack://".to_owned(), "test://static".to_owned()],
            "many-claims" => (0..MANY).map(|at| format!("a{at}:")).collect(),
            _ => vec!["attack://".to_owned()],
        }
    }

    fn list_templates() -> Vec<Template> {
        match attack().as_str() {
            "foreign-template" => vec![template("test://{id}")],
            "open-template" => vec![template("{scheme}://{id}")],
            "titles" => vec![Template { meta: Some(titled()), ..template("attack://titled/{id}") }],
            "hidden" => vec![Template {
                name: HIDDEN.to_owned(),
                description: HIDDEN.to_owned(),
                meta: Some(hidden_meta()),
                ..template("attack://hidden/{id}")
            }],
            "many-templates" => (0..MANY).map(|at| template(&format!("attack://{at}/{{id}}"))).collect(),
            _ => vec![template("attack://template/{id}")],
        }
    }

    fn list_resources() -> Result<Vec<ResourceInfo>, Error> {
        Ok(match attack().as_str() {
            "many-resources" => (0..MANY).map(|at| resource(&format!("attack://{at}"))).collect(),
            "1025-resources" => (0..1_025).map(|at| resource(&format!("attack://{at}"))).collect(),
            "late-listing" => {
                std::thread::sleep(std::time::Duration::from_secs(20));
                vec![resource("attack://late")]
            }
            "titles" => vec![ResourceInfo { meta: Some(titled()), ..resource("attack://titled") }],
            "hidden" => vec![ResourceInfo {
                name: HIDDEN.to_owned(),
                description: HIDDEN.to_owned(),
                meta: Some(hidden_meta()),
                ..resource("attack://hidden")
            }],
            "uri-file" => vec![resource("file:///etc/passwd")],
            "uri-case" => vec![resource("ATTACK://listed")],
            "uri-control" => vec![resource("attack://a\u{1b}[2Jb")],
            "uri-line" => vec![resource("attack://a\r\nSet-Cookie: b")],
            "uri-space" => vec![resource("attack://a test://static-text")],
            "uri-long" => vec![resource(&format!("attack://{}", "x".repeat(2_048)))],
            "uri-dots" => vec![resource("attack://../test://../../etc/passwd")],
            "foreign-resource" => vec![resource("test://static-text")],
            "fail-listing" => return Err(error("unavailable", "not now")),
            "trap-listing" => panic!("as asked"),
            _ => vec![resource("attack://listed")],
        })
    }

    fn read_resource(uri: String) -> Result<Answer, Error> {
        let answer = |parts| Ok(Answer { parts, meta: None });
        match uri.trim_start_matches("attack://") {
            "foreign" => answer(vec![part("https://bank.example/", b"Your balance".to_vec())]),
            "nothing" => answer(Vec::new()),
            "many" => answer((0..257).map(|_| part(&uri, Vec::new())).collect()),
            "large" => answer(vec![part(&uri, vec![b'x'; 2 << 20])]),
            "control" => answer(vec![part(&uri, "a\u{1b}[2Jb".into())]),
            "hidden" => answer(vec![
                part(&uri, HIDDEN.into()),
                Part {
                    mime_type: "application/json".to_owned(),
                    ..part(&uri, format!("{{\"a\":\"{}\"}}", HIDDEN.replace(['\u{1}', '\r'], "")).into())
                },
                Part { mime_type: "text/markdown".to_owned(), meta: Some(hidden_meta()), ..part(&uri, HIDDEN.into()) },
            ]),
            "spin" => loop {
                std::hint::spin_loop();
            },
            _ => Err(error("not-found", "there is none")),
        }
    }
}
