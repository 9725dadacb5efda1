use serde_json::{Map, json};

use super::*;
use crate::{
    AnswerShare, Content,
    service::offer::{PromptArgument, PromptDefinition, ResourceContent, ResourceDefinition, ResourceTemplate},
};

fn claims(claimed: &[&str]) -> Result<Claims, InvalidClaim> {
    Claims::new(claimed.iter().map(|claim| (*claim).to_owned()).collect())
}

#[test]
fn a_plugin_claims_schemes_of_its_own_and_hosts_by_name() {
    for claim in ["notes:", "notes://", "a+b-c.1:x", "https://notes.example.org/", "wss://h/x"] {
        assert!(claims(&[claim]).is_ok(), "{claim}");
    }
    for claim in ["", "n", "notes", ":", "c:", "Notes:", "1a:", "no tes:", "notes:{id}", "notes:\u{202e}", "n\u{f6}:x"]
    {
        assert!(matches!(claims(&[claim]), Err(InvalidClaim::Malformed(_))), "{claim}");
    }
    for claim in ["file:", "file:///home/", "data:text/plain,", "javascript:x", "wharf:"] {
        assert!(matches!(claims(&[claim]), Err(InvalidClaim::Nobodys(_))), "{claim}");
    }
    for claim in ["http:", "https://", "https://example.org", "https:///x", "ws:/x/"] {
        assert!(matches!(claims(&[claim]), Err(InvalidClaim::WithoutHost(_))), "{claim}");
    }
    assert_eq!(claims(&[]), Err(InvalidClaim::Count(0)));
    assert_eq!(claims(&["a1:"; 17]), Err(InvalidClaim::Count(17)));
    assert!(matches!(claims(&[&format!("a1:{}", "x".repeat(254))]), Err(InvalidClaim::Malformed(_))));
}

#[test]
fn claims_overlap_where_one_address_could_be_of_both() {
    let one = claims(&["other:", "notes://a/"]).expect("legal");
    for (claim, overlaps) in [("notes:", true), ("notes://a/b", true), ("notes://a/", true), ("notes://b/", false)] {
        let other = claims(&[claim]).expect("legal");
        assert_eq!(one.overlap(&other).is_some(), overlaps, "{claim}");
        assert_eq!(other.overlap(&one).is_some(), overlaps, "{claim}");
    }
    assert!(one.cover("notes://a/1") && !one.cover("notes://b/1"));
    assert!(!one.cover(&format!("notes://a/{}", "x".repeat(MAX_URI_BYTES))));
    assert!(!Claims::default().cover("notes://a/1"));
}

fn prompt(name: &str) -> PromptDefinition {
    PromptDefinition { name: name.into(), description: "d".into(), arguments: Vec::new(), meta: Map::new() }
}

fn argument(name: &str) -> PromptArgument {
    PromptArgument { name: name.into(), description: String::new(), required: true }
}

#[test]
fn prompts_are_shown_without_what_could_speak_for_others() {
    let meta = json!({"dev.wharf/x": 1, "title": "T"}).as_object().cloned().expect("an object");
    let listed = PromptDefinition { description: "a\u{1b}[2Jb".into(), meta, ..prompt("p") };
    let shown = check_prompts(vec![listed]).expect("legal");
    assert_eq!(shown[0].description, "a[2Jb");
    assert_eq!(shown[0].meta.keys().collect::<Vec<_>>(), ["title"]);
}

#[test]
fn a_prompt_that_breaks_the_contract_is_refused() {
    let with = |arguments| PromptDefinition { arguments, ..prompt("p") };
    for (prompts, problem) in [
        (vec![prompt("a__b")], OfferProblem::Name),
        (vec![prompt("p"), prompt("p")], OfferProblem::Twice),
        (vec![PromptDefinition { description: String::new(), ..prompt("p") }], OfferProblem::Description { least: 1 }),
        (vec![with(vec![argument("a"), argument("a")])], OfferProblem::Arguments),
        (vec![with(vec![argument("")])], OfferProblem::Arguments),
        (vec![with(vec![argument("__sessionId")])], OfferProblem::Arguments),
        (vec![with((0..33).map(|at| argument(&at.to_string())).collect())], OfferProblem::Arguments),
        ((0..257).map(|at| prompt(&format!("p{at}"))).collect(), OfferProblem::TooMany),
    ] {
        assert_eq!(check_prompts(prompts).map_err(|invalid| invalid.problem), Err(problem));
    }
    assert!(check_prompts((0..256).map(|at| prompt(&format!("p{at}"))).collect()).is_ok());
}

#[test]
fn a_template_stays_within_the_claims_of_its_plugin() {
    let claims = claims(&["notes://"]).expect("legal");
    let check = |address: &str| {
        let template = ResourceTemplate {
            uri_template: address.into(),
            name: "n".into(),
            description: String::new(),
            mime_type: None,
            meta: Map::new(),
        };
        check_templates(vec![template], &claims).map(drop).map_err(|invalid| invalid.problem)
    };
    assert_eq!(check("notes://{book}/pages/{page_1}"), Ok(()));
    for address in ["{scheme}://x", "note{s}://x", "other://{id}"] {
        assert_eq!(check(address), Err(OfferProblem::Foreign), "{address}");
    }
    for address in ["notes://{}", "notes://{a", "notes://a}", "notes://{+a}", "notes://{a{b}}"] {
        assert_eq!(check(address), Err(OfferProblem::Variables), "{address}");
    }
    assert_eq!(check("notes://{a} b"), Err(OfferProblem::Address));
    assert_eq!(check(&format!("notes://{}", "x".repeat(MAX_URI_BYTES))), Err(OfferProblem::Address));
}

fn resource(uri: &str) -> ResourceDefinition {
    ResourceDefinition {
        uri: uri.into(),
        name: "n\u{7}".into(),
        description: String::new(),
        mime_type: None,
        meta: Map::new(),
        memory: AnswerShare::default(),
    }
}

#[test]
fn a_listing_is_ordered_and_names_nothing_of_others() {
    let claims = claims(&["notes://"]).expect("legal");
    let listed = checked_listing(["notes://b", "notes://a", "notes://b"].map(resource).into(), &claims).expect("legal");
    assert_eq!(listed.iter().map(|listed| listed.uri.as_str()).collect::<Vec<_>>(), ["notes://a", "notes://b"]);
    assert_eq!(listed[0].name, "n");
    for uri in ["other://a", "notes://a b", ""] {
        assert!(checked_listing(vec![resource(uri)], &claims).is_err(), "{uri}");
    }
    let many = |count: usize| (0..count).map(|at| resource(&format!("notes://{at}"))).collect();
    assert!(checked_listing(many(MAX_RESOURCES), &claims).is_ok());
    assert!(checked_listing(many(MAX_RESOURCES + 1), &claims).is_err());
}

#[test]
fn what_was_read_bears_an_address_of_its_plugin() {
    let claims = claims(&["notes://"]).expect("legal");
    let part = |uri: &str| ResourceContent {
        uri: uri.into(),
        content: Content::text("a\u{1b}b"),
        memory: AnswerShare::default(),
    };
    let read = checked_parts(vec![part("notes://a")], &claims).expect("legal");
    assert_eq!(read[0].content.as_text(), Some("ab"));
    assert!(checked_parts(vec![part("https://bank.example/")], &claims).is_err());
    assert!(checked_parts(Vec::new(), &claims).is_err());
}

#[test]
fn completions_are_cut_to_what_is_shown() {
    let shown = completions(vec!["a\nb\u{1b}".into(); 101], Some(7), false);
    assert_eq!((shown.values.len(), shown.has_more, shown.total), (100, true, Some(7)));
    assert_eq!(shown.values[0], "ab");
    assert_eq!(completions(vec!["x".repeat(5_000)], None, false).values[0].len(), 1_024);
}

#[test]
fn a_description_of_nothing_but_control_characters_is_none() {
    let prompt = PromptDefinition {
        name: "p".to_owned(),
        description: "\u{1b}\u{202e}".to_owned(),
        arguments: Vec::new(),
        meta: Map::new(),
    };
    let refused = check_prompts(vec![prompt]).expect_err("says nothing of itself");
    assert_eq!(refused.problem, OfferProblem::Description { least: 1 });
    let definition = crate::ToolDefinition {
        name: "t".to_owned(),
        description: "\u{9b}".to_owned(),
        input_schema: crate::SchemaDocument::default(),
        output_schema: None,
        meta: Map::new(),
    };
    assert!(definition.cleaned().is_err(), "nor does a tool");
}
