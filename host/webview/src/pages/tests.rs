//! The rules of pages, with a backend that does what a test says and a clock that a
//! test moves.

mod files;
mod handing;
mod hosts;
mod limits;
mod owners;
mod rules;
mod support;
mod tenants;
mod watched;
