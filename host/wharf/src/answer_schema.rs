//! What a tool promises of its structured answer, and what a caller is told where an
//! answer breaks that.

use wharf_core::{Answer, Code, Error, Schema, Tool};

use crate::checking::Unfit;

/// What is checked, in words.
pub(crate) const ANSWER: &str = "the structured answer";

/// The schema that an answer has to keep, where it has to.
///
/// # Errors
/// Where what it promises is not there.
pub(crate) fn promised<'t>(answer: &Answer, tool: &'t Tool) -> Result<Option<&'t Schema>, Error> {
    let promised = !answer.is_error && answer.input_required.is_none();
    let schema = tool.output.as_ref().filter(|_| promised);
    if schema.is_some() && answer.structured.is_none() {
        return Err(broken("is missing"));
    }
    Ok(schema)
}

/// What is told of an answer that does not keep its schema.
pub(crate) fn unfit_answer(unfit: Unfit) -> Error {
    match unfit {
        Unfit::Violations(violations) => broken(&format!("does not fit its output schema:\n{violations}")),
        Unfit::Failed(error) => error,
    }
}

fn broken(what: &str) -> Error {
    Error::new(Code::Internal, format!("the tool broke its contract: its structured answer {what}"))
}
