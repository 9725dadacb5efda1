//! What plugins say of their prompts and resources, checked for every plugin before any
//! of it reaches a client.
//!
//! It knows neither the client nor how a plugin is called.

mod answer;
mod claims;
mod definition;
#[cfg(test)]
mod tests;

pub use answer::{MAX_COMPLETIONS, MAX_RESOURCES, checked_listing, checked_parts, completions};
pub use claims::{Claims, InvalidClaim, MAX_CLAIMS, MAX_URI_BYTES};
pub use definition::{InvalidOffer, MAX_ARGUMENTS, MAX_OFFERS, OfferProblem, check_prompts, check_templates};
