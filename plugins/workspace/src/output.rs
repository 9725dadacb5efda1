//! What a process printed, as a model reads it: without escape sequences
//! (`clean`), cut to what it can take (`excerpt`), and in words (`words`). None
//! of it knows where the bytes come from.

pub(crate) mod clean;
pub(crate) mod excerpt;
pub(crate) mod words;
