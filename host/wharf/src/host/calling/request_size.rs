//! How much may come with a request: a limit for each part, and what all of it takes.

use wharf_core::{CallLimits, Code, Error, InputGiven, service::Caller, tool::json_bytes};

/// What may come with a request besides its arguments; the contract says so.
const MAX_META_BYTES: u64 = 64 << 10;

/// Whether arguments of so many bytes may be sent.
///
/// # Errors
/// `limit` where they may not.
pub(in crate::host) fn argument_bytes(bytes: u64, limits: &CallLimits) -> Result<(), Error> {
    let told = || {
        format!(
            "the arguments have {bytes} bytes, more than {} (limit `argument_bytes`); send less at a time",
            limits.argument_bytes
        )
    };
    at_most(bytes, limits.argument_bytes, told)
}

/// How many bytes come with a request beside its arguments and `_meta`: what was given to a
/// round of input, and what the client says of itself.
///
/// # Errors
/// `limit` where one of the parts has more than it may.
pub(in crate::host) fn request_bytes(caller: &Caller, input: &InputGiven, limits: &CallLimits) -> Result<u64, Error> {
    let limit = limits.argument_bytes;
    let too_many = |what: &'static str, bytes: u64| {
        move || format!("{what} {bytes} bytes, more than {limit} (limit `argument_bytes`)")
    };
    let given =
        if input.is_empty() { 0 } else { json_bytes(&input.responses).saturating_add(json_bytes(&input.state)) };
    at_most(given, limit, too_many("what was given to the round of input has", given))?;
    let meta = if caller.meta.is_empty() { 0 } else { json_bytes(&caller.meta) };
    at_most(meta, MAX_META_BYTES, || {
        format!("the request's `_meta` has {meta} bytes, more than {MAX_META_BYTES}; send less with it")
    })?;
    let declared = caller.capabilities.as_ref().map_or(0, json_bytes);
    at_most(declared, limit, too_many("what the client says of itself has", declared))?;
    Ok(given.saturating_add(declared))
}

fn at_most(bytes: u64, limit: u64, told: impl FnOnce() -> String) -> Result<(), Error> {
    if bytes <= limit { Ok(()) } else { Err(Error::new(Code::Limit, told())) }
}
