//! Tokens of an authorization server: a real one, and the real binary.

mod issuer;
mod serving;
mod verifier;
