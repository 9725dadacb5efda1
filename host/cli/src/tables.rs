//! Tables of `wharf.toml` that a command prints: they load as they are pasted.

use std::path::Path;

use wharf::{Digest, PluginName, grant::Capability};

use crate::configuration_edit::quoted;

/// What stands where somebody has to decide.
const SAY_WHY: &str = "say why";
/// Bytes of a reason that are shown.
const REASON_BYTES: usize = 512;

/// The table of a plugin whose component is in this file; `functions` says that each of its functions is a tool.
pub(crate) fn of_plugin(name: &PluginName, source: &Path, digest: Digest, functions: bool) -> String {
    let functions = if functions { "functions = true\n" } else { "" };
    let (source, digest) = (quoted(&source.to_string_lossy()), quoted(&digest.to_string()));
    format!("[plugin.{name}]\nsource = {source}\ndigest = {digest}\n{functions}")
}

/// The table that grants it a capability, for the reason that it gives itself where it
/// gives one.
pub(crate) fn of_grant(name: &PluginName, capability: &str, reason: Option<&str>) -> String {
    let reason = reason.map(|reason| wharf::text::line(reason, REASON_BYTES));
    let reason = reason.filter(|reason| !reason.trim().is_empty()).unwrap_or_else(|| SAY_WHY.to_owned());
    let reach = match Capability::from_word(capability) {
        Some(Capability::Process | Capability::Terminal) => {
            "# programs = [\"git\"]                  # which programs; \"*\" for all\n"
        }
        Some(Capability::WebView) => "# origins = [\"https://example.com\"]  # which origins; \"*\" for all\n",
        // A grant of requests without one is refused; this server does not exist.
        Some(Capability::Http) => "requests = [\"GET https://example.invalid/*\"]  # name those that it may send\n",
        Some(Capability::State | Capability::Events | Capability::Workspace) | None => "",
    };
    format!("[plugin.{name}.grants.{capability}]\nreason = {}\n{reach}", quoted(&reason))
}

#[cfg(test)]
mod tests {
    use wharf::Configuration;

    use super::*;

    #[test]
    fn what_is_printed_loads_whatever_names_and_reasons_hold() {
        let name = "x".parse::<PluginName>().expect("legal");
        for reason in
            [None, Some("counts visits"), Some("a \"quote\"\n[plugin.y]\nenabled = false"), Some("\u{1b}[2J"), Some("")]
        {
            let source = Path::new("/a \"folder\"/with\\all/x.wasm");
            let mut text = of_plugin(&name, source, Digest::of(b"x"), true);
            for capability in ["state", "events", "process", "terminal", "webview", "workspace", "http"] {
                text.push_str(&of_grant(&name, capability, reason));
            }
            let configuration =
                Configuration::parse(&text, Path::new("/")).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(configuration.plugins.keys().collect::<Vec<_>>(), [&name], "{text}");
            assert_eq!(configuration.plugins[&name].source.as_deref(), Some(source));
            let state = configuration.plugins[&name].grants.as_ref().and_then(|grants| grants.state.as_ref());
            assert!(!state.expect("granted").reason.trim().is_empty());
        }
    }
}
