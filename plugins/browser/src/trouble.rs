//! What went wrong, in words that say what was found instead and what to do: for
//! elements that cannot be found or used, and for pages that do not answer.

use serde_json::Value;
use wharf_sdk::webview::{FailureKind, ScriptFailure};
use wharf_sdk::{ErrorCode, ToolError};

use crate::answer::{OpenDialog, quoted};
use crate::page::{ElementBrief, SessionPage};
use crate::session::of_session;

/// Refuses an answer of a page that is a problem with an element.
pub(crate) fn check(target: &str, answer: &Value) -> Result<(), ToolError> {
    match answer["problem"].as_str() {
        Some(problem) => Err(of_problem(target, problem, answer)),
        None => Ok(()),
    }
}

fn of_problem(target: &str, problem: &str, answer: &Value) -> ToolError {
    let element = briefly(answer);
    let (code, message) = match problem {
        "none" => (ErrorCode::NotFound, format!("no element matches `{target}`; {}", near(answer))),
        "many" => (
            ErrorCode::Conflict,
            format!(
                "{} elements match `{target}`: {}; give the reference of the one that is meant",
                answer["count"],
                list(&answer["found"])
            ),
        ),
        "stale" => {
            (ErrorCode::Gone, format!("`{target}` is of a page that is gone: take a new snapshot; {}", near(answer)))
        }
        "unknown" => (ErrorCode::NotFound, format!("`{target}` is no reference of this page; {}", near(answer))),
        "detached" => (
            ErrorCode::Gone,
            format!(
                "the element of `{target}` is not part of the page any more: take a new snapshot; {}",
                near(answer)
            ),
        ),
        "selector" => (
            ErrorCode::Invalid,
            format!(
                "`{target}` is no CSS selector; give a reference such as `k3e12`, a selector, or `text=` and what the \
                 element is called; {}",
                near(answer)
            ),
        ),
        "hidden" => (
            ErrorCode::Conflict,
            format!("{element} is there, but cannot be seen; what shows it (a menu, a tab) has to be opened first"),
        ),
        "disabled" => {
            (ErrorCode::Conflict, format!("{element} is disabled; something else has to be filled or chosen first"))
        }
        "readonly" => (ErrorCode::Conflict, format!("{element} can only be read")),
        "moving" => (ErrorCode::Conflict, format!("{element} keeps moving")),
        "outside" => (ErrorCode::Conflict, format!("{element} cannot be scrolled to where it can be seen")),
        "covered" => (ErrorCode::Conflict, covered(&element, &answer["by"])),
        "cursor" => {
            (ErrorCode::Gone, "this cursor is of a text that is not kept any more: begin anew without one".to_owned())
        }
        other => return of_field(&element, other, answer),
    };
    ToolError { code, message, retryable: false }
}

/// A field that does not take what it is given.
fn of_field(element: &str, problem: &str, answer: &Value) -> ToolError {
    let wanted = quoted(answer["wanted"].as_str().unwrap_or_default());
    ToolError::invalid(match problem {
        "box" => format!("{element} is ticked with \"true\" and cleared with \"false\""),
        "radio" => format!("{element} cannot be cleared: choose another one of its group"),
        "file" => format!("{element} takes files: upload_file gives it some"),
        "field" => format!("{element} is no field that takes text"),
        "select" => format!("{element} is no select: click it, and then the option"),
        "single" => format!("{element} takes one option"),
        "option-disabled" => format!("the option {wanted} of {element} is disabled"),
        "format" => {
            let kind = answer["type"].as_str().unwrap_or_default();
            let format = match kind {
                "date" => "2026-12-31",
                "time" => "23:59",
                "datetime-local" => "2026-12-31T23:59",
                "month" => "2026-12",
                "week" => "2026-W01",
                _ => "another form",
            };
            format!("{element} takes a {kind} such as {format}")
        }
        "option" => {
            let options = answer["options"].as_array().map(Vec::as_slice).unwrap_or_default();
            let known: Vec<String> = options.iter().filter_map(Value::as_str).map(quoted).collect();
            let more = answer["more"].as_u64().filter(|more| *more > 0);
            let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
            format!("{element} has no option {wanted}; it has {}{more}", known.join(", "))
        }
        "no-file" => {
            format!("{element} takes no files; the page has {}", some(&list(&answer["inputs"]), "no input that does"))
        }
        other => format!("{element}: {other}"),
    })
}

fn covered(element: &str, by: &Value) -> String {
    let what = if by.is_null() { "something".to_owned() } else { briefly(by) };
    format!("{element} is covered by {what}, which would take the click; close or move that first")
}

/// `button "Buy now" [k3e12]`
fn briefly(element: &Value) -> String {
    let ElementBrief { reference, role, name } = serde_json::from_value(element.clone()).unwrap_or_default();
    one(&role, &name, &reference)
}

/// An element in a sentence.
pub(crate) fn one(role: &str, name: &str, reference: &str) -> String {
    let role = if role.is_empty() { "element" } else { role };
    let name = if name.is_empty() { String::new() } else { format!(" {}", quoted(name)) };
    let reference = if reference.is_empty() { String::new() } else { format!(" [{reference}]") };
    format!("{role}{name}{reference}")
}

fn list(elements: &Value) -> String {
    let elements = elements.as_array().map(Vec::as_slice).unwrap_or_default();
    elements.iter().map(briefly).collect::<Vec<_>>().join(", ")
}

fn some<'t>(text: &'t str, nothing: &'t str) -> &'t str {
    if text.is_empty() { nothing } else { text }
}

/// Tells what the page has instead.
fn near(answer: &Value) -> String {
    near_of(&answer["near"])
}

pub(crate) fn near_of(near: &Value) -> String {
    let counts = near["counts"].as_object();
    let counted: Vec<String> = counts
        .into_iter()
        .flatten()
        .map(|(role, count)| format!("{count} {role}{}", if count == 1 { "" } else { "s" }))
        .collect();
    if counted.is_empty() {
        return "the page shows nothing that can be clicked or filled; it may still be loading (wait_for)".to_owned();
    }
    let likely = list(&near["likely"]);
    let likely = match (likely.is_empty(), near["similar"] == true) {
        (true, _) => String::new(),
        (false, true) => format!("; did you mean {likely}?"),
        (false, false) => format!(", such as {likely}; get_snapshot shows all"),
    };
    format!("the page has {}{likely}", counted.join(", "))
}

/// Why a page did not do it, with what to do next.
pub(crate) fn of_failure(page: &SessionPage<'_>, failure: ScriptFailure) -> ToolError {
    let advice = match failure.kind() {
        Some(FailureKind::DialogOpen) => {
            let open = page.info().ok().and_then(|info| info.dialog.as_ref().map(OpenDialog::from));
            let text =
                open.map_or_else(|| "A dialog is open: handle_dialog answers it.".to_owned(), |open| open.text());
            return ToolError { code: ErrorCode::Conflict, message: text, retryable: false };
        }
        Some(FailureKind::Denied) => "list_sessions says what pages may reach here",
        Some(FailureKind::Crashed) => "reload loads the page again",
        Some(FailureKind::BackendGone) => "the browser is started again with the next call",
        Some(FailureKind::Navigated) => "get_snapshot shows where it is now",
        // The host advises a plugin here, and not a model.
        Some(FailureKind::TimeOut) => {
            return ToolError::timeout(
                "the page did not do it in the time that it had; a longer `timeout_seconds` waits longer, where the tool \
                 has one; get_console shows what the page complains of, and reload begins anew",
            );
        }
        Some(FailureKind::Unsupported) => "list_sessions says what can be done with pages here",
        Some(FailureKind::Exception) => return thrown(failure),
        Some(_) => return ToolError::from(failure),
        None => return of_session(ToolError::from(failure)),
    };
    let error = ToolError::from(failure);
    error.with_advice(advice)
}

/// What a script threw, which are words of the page.
fn thrown(failure: ScriptFailure) -> ToolError {
    match failure {
        ScriptFailure::Failed { message, .. } => ToolError::invalid(format!("the script threw {}", quoted(&message))),
        other => ToolError::from(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(target: &str, answer: Value) -> String {
        check(target, &answer).expect_err("a problem").to_string()
    }

    #[test]
    fn an_element_that_is_not_there_is_answered_with_what_is() {
        let near = json!({
            "counts": { "button": 3, "link": 1 },
            "likely": [{ "ref": "k3e12", "role": "button", "name": "Buy now" }],
            "similar": true,
        });
        assert_eq!(
            told("#buy", json!({ "problem": "none", "near": near })),
            "not-found: no element matches `#buy`; the page has 3 buttons, 1 link; did you mean button \"Buy now\" [k3e12]?"
        );
        let stale = told("a1e5", json!({ "problem": "stale", "near": near }));
        assert!(stale.starts_with("gone: `a1e5` is of a page that is gone: take a new snapshot"), "{stale}");
        let empty = told("#x", json!({ "problem": "none", "near": { "counts": {}, "likely": [] } }));
        assert!(empty.contains("may still be loading"), "{empty}");
    }

    #[test]
    fn what_keeps_an_element_from_being_used_is_named() {
        let button = json!({ "problem": "covered", "ref": "k3e1", "role": "button", "name": "Buy",
            "by": { "ref": "k3e2", "role": "dialog", "name": "Cookies" } });
        assert_eq!(
            told("k3e1", button),
            "conflict: button \"Buy\" [k3e1] is covered by dialog \"Cookies\" [k3e2], which would take the click; close or \
             move that first"
        );
        let option = json!({ "problem": "option", "ref": "k3e1", "role": "combobox", "name": "Flag", "wanted": "Spain",
            "options": ["Korea", "Norway"], "more": 3 });
        assert_eq!(
            told("k3e1", option),
            "invalid: combobox \"Flag\" [k3e1] has no option \"Spain\"; it has \"Korea\", \"Norway\" and 3 more"
        );
        let format = json!({ "problem": "format", "type": "date", "role": "textbox", "name": "Arrival" });
        assert!(told("x", format).contains("takes a date such as 2026-12-31"));
        for problem in ["hidden", "disabled", "readonly", "moving", "outside"] {
            assert!(told("x", json!({ "problem": problem, "role": "button" })).starts_with("conflict: button"));
        }
        for problem in ["box", "radio", "file", "field", "select", "single", "option-disabled", "no-file", "other"] {
            assert!(told("x", json!({ "problem": problem, "role": "textbox" })).starts_with("invalid: "));
        }
        let many = json!({ "problem": "many", "count": 2, "found": [{ "ref": "k3e1", "role": "link", "name": "a" }] });
        assert!(told("a", many).contains("2 elements match `a`: link \"a\" [k3e1]"));
    }
}
