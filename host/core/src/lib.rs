//! The types that all crates of the Wharf host share: ids, context, grants,
//! limits, schemas, tools and their answers, admission of calls, audit, traces.
//!
//! This crate performs no I/O. It knows nothing of Wasm, of MCP, of SQLite or
//! of configuration files, and reads no clock but to time waits and
//! what audits and traces tell.

pub mod admission;
pub mod audit;
pub mod command;
pub mod context;
pub mod digest;
pub mod error;
pub mod expression;
pub mod grant;
pub mod handle;
pub mod id;
pub mod json;
pub mod limit;
pub mod offer;
pub mod origin;
pub mod quota;
pub mod request;
pub mod schema;
pub mod scope;
pub mod service;
pub mod stay;
pub mod text;
pub mod token;
pub mod tool;
pub mod trace;

pub use admission::{Admission, Permit};
pub use audit::{AuditRecord, AuditSink};
pub use command::{CommandLine, CommandPattern};
pub use context::{Channel, Context, ContextClaims, ContextRules};
pub use digest::Digest;
pub use error::{Code, Error};
pub use grant::{
    Grants, HttpGrant, Owner, ProcessGrant, StateGrant, StreamOwner, TerminalGrant, TerminalOwner, WebViewGrant,
    WebViewOwner, WorkspaceGrant, WorkspaceKey,
};
pub use id::{AssistantId, BucketName, InvalidId, PluginName, SessionId, TenantId, ThreadId};
pub use json::{AnswerMemory, AnswerReader, AnswerShare, RequestMemory, RequestShare};
pub use limit::{
    CallLimits, HostLimits, HttpLimits, ProcessLimits, RequestLimits, StreamLimits, TerminalLimits, WebViewLimits,
};
pub use offer::Claims;
pub use origin::{Origin, OriginPattern, OriginPolicy, Server};
pub use quota::{Quota, QuotaFull, Share};
pub use request::{RequestPattern, Secret, Secrets};
pub use schema::{CheckFailure, Meter, Schema, SchemaBudget, SchemaDocument, SchemaError, SchemaLimits};
pub use scope::{ScopeKey, ScopeKind};
pub use service::{
    CallRequest, EventSink, Events, FrontEndService, InputGiven, InputRequired, OfferService, ToolService,
    WebPageService,
};
pub use stay::WorkspaceStay;
pub use token::{InvalidDigest, InvalidToken, Token};
pub use tool::{Answer, Content, InvalidTool, Tool, ToolDefinition, ToolProblem};
pub use trace::{Span, SpanSink, Tracer};
