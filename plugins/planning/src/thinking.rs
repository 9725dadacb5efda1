//! The document `thinking`: how far a chain of thoughts has come. The thoughts
//! themselves lie beside it, each in an entry of its own, so that a new one
//! never rewrites the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::ToolError;

use crate::limits::{self, check_text};
use crate::store::ThreadDocument;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Thought {
    /// Counts every thought of this thread from 1.
    pub(crate) sequence: u64,
    pub(crate) thought: String,
    pub(crate) thought_number: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revises_thought: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch_from_thought: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch_id: Option<String>,
}

/// A thought as a model hands it in.
#[derive(Debug)]
pub(crate) struct NewThought<'a> {
    pub(crate) thought: &'a str,
    pub(crate) thought_number: u32,
    pub(crate) total_thoughts: u32,
    pub(crate) revises_thought: Option<u32>,
    pub(crate) branch_from_thought: Option<u32>,
    pub(crate) branch_id: Option<&'a str>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Thinking {
    /// Every thought there ever was, kept or not.
    pub(crate) count: u64,
    pub(crate) thought_number: u32,
    pub(crate) total_thoughts: u32,
    /// The youngest last.
    pub(crate) branches: Vec<String>,
}

impl ThreadDocument for Thinking {
    const KEY: &'static str = "thinking";
    const LARGEST_BYTES: usize = 64 * 1024;
    const ROOM: &'static str = "clear_session makes room";
}

impl Thinking {
    /// Takes a thought in and returns it as it is to be kept.
    pub(crate) fn add(&mut self, new: &NewThought<'_>) -> Result<Thought, ToolError> {
        check_text("thought", new.thought, limits::THOUGHT)?;
        check_number("thoughtNumber", Some(new.thought_number))?;
        check_number("totalThoughts", Some(new.total_thoughts))?;
        check_number("revisesThought", new.revises_thought)?;
        check_number("branchFromThought", new.branch_from_thought)?;
        match (new.branch_from_thought, new.branch_id) {
            (Some(_), Some(branch)) => {
                check_text("branchId", branch, limits::BRANCH_ID)?;
                self.enter_branch(branch);
            }
            (None, None) => {}
            (Some(_), None) => {
                return Err(ToolError::invalid("`branchFromThought` needs `branchId`: a branch needs both"));
            }
            (None, Some(_)) => {
                return Err(ToolError::invalid("`branchId` needs `branchFromThought`: a branch needs both"));
            }
        }
        self.count += 1;
        self.thought_number = new.thought_number;
        self.total_thoughts = new.total_thoughts.max(new.thought_number);
        Ok(Thought {
            sequence: self.count,
            thought: new.thought.to_owned(),
            thought_number: new.thought_number,
            revises_thought: new.revises_thought,
            branch_from_thought: new.branch_from_thought,
            branch_id: new.branch_id.map(str::to_owned),
        })
    }

    fn enter_branch(&mut self, branch: &str) {
        if self.branches.iter().any(|known| known == branch) {
            return;
        }
        self.branches.push(branch.to_owned());
        if self.branches.len() > limits::BRANCHES {
            self.branches.remove(0);
        }
    }

    /// How many thoughts are kept.
    pub(crate) fn kept(&self) -> u64 {
        self.count.min(limits::THOUGHTS)
    }

    /// The keys of the youngest thoughts, the oldest of them first.
    pub(crate) fn youngest(&self, wanted: u64) -> Vec<String> {
        let wanted = wanted.min(self.kept());
        (self.count - wanted + 1..=self.count).map(thought_key).collect()
    }
}

/// Where a thought lies: places are used in turn, so that each new thought
/// takes that of the oldest.
pub(crate) fn thought_key(sequence: u64) -> String {
    format!("thought/{:02}", sequence % limits::THOUGHTS)
}

fn check_number(field: &str, number: Option<u32>) -> Result<(), ToolError> {
    match number {
        Some(number) if !(1..=limits::THOUGHT_NUMBER).contains(&number) => {
            Err(ToolError::invalid(format!("`{field}` is {number}; it goes from 1 to {}", limits::THOUGHT_NUMBER)))
        }
        _ => Ok(()),
    }
}
