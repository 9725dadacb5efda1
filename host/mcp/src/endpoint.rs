//! The protocol over HTTP, both eras on one endpoint for each client.
//!
//! Owns what requests and sessions may take, and the sessions of the older era. The protocol
//! crate says what a message means and which era it belongs to. Nothing here knows a
//! connection, a token or a route: a server hands on whole requests.
//!
//! | file | what it owns |
//! |---|---|
//! | `factory`, `service` | endpoints, one for each client; one of them, as a tower service |
//! | `message`, `outline` | what is read of a message before the protocol crate has it; what it gets in place of arguments |
//! | `direct` | plain calls, which go past the protocol crate |
//! | `permits`, `refusal` | what a client takes; why a request is not taken up |
//! | `request_scope` | what belongs to the request that is being answered |
//! | `session_table`, `session` | sessions: how many, how long; one of them, and its streams |
//! | `event_buffer`, `follower` | the messages of one stream; a client that reads them |
//! | `answer` | answers as JSON or events |

mod answer;
mod client_shelf;
mod direct;
mod event_buffer;
mod factory;
mod follower;
mod message;
mod outline;
mod permits;
mod refusal;
mod request_scope;
mod service;
mod session;
mod session_table;

pub use answer::{EndpointBody, EndpointResponse};
pub use factory::HttpEndpoints;
pub use refusal::EndpointRefusal;
pub(crate) use request_scope::repeated_arguments;
pub use service::{EndpointRequest, HttpEndpoint};
