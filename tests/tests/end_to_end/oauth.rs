//! Tokens of an authorization server: a real one, and the real binary.

mod introspection;
mod issuer;
mod serving;
mod verifier;
