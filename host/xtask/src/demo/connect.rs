//! How to connect the clients that people have: what to paste where.

use std::path::Path;

/// Prints a snippet for each client, with the path of this build.
pub(super) fn print(wharf: &Path) {
    print!("{}", text(&wharf.to_string_lossy()));
}

fn text(wharf: &str) -> String {
    // JSON and TOML strings escape alike.
    let path = serde_json::Value::from(wharf).to_string();
    let entry = format!(r#"{{ "command": {path}, "args": ["serve", "--stdio", "--session", "new"] }}"#);
    format!(
        r#"
Connect your own client (build it for speed first: cargo build --release -p wharf-cli)

   Claude Desktop   claude_desktop_config.json
     {{ "mcpServers": {{ "wharf": {entry} }} }}

   Claude Code      .mcp.json in your project, with the same text as for Claude Desktop, or
     claude mcp add wharf -- {wharf} serve --stdio --session new

   VS Code          .vscode/mcp.json
     {{ "servers": {{ "wharf": {entry} }} }}

   Cursor           ~/.cursor/mcp.json, with the same text as for Claude Desktop

   Codex            ~/.codex/config.toml
     [mcp_servers.wharf]
     command = {path}
     args = ["serve", "--stdio", "--session", "new"]

   The tools that run commands and change files are off there. With "--profile", "developer" behind "new" they
   are on, contained and without a network; `wharf doctor` says whether that works on this machine.

"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_snippets_are_valid_json_even_for_an_awkward_path() {
        let text = text(r"C:\wharf 1\wharf.exe");
        let snippets: Vec<_> = text.lines().filter(|line| line.trim_start().starts_with("{ ")).collect();
        assert_eq!(snippets.len(), 2);
        for snippet in snippets {
            serde_json::from_str::<serde_json::Value>(snippet).expect("JSON");
        }
    }
}
