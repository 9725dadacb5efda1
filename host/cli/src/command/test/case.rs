//! The cases of a plugin: calls, and what is expected of their answers.

use std::{fs, mem::take, path::Path};

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Map, Value};
use wharf::{Answer, AssistantId, Code, Context, Error, SessionId, TenantId, ThreadId};

use super::script::{PageScript, ProgramScript, ResponseScript, Scripts};
use crate::exit::Unusable;

/// A file of cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cases {
    /// In the order in which they run.
    #[serde(rename = "case")]
    pub(super) list: Vec<TestCase>,
    /// Whether cases have no program, page or server that is not scripted.
    #[serde(default)]
    only_scripted: bool,
    #[serde(default, rename = "program")]
    programs: Vec<ProgramScript>,
    #[serde(default, rename = "page")]
    pages: Vec<PageScript>,
    #[serde(default, rename = "response")]
    responses: Vec<ResponseScript>,
}

/// A call, and what its answer has to be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestCase {
    pub(super) name: String,
    pub(super) tool: String,
    #[serde(default)]
    pub(super) arguments: Map<String, Value>,
    session: Option<SessionId>,
    assistant: Option<AssistantId>,
    thread: Option<ThreadId>,
    text: Option<String>,
    text_contains: Option<String>,
    structured: Option<Value>,
    /// A code of the contract.
    error: Option<String>,
    error_contains: Option<String>,
    only_scripted: Option<bool>,
    #[serde(default, rename = "program")]
    programs: Vec<ProgramScript>,
    #[serde(default, rename = "page")]
    pages: Vec<PageScript>,
    #[serde(default, rename = "response")]
    responses: Vec<ResponseScript>,
}

impl Cases {
    /// Reads a file, and refuses cases that expect nothing.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file).map_err(|error| Unusable(format!("cannot read {shown}: {error}")))?;
        let cases: Self = toml::from_str(&text).map_err(|error| Unusable(format!("{shown}: {error}")))?;
        for case in &cases.list {
            if let Some(problem) = case.malformed() {
                return Err(Unusable(format!("{shown}: the case `{}` {problem}", case.name)).into());
            }
        }
        Ok(cases)
    }

    /// The scripts of the file, without those of its cases.
    pub(super) fn take_scripts(&mut self) -> Scripts {
        let Self { programs, pages, responses, .. } = self;
        Scripts { programs: take(programs), pages: take(pages), responses: take(responses) }
    }

    /// Whether a case has nothing that is not scripted.
    pub(super) fn only_scripted(&self, case: &TestCase) -> bool {
        case.only_scripted.unwrap_or(self.only_scripted)
    }

    /// Whether that holds for one of them.
    pub(super) fn is_any_only_scripted(&self) -> bool {
        self.list.iter().any(|case| self.only_scripted(case))
    }
}

impl TestCase {
    /// The scripts of the case alone.
    pub(super) fn take_scripts(&mut self) -> Scripts {
        let Self { programs, pages, responses, .. } = self;
        Scripts { programs: take(programs), pages: take(pages), responses: take(responses) }
    }

    fn malformed(&self) -> Option<&'static str> {
        let of_error = self.error.is_some() || self.error_contains.is_some();
        let of_answer = self.text.is_some() || self.text_contains.is_some() || self.structured.is_some();
        match (of_answer, of_error) {
            (false, false) => {
                Some("expects nothing: say `text`, `text_contains`, `structured`, `error` or `error_contains`")
            }
            (true, true) => Some("expects an answer and an error; a call has one of them"),
            (true, false) | (false, true) => None,
        }
    }

    /// On whose behalf it calls.
    pub(super) fn context(&self) -> Context {
        let session = self.session.clone().unwrap_or_else(SessionId::default_session);
        Context {
            assistant: self.assistant.clone(),
            thread: self.thread.clone(),
            ..Context::new(TenantId::local(), session)
        }
    }

    /// What is wrong with an answer; nothing where it is as expected.
    pub(super) fn problem(&self, answered: &Result<Answer, Error>) -> Option<String> {
        match answered {
            Err(error) => self.problem_of_error(error.code.as_str(), &error.message),
            Ok(answer) if answer.is_error => {
                let said = text(answer);
                let (code, message) = code_of(&said);
                self.problem_of_error(code, message)
            }
            Ok(answer) => self.problem_of_answer(answer),
        }
    }

    fn problem_of_error(&self, code: &str, message: &str) -> Option<String> {
        let Self { error, error_contains, .. } = self;
        if error.is_none() && error_contains.is_none() {
            return Some(format!("an answer was expected, and the call ended with\n{code}: {message}"));
        }
        if let Some(expected) = error.as_deref().filter(|expected| *expected != code) {
            return Some(format!("the error {expected} was expected, and the call ended with\n{code}: {message}"));
        }
        let expected = error_contains.as_deref().filter(|expected| !message.contains(expected))?;
        Some(format!("an error with {expected:?} was expected, and the call ended with\n{code}: {message}"))
    }

    fn problem_of_answer(&self, answer: &Answer) -> Option<String> {
        let said = text(answer);
        if let Some(expected) = self.error.as_deref().or(self.error_contains.as_deref()) {
            return Some(format!("the error {expected} was expected, and the tool answered\n{said}"));
        }
        if let Some(expected) = self.text.as_ref().filter(|expected| **expected != said) {
            return Some(format!("expected the text\n{expected}\nand got\n{said}"));
        }
        if let Some(expected) = self.text_contains.as_deref().filter(|expected| !said.contains(expected)) {
            return Some(format!("expected {expected:?} in the text\n{said}"));
        }
        let expected = self.structured.as_ref().filter(|expected| answer.structured.as_ref() != Some(expected))?;
        let got = answer.structured.clone().unwrap_or_default();
        Some(format!("expected the structured answer\n{expected:#}\nand got\n{got:#}"))
    }
}

/// The code that an answer begins with, as the kits write their errors; a tool may say what it likes.
fn code_of(said: &str) -> (&str, &str) {
    let code = said.split_once(": ").filter(|(word, _)| Code::from_guest(word).as_str() == *word);
    code.unwrap_or(("tool-error", said))
}

fn text(answer: &Answer) -> String {
    answer.content.iter().filter_map(|part| part.as_text()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wharf::Content;

    use super::*;

    fn case(expected: &str) -> TestCase {
        let text = format!("[[case]]\nname = \"n\"\ntool = \"t\"\n{expected}\n");
        let mut cases: Cases = toml::from_str(&text).expect("a case");
        cases.list.remove(0)
    }

    fn answer(said: &str, structured: Value) -> Result<Answer, Error> {
        Ok(Answer { content: vec![Content::text(said)], structured: Some(structured), ..Answer::default() })
    }

    #[test]
    fn an_answer_is_held_against_what_is_expected() {
        let good = answer("Visit 1 of Ada.", json!({ "count": 1 }));
        let refused = Err(Error::new(Code::Denied, "not granted: state"));
        for (expected, of_good, of_refused) in [
            ("text = \"Visit 1 of Ada.\"", true, false),
            ("text = \"Visit\"", false, false),
            ("text_contains = \"Visit 1\"", true, false),
            ("structured = { count = 1 }", true, false),
            ("structured = { count = 2 }", false, false),
            ("text_contains = \"Visit\"\nstructured = { count = 2 }", false, false),
            ("error = \"denied\"", false, true),
            ("error = \"invalid\"", false, false),
            ("error = \"denied\"\nerror_contains = \"state\"", false, true),
            ("error_contains = \"process\"", false, false),
        ] {
            let case = case(expected);
            assert_eq!(case.malformed(), None, "{expected}");
            assert_eq!(
                (case.problem(&good).is_none(), case.problem(&refused).is_none()),
                (of_good, of_refused),
                "{expected}"
            );
        }
    }

    #[test]
    fn the_error_of_a_tool_has_the_code_that_it_begins_with() {
        assert_eq!(code_of("denied: not granted"), ("denied", "not granted"));
        assert_eq!(code_of("Sorry: it broke"), ("tool-error", "Sorry: it broke"));
        assert_eq!(code_of("it broke"), ("tool-error", "it broke"));
    }

    #[test]
    fn a_case_that_cannot_fail_is_refused() {
        assert!(case("").malformed().is_some());
        assert!(case("text = \"a\"\nerror = \"invalid\"").malformed().is_some());
        assert!(toml::from_str::<Cases>("[[case]]\nname = \"n\"\ntool = \"t\"\ntexts = \"a\"").is_err());
    }
}
