//! What is done with a page, and its effects.

use serde_json::json;

use crate::{Agent, TestAgent as _, site};

#[test]
fn a_click_goes_to_the_middle_of_its_element_and_tells_where_that_led() {
    let agent = Agent::at_the_shop();
    let (clicked, text) = agent.answer("click", &json!({ "element": "#cart", "double": true, "modifiers": ["Shift"] }));
    assert_eq!(clicked["url"], "http://shop.test/cart");
    assert!(
        text.starts_with(
            "Double-clicked button \"Buy now\" [k3e7].\nThe page is elsewhere now: http://shop.test/cart\n"
        ),
        "{text}"
    );
    let click = json!({
        "kind": "click", "x": 77.0, "y": 20.0, "button": "left", "count": 2, "modifiers": ["Shift"],
    });
    assert_eq!(agent.operations().last(), Some(&("mouse".to_owned(), click)));
    let (_, text) = agent.answer("click", &json!({ "element": "#export" }));
    assert!(text.contains("Downloaded \"a.csv\": 12 bytes, in the workspace as \"downloads/a.csv\""), "{text}");
    let (hovered, text) = agent.answer("hover", &json!({ "element": "#menu", "snapshot": true }));
    assert!(text.starts_with("The mouse is over button") && hovered["snapshot"].is_string(), "{text}");
}

#[test]
fn a_dialog_is_told_at_once_and_has_to_be_answered() {
    let agent = Agent::at_the_shop();
    let (clicked, text) = agent.answer("click", &json!({ "element": "#ask" }));
    assert_eq!(clicked["dialog"], json!({ "kind": "confirm", "message": "Sure?" }));
    assert!(
        text.contains("A dialog (confirm) is open and says \"Sure?\". Nothing goes on until handle_dialog"),
        "{text}"
    );
    for (tool, arguments) in [
        ("click", json!({ "element": "#cart" })),
        ("get_snapshot", json!({})),
        ("evaluate", json!({ "script": "6 * 7" })),
        ("screenshot", json!({})),
        ("navigate", json!({ "url": "http://shop.test/" })),
    ] {
        let refused = agent.refused(tool, &arguments);
        assert!(refused.starts_with("conflict") && refused.contains("says \"Sure?\""), "{tool}: {refused}");
    }
    let (answered, text) = agent.answer("handle_dialog", &json!({ "accept": true, "text": "yes" }));
    assert!(text.starts_with("Accepted the dialog (confirm) that said \"Sure?\".") && answered.get("dialog").is_none());
    assert_eq!(agent.0.dialog_answers("page-1"), [(true, Some("yes".to_owned()))]);
    let refused = agent.refused("handle_dialog", &json!({ "accept": true }));
    assert!(refused.starts_with("conflict: no dialog is open"), "{refused}");
}

#[test]
fn a_script_that_asks_tells_what_it_came_to_once_it_is_answered() {
    let agent = Agent::at_the_shop();
    let refused = agent.refused("evaluate", &json!({ "script": "prompt('Name?')" }));
    let (_, cursor) = refused.split_once("evaluate with cursor ").expect("the way on");
    let (cursor, _) = cursor.split_once(' ').expect("a cursor");
    assert!(refused.starts_with("conflict: A dialog (prompt) is open and says \"Name?\"."), "{refused}");
    assert!(agent.refused("wait_for", &json!({ "text": "Ada" })).starts_with("conflict"));
    agent.ok("handle_dialog", &json!({ "accept": true, "text": "Ada" }));
    assert_eq!(agent.ok("evaluate", &json!({ "cursor": cursor }))["result"], "\"Ada\"");
}

#[test]
fn a_dialog_ends_a_wait_for_something_else() {
    let agent = Agent::at_the_shop();
    let refused = agent.refused("wait_for", &json!({ "text": "What interrupts" }));
    assert!(refused.starts_with("conflict: a dialog opened before it came. A dialog (alert) is open"), "{refused}");
}

#[test]
fn what_cannot_be_used_is_told_with_what_is_in_the_way() {
    let agent = Agent::at_the_shop();
    let covered = agent.refused("click", &json!({ "element": "#under" }));
    assert!(covered.contains("button \"Pay\" [k3e9] is covered by dialog \"Cookies\" [k3e1]"), "{covered}");
    let stale = agent.refused("click", &json!({ "element": "z9e1" }));
    assert!(stale.starts_with("gone: `z9e1` is of a page that is gone: take a new snapshot"), "{stale}");
    let none = agent.refused("select_option", &json!({ "element": "#none", "options": ["a"] }));
    assert!(none.contains("did you mean button \"Buy now\" [k3e7]?"), "{none}");
    assert!(agent.operations().iter().all(|(name, _)| name == "navigate"), "nothing was clicked");
}

#[test]
fn a_form_is_filled_in_one_call_and_its_complaints_are_told() {
    let agent = Agent::at_the_shop();
    let fields = json!([
        { "element": "#flag", "value": "Norway" },
        { "element": "#news", "value": "true" },
        { "element": "#email", "value": "ada@shop.test" },
    ]);
    let (filled, text) = agent.answer("fill", &json!({ "fields": fields }));
    assert_eq!(filled["fields"][0]["value"], "Norway");
    assert_eq!(
        (&filled["fields"][2]["value"], &filled["fields"][2]["complaint"]),
        (&json!("ada@shop.test"), &json!("not that one"))
    );
    assert!(text.contains("\"E-mail\" [k3e2]: \"ada@shop.test\"; the page complains: \"not that one\""), "{text}");
    let done: Vec<String> = agent.operations().into_iter().map(|(name, _)| name).collect();
    assert_eq!(done, ["navigate", "mouse", "text"], "a box is clicked, a text is typed");
    let refused = agent.refused("fill", &json!({ "fields": [fields[0], { "element": "#none", "value": "x" }] }));
    assert!(
        refused.contains("no element matches `#none`") && refused.ends_with("filled before: \"E-mail\""),
        "{refused}"
    );
    let (_, text) = agent.answer("select_option", &json!({ "element": "#cargo", "options": ["Salt", "Timber"] }));
    assert!(text.starts_with("Chose \"Salt, Timber\" in textbox \"E-mail\" [k3e2]."), "{text}");
}

#[test]
fn texts_and_keys_are_typed_where_they_are_meant() {
    let agent = Agent::at_the_shop();
    let (_, text) = agent.answer("type_text", &json!({ "element": "#email", "text": "ada", "submit": true }));
    assert!(text.starts_with("Typed 3 characters into textbox \"E-mail\" [k3e2] and pressed Enter."), "{text}");
    agent.ok("type_text", &json!({ "element": "#email", "text": "hi", "key_by_key": true }));
    agent.ok("press_key", &json!({ "key": "Control+a" }));
    let done: Vec<String> = agent.operations().into_iter().skip(1).map(|(_, given)| given.to_string()).collect();
    assert_eq!(
        done,
        [
            r#"{"text":"ada"}"#,
            r#"{"key":"Enter","kind":"press","modifiers":[]}"#,
            r#"{"key":"h","kind":"press","modifiers":[]}"#,
            r#"{"key":"i","kind":"press","modifiers":[]}"#,
            r#"{"key":"a","kind":"press","modifiers":["Control"]}"#,
        ]
    );
    let refused = agent.refused("type_text", &json!({ "text": "x" }));
    assert!(refused.starts_with("invalid: nothing on this page has the focus"), "{refused}");
}

#[test]
fn in_a_frame_of_another_origin_clicks_are_moved_to_where_it_is() {
    let agent = Agent::at_the_shop();
    agent.ok("click", &json!({ "element": "#pay", "frame": "F1" }));
    let operations = agent.operations();
    let (_, click) = operations.last().expect("a click");
    assert_eq!((&click["x"], &click["y"]), (&json!(110.5), &json!(220.0)));
    let refused = agent.refused("click", &json!({ "element": "#pay", "frame": "F9" }));
    assert!(refused.contains("there is no frame `F9`"), "{refused}");
}

#[test]
fn without_a_mouse_elements_are_clicked_by_script() {
    let agent = Agent::on(site().rules(|rules| rules.operations.retain(|name| name != "mouse")));
    agent.ok("navigate", &json!({ "url": "http://shop.test/" }));
    agent.ok("click", &json!({ "element": "#cart" }));
    assert_eq!(agent.operations().len(), 1, "the navigation alone");
    assert!(agent.refused("hover", &json!({ "element": "#cart" })).contains("no mouse"));
}

#[test]
fn waiting_tells_what_came_or_what_is_there_instead() {
    let agent = Agent::at_the_shop();
    let (waited, text) = agent.answer("wait_for", &json!({ "text": "Thank you" }));
    assert_eq!(waited["came"], "the text \"Thank you\"");
    assert!(text.starts_with("It came: the text"), "{text}");
    let late = agent.refused("wait_for", &json!({ "element": "#done", "timeout_seconds": 2 }));
    assert!(late.starts_with("timeout: an element `#done` that can be seen did not come within 2 s"), "{late}");
    assert!(late.contains("did you mean button \"Buy now\" [k3e7]?"), "{late}");
    let idle = agent.ok("wait_for", &json!({ "network_idle": true }));
    assert_eq!(idle["came"], "nothing is loaded any more");
    let (scrolled, text) = agent.answer("scroll", &json!({ "direction": "bottom" }));
    assert_eq!((&scrolled["above"], &scrolled["below"]), (&json!(700), &json!(0)));
    assert!(text.contains("this is the end"), "{text}");
}

#[test]
fn files_go_to_an_input_that_takes_them() {
    let agent = Agent::at_the_shop();
    let (_, text) = agent.answer("upload_file", &json!({ "element": "#papers", "paths": ["a.pdf"] }));
    assert!(text.starts_with("Gave file \"Papers\" [k3e5] a.pdf."), "{text}");
    let given = json!({ "element": "globalThis.wharfPage.fileInput(\"k3e5\")", "paths": ["a.pdf"] });
    assert_eq!(agent.operations().last(), Some(&("set-files".to_owned(), given)));
    assert!(agent.refused("upload_file", &json!({ "element": "#papers", "paths": ["a", "b"] })).contains("one file"));
    let refused = agent.refused("upload_file", &json!({ "element": "#cart", "paths": ["a"] }));
    assert!(refused.contains("takes no files; the page has file \"Papers\" [k3e5]"), "{refused}");
    let poor = Agent::on(site().rules(|rules| rules.uploads = false));
    poor.ok("create_session", &json!({}));
    assert!(poor.refused("upload_file", &json!({ "element": "#papers", "paths": ["a"] })).starts_with("denied"));
}
