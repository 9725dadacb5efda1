//! What a plugin is asked at the home of a session, and what it answers there: a call of a tool,
//! or one of what plugins offer besides.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    Arguments, Caller, InputGiven,
    offer::{CompletionOf, Completions, PromptAnswer, ResourceContent, ResourceDefinition},
};
use crate::{Answer, AnswerMemory, AnswerShare, CallLimits, Code, Error, PluginName, TenantId, tool::json_bytes};

/// One thing that a plugin is asked.
#[derive(Debug, Clone)]
pub struct HomeRequest {
    /// Who asks.
    pub caller: Arc<Caller>,
    /// What.
    pub asked: HomeQuestion,
}

/// What is asked.
#[derive(Debug, Clone)]
pub enum HomeQuestion {
    /// A call of a tool.
    Call {
        /// The full name: `plugin__tool`.
        tool: String,
        /// Context fields are already taken out.
        arguments: Arguments,
        /// What was given to an earlier round.
        input: InputGiven,
    },
    /// A prompt.
    Prompt {
        /// The full name.
        name: String,
        /// Texts by the names of the prompt's arguments.
        arguments: Arguments,
        /// What was given to an earlier round.
        input: InputGiven,
    },
    /// The resources that one plugin lists.
    List {
        /// Which one.
        plugin: PluginName,
    },
    /// A resource.
    Read {
        /// Its address.
        uri: String,
    },
    /// Words that complete an argument.
    Complete {
        /// Of what.
        of: CompletionOf,
        /// The argument's name.
        argument: String,
        /// The beginning of its value.
        typed: String,
        /// The arguments that have been filled already.
        others: Map<String, Value>,
    },
}

/// The answer to what was asked.
#[derive(Debug)]
pub enum HomeAnswer {
    /// Of [`HomeQuestion::Call`].
    Call(Answer),
    /// Of [`HomeQuestion::Prompt`].
    Prompt(PromptAnswer),
    /// Of [`HomeQuestion::List`].
    List(Vec<ResourceDefinition>),
    /// Of [`HomeQuestion::Read`].
    Read(Vec<ResourceContent>),
    /// Of [`HomeQuestion::Complete`].
    Complete(Completions),
}

impl HomeQuestion {
    /// How many bytes of it are the caller's own; JSON counts as text.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Call { arguments, .. } | Self::Prompt { arguments, .. } => arguments.bytes(),
            Self::List { .. } => 0,
            Self::Read { uri } => uri.len() as u64,
            Self::Complete { argument, typed, others, .. } => {
                (argument.len() + typed.len()) as u64 + json_bytes(others)
            }
        }
    }

    /// What was given to an earlier round.
    #[must_use]
    pub fn input(&self) -> Option<&InputGiven> {
        match self {
            Self::Call { input, .. } | Self::Prompt { input, .. } => Some(input),
            Self::List { .. } | Self::Read { .. } | Self::Complete { .. } => None,
        }
    }
}

impl HomeAnswer {
    /// Charges an answer that another host has read.
    ///
    /// # Errors
    /// `limit`, as for an answer that is read here.
    pub fn charge(&mut self, memory: &AnswerMemory, tenant: &TenantId, limits: &CallLimits) -> Result<(), Error> {
        let charge =
            |metas: &mut dyn Iterator<Item = &Map<String, Value>>| memory.charge_objects(metas, tenant, limits);
        match self {
            Self::Call(answer) => memory.charge(answer, tenant, limits)?,
            Self::Prompt(answer) => {
                let parts = answer.messages.iter().map(|message| &message.content.meta);
                answer.memory = charge(&mut parts.chain([&answer.meta]))?;
            }
            Self::List(listed) => {
                let share = charge(&mut listed.iter().map(|listed| &listed.meta))?;
                listed.iter_mut().for_each(|listed| listed.memory = AnswerShare::clone(&share));
            }
            Self::Read(parts) => {
                let share = charge(&mut parts.iter().map(|part| &part.content.meta))?;
                parts.iter_mut().for_each(|part| part.memory = AnswerShare::clone(&share));
            }
            Self::Complete(_) => {}
        }
        Ok(())
    }

    /// The answer of a tool.
    ///
    /// # Errors
    /// `internal` where it is the answer to something else, as in each of these.
    pub fn into_call(self) -> Result<Answer, Error> {
        if let Self::Call(answer) = self { Ok(answer) } else { Err(of_something_else()) }
    }

    /// The answer of a prompt.
    ///
    /// # Errors
    /// See [`HomeAnswer::into_call`].
    pub fn into_prompt(self) -> Result<PromptAnswer, Error> {
        if let Self::Prompt(answer) = self { Ok(answer) } else { Err(of_something_else()) }
    }

    /// What a plugin lists.
    ///
    /// # Errors
    /// See [`HomeAnswer::into_call`].
    pub fn into_list(self) -> Result<Vec<ResourceDefinition>, Error> {
        if let Self::List(listed) = self { Ok(listed) } else { Err(of_something_else()) }
    }

    /// What was read.
    ///
    /// # Errors
    /// See [`HomeAnswer::into_call`].
    pub fn into_read(self) -> Result<Vec<ResourceContent>, Error> {
        if let Self::Read(parts) = self { Ok(parts) } else { Err(of_something_else()) }
    }

    /// The words that complete.
    ///
    /// # Errors
    /// See [`HomeAnswer::into_call`].
    pub fn into_completions(self) -> Result<Completions, Error> {
        if let Self::Complete(completions) = self { Ok(completions) } else { Err(of_something_else()) }
    }
}

fn of_something_else() -> Error {
    Error::new(Code::Internal, "another host of the cell answered something else than it was asked")
}
