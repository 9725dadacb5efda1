//! The MCP clients: where each keeps its servers, and how it writes one.
//!
//! As their documentation has it in November 2026.

use std::path::PathBuf;

use clap::ValueEnum;
use directories::BaseDirs;
use serde_json::{Value, json};

use super::document::Syntax;

/// Where a client that reads variables finds the token.
pub(super) const TOKEN_VARIABLE: &str = "WHARF_TOKEN";
/// How VS Code calls the token that it asks for.
pub(super) const TOKEN_INPUT: &str = "wharf-token";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum McpClient {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    Gemini,
    Vscode,
    Zed,
}

/// How a client gets to the host.
pub(super) enum HostConnection {
    /// It starts one.
    Stdio { command: String, arguments: Vec<String> },
    /// It reaches one that serves.
    Http { address: String },
}

/// The members of an object, in the order in which they are written.
pub(super) type Members = Vec<(&'static str, Value)>;

/// What a file says of one server.
pub(super) struct ServerSettings {
    /// The key of the table of all servers.
    pub(super) servers: &'static str,
    pub(super) server: Members,
    /// What the client is to ask for, in the list `inputs`.
    pub(super) input: Option<Members>,
}

impl McpClient {
    /// As its makers call it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini CLI",
            Self::Vscode => "VS Code",
            Self::Zed => "Zed",
        }
    }

    pub(super) fn syntax(self) -> Syntax {
        if self == Self::Codex { Syntax::Toml } else { Syntax::Json }
    }

    /// The file that it reads; nothing where there is no home directory.
    pub(super) fn file(self) -> Option<PathBuf> {
        let user = BaseDirs::new();
        let user = user.as_ref();
        let home = |path: &str| Some(user?.home_dir().join(path));
        match self {
            Self::ClaudeCode => Some(".mcp.json".into()),
            Self::Vscode => Some(".vscode/mcp.json".into()),
            Self::ClaudeDesktop => Some(user?.config_dir().join("Claude").join("claude_desktop_config.json")),
            Self::Codex => match std::env::var_os("CODEX_HOME") {
                Some(folder) => Some(PathBuf::from(folder).join("config.toml")),
                None => home(".codex/config.toml"),
            },
            Self::Cursor => home(".cursor/mcp.json"),
            Self::Gemini => home(".gemini/settings.json"),
            Self::Zed if cfg!(windows) => Some(user?.config_dir().join("Zed").join("settings.json")),
            Self::Zed if cfg!(target_os = "macos") => home(".config/zed/settings.json"),
            Self::Zed => Some(user?.config_dir().join("zed").join("settings.json")),
        }
    }

    /// What its file says of a server that is reached so, or why it cannot say that.
    pub(super) fn settings(self, connection: &HostConnection) -> Result<ServerSettings, String> {
        let servers = match self {
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor | Self::Gemini => "mcpServers",
            Self::Codex => "mcp_servers",
            Self::Vscode => "servers",
            Self::Zed => "context_servers",
        };
        let (server, input) = match connection {
            HostConnection::Stdio { command, arguments } => {
                (vec![("command", json!(command)), ("args", json!(arguments))], None)
            }
            HostConnection::Http { address } => self.over_http(address)?,
        };
        Ok(ServerSettings { servers, server, input })
    }

    /// A token stays out of these files: they are shared and kept in repositories.
    fn over_http(self, address: &str) -> Result<(Members, Option<Members>), String> {
        let address = ("url", json!(address));
        let typed = ("type", json!("http"));
        let with = |token: String| ("headers", json!({"Authorization": format!("Bearer {token}")}));
        Ok(match self {
            Self::ClaudeCode => (vec![typed, address, with(format!("${{{TOKEN_VARIABLE}}}"))], None),
            Self::Cursor => (vec![address, with(format!("${{env:{TOKEN_VARIABLE}}}"))], None),
            Self::Gemini => (vec![("httpUrl", address.1), with(format!("${TOKEN_VARIABLE}"))], None),
            Self::Codex => (vec![address, ("bearer_token_env_var", json!(TOKEN_VARIABLE))], None),
            Self::Vscode => (
                vec![typed, address, with(format!("${{input:{TOKEN_INPUT}}}"))],
                Some(vec![
                    ("id", json!(TOKEN_INPUT)),
                    ("type", json!("promptString")),
                    ("description", json!("Token of Wharf")),
                    ("password", json!(true)),
                ]),
            ),
            Self::ClaudeDesktop => {
                return Err(
                    "the file of Claude Desktop has no servers over HTTP; leave --http out, or add the address as \
                            a connector in its settings"
                        .to_owned(),
                );
            }
            Self::Zed => {
                return Err(
                    "Zed reads a token from its settings alone, where --http would have to write it in clear; \
                            leave --http out, or write it by hand under `context_servers`"
                        .to_owned(),
                );
            }
        })
    }
}
