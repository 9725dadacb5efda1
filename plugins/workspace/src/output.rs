//! What a process printed, as a model reads it: without escape sequences
//! (`clean`), cut to what it can take (`excerpt`), with how the process is in words (`words`), all
//! of it as an answer (`answer`). None of it knows where the bytes come from.

pub(crate) mod answer;
pub(crate) mod clean;
pub(crate) mod excerpt;
#[cfg(test)]
mod samples;
pub(crate) mod words;
