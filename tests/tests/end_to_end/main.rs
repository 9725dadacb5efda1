//! The whole house from outside, one file for each promise. All in one program:
//! every further one would link the runtime again.

mod components;
mod failures;
mod limits;
mod sealed;
