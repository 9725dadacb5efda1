//! The whole house from outside, one file for each promise. All in one program:
//! every further one would link the runtime again.
#![cfg(unix)]

mod apps;
mod attach;
mod audit;
mod cache;
mod cancellation;
mod command;
mod components;
mod configuration;
mod containment;
mod content_store;
mod contexts;
mod contract;
mod corpora;
mod failures;
mod first_calls;
mod front_ends;
mod full_disk;
mod grants;
mod http;
mod http_mcp;
mod kills;
mod large;
mod limits;
mod middleware;
mod named;
mod oauth;
mod offers;
mod operator;
mod planning;
mod plugins;
mod processes;
mod requests;
mod schemas;
mod sealed;
mod seen;
mod state;
mod state_limits;
mod streams;
mod tenants;
mod terminals;
mod traces;
mod watching;
mod webviews;
mod workspace;
