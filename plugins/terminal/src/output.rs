//! What a program printed, as a model reads it.

pub(crate) mod answer;
pub(crate) mod excerpt;
pub(crate) mod words;
