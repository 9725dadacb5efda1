//! The steps of a playbook, and which workflows are legal: ids and names that
//! occur once, and references only to what an earlier step yields.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::ToolError;

use crate::limits::{self, check_count, check_text};
use crate::reference::{self, is_legal_name};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Action {
    pub(crate) tool_name: String,
    pub(crate) purpose: String,
}

/// The same as a model hands it in. What is answered has no such bounds: the
/// outputs of other steps may stand in it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct NewAction {
    /// The name of the tool.
    #[schemars(length(min = 1, max = limits::TOOL_NAME))]
    tool_name: String,
    /// What it is to achieve here. May use `{{name}}`.
    #[schemars(length(min = 1, max = limits::PURPOSE))]
    purpose: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowStep {
    pub(crate) step_id: String,
    pub(crate) description: String,
    pub(crate) action: Action,
    pub(crate) required_data: Vec<String>,
    /// What later steps call the output of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output_variable: Option<String>,
}

// What a model hands in; the list of tools says the rest of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewStep {
    /// Letters, digits, `.`, `_`, `-`; left out, the step gets one: step-1 and so on.
    #[schemars(length(min = 1, max = limits::NAME))]
    step_id: Option<String>,
    /// What is to be done. `{{name}}` is the output of the earlier step whose `outputVariable` is `name`.
    #[schemars(length(min = 1, max = limits::STEP_DESCRIPTION))]
    description: String,
    /// The tool, and what for.
    action: NewAction,
    /// What must be known before the step. May use `{{name}}`.
    #[serde(default)]
    #[schemars(length(max = limits::REQUIRED_DATA), inner(length(min = 1, max = limits::REQUIRED_DATUM)))]
    required_data: Vec<String>,
    /// A name for its output, for `{{name}}` in later steps: letters, digits and `_`, no digit first.
    #[schemars(length(min = 1, max = limits::NAME))]
    output_variable: Option<String>,
}

/// Makes the steps of a workflow. Those without an id get one that no step had
/// before: not in this workflow, nor in the `former` one, so that progress with
/// a former step is never taken for progress with another.
pub(crate) fn build(
    new: Vec<NewStep>,
    former: &[WorkflowStep],
    last_step: &mut u32,
) -> Result<Vec<WorkflowStep>, ToolError> {
    if new.is_empty() {
        return Err(ToolError::invalid("`workflow` is empty; it needs at least one step"));
    }
    check_count("workflow", new.len(), limits::STEPS)?;
    let given = check_ids(&new)?;
    let is_taken = |id: &str| given.contains(id) || former.iter().any(|step| step.step_id == id);
    let mut steps = Vec::with_capacity(new.len());
    for (index, step) in new.into_iter().enumerate() {
        check_texts(index, &step)?;
        let step_id = match step.step_id {
            Some(id) => id,
            None => next_id(last_step, is_taken)?,
        };
        steps.push(WorkflowStep {
            step_id,
            description: step.description,
            action: Action { tool_name: step.action.tool_name, purpose: step.action.purpose },
            required_data: step.required_data,
            output_variable: step.output_variable,
        });
    }
    check_outputs(&steps)?;
    check_references(&steps)?;
    Ok(steps)
}

fn next_id(last_step: &mut u32, is_taken: impl Fn(&str) -> bool) -> Result<String, ToolError> {
    loop {
        *last_step =
            last_step.checked_add(1).ok_or_else(|| ToolError::limit("this playbook has used up all ids of steps"))?;
        let id = format!("step-{last_step}");
        if !is_taken(&id) {
            return Ok(id);
        }
    }
}

fn check_ids(new: &[NewStep]) -> Result<BTreeSet<String>, ToolError> {
    let mut given = BTreeSet::new();
    for (index, step) in new.iter().enumerate() {
        let Some(id) = &step.step_id else { continue };
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if !(1..=limits::NAME).contains(&id.len()) || !id.bytes().all(legal) {
            return Err(ToolError::invalid(format!(
                "`workflow[{index}].stepId` is no legal id: it needs 1 to {} of letters, digits, `.`, `_` and `-`",
                limits::NAME
            )));
        }
        if !given.insert(id.clone()) {
            return Err(ToolError::invalid(format!(
                "`workflow[{index}].stepId` is `{id}`, as that of an earlier step; every step needs its own"
            )));
        }
    }
    Ok(given)
}

fn check_texts(index: usize, step: &NewStep) -> Result<(), ToolError> {
    let field = |name: &str| format!("workflow[{index}].{name}");
    check_text(&field("description"), &step.description, limits::STEP_DESCRIPTION)?;
    check_text(&field("action.toolName"), &step.action.tool_name, limits::TOOL_NAME)?;
    check_text(&field("action.purpose"), &step.action.purpose, limits::PURPOSE)?;
    check_count(&field("requiredData"), step.required_data.len(), limits::REQUIRED_DATA)?;
    for (position, datum) in step.required_data.iter().enumerate() {
        check_text(&field(&format!("requiredData[{position}]")), datum, limits::REQUIRED_DATUM)?;
    }
    Ok(())
}

fn check_outputs(steps: &[WorkflowStep]) -> Result<(), ToolError> {
    let mut outputs = BTreeSet::new();
    for (index, step) in steps.iter().enumerate() {
        let Some(output) = &step.output_variable else { continue };
        if !is_legal_name(output) {
            return Err(ToolError::invalid(format!(
                "`workflow[{index}].outputVariable` is no legal name: it needs a letter or `_`, then letters, digits \
                 and `_`, {} in all at most, without braces",
                limits::NAME
            )));
        }
        if !outputs.insert(output) {
            return Err(ToolError::invalid(format!(
                "`workflow[{index}].outputVariable` is `{output}`, as that of an earlier step; every output needs its \
                 own name"
            )));
        }
    }
    Ok(())
}

fn check_references(steps: &[WorkflowStep]) -> Result<(), ToolError> {
    let mut count = 0;
    for (index, step) in steps.iter().enumerate() {
        for (field, text) in step.texts() {
            for name in reference::names(text) {
                count += 1;
                if !yielded(&steps[..index]).any(|output| output == name) {
                    return Err(unyielded(steps, index, &field, name));
                }
            }
        }
    }
    if count > limits::REFERENCES {
        return Err(ToolError::invalid(format!(
            "`workflow` has {count} references in double braces; at most {} are resolved",
            limits::REFERENCES
        )));
    }
    Ok(())
}

fn yielded(steps: &[WorkflowStep]) -> impl Iterator<Item = &str> {
    steps.iter().filter_map(|step| step.output_variable.as_deref())
}

fn unyielded(steps: &[WorkflowStep], index: usize, field: &str, name: &str) -> ToolError {
    let name_shown: String = name.chars().take(limits::NAME).collect();
    let later = steps[index..].iter().find(|step| step.output_variable.as_deref() == Some(name));
    let why = match later {
        Some(step) => format!("step `{}` yields, which does not come earlier", step.step_id),
        None => "no step yields".to_owned(),
    };
    let earlier = yielded(&steps[..index]).collect::<Vec<_>>().join(", ");
    let earlier = if earlier.is_empty() { "nothing".to_owned() } else { earlier };
    ToolError::invalid(format!(
        "`workflow[{index}].{field}` refers to {{{{{name_shown}}}}}, which {why}; earlier steps yield: {earlier}"
    ))
}

impl WorkflowStep {
    /// Every text that may refer to outputs, with the name of its field.
    fn texts(&self) -> impl Iterator<Item = (String, &str)> {
        let data = self.required_data.iter().enumerate();
        [("description".to_owned(), self.description.as_str()), ("action.purpose".to_owned(), &self.action.purpose)]
            .into_iter()
            .chain(data.map(|(index, datum)| (format!("requiredData[{index}]"), datum.as_str())))
    }

    /// Whether a text of this step refers to an output.
    pub(crate) fn refers_to(&self, name: &str) -> bool {
        self.texts().any(|(_, text)| reference::names(text).any(|found| found == name))
    }

    /// The step as a few lines of text.
    pub(crate) fn text(&self, mark: &str) -> String {
        let mut text = format!(
            "  {mark} {}: {}\n      tool: {} - {}\n",
            self.step_id, self.description, self.action.tool_name, self.action.purpose
        );
        for datum in &self.required_data {
            text.push_str(&format!("      needs: {datum}\n"));
        }
        if let Some(output) = &self.output_variable {
            text.push_str(&format!("      yields: {output}\n"));
        }
        text
    }
}
