//! The documents beside the program: what they tell a reader to type exists, and what
//! they show is what happens.

mod calls;
mod commands;
mod matching;
mod pages;
mod routes;
mod tools;
mod transcripts;
