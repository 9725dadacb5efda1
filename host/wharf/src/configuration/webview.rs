//! `[webview]`: the browser that runs web pages, and what holds for all pages.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;
use wharf_core::{Grants, PluginName, WebViewLimits};

use super::limits::WrittenLimits;

/// `[webview]`, as it is written.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenWebView {
    /// Limits of pages.
    #[schemars(schema_with = "super::limits::of_web_pages")]
    limits: WrittenLimits,
    /// The browser: a path, or a name that is looked for in the search path. Where absent,
    /// the first that is known and there.
    program: Option<PathBuf>,
    /// As root, the user that the browser runs as, or the first of those of browsers of tenants;
    /// one of its own where absent. Never 0.
    user: Option<u32>,
    /// Whether pages run in the browser's own sandbox; true where absent. Without it, a page
    /// that breaks out has all that the browser's user has.
    sandbox: Option<bool>,
    /// Whether one browser runs the pages of all tenants; true where absent. With `false` each
    /// tenant has a browser of its own.
    shared: Option<bool>,
    /// Further files and directories that browsers read, such as fonts. Landlock keeps all others
    /// but those of the system's programs out of their reach.
    readable: Vec<PathBuf>,
    /// Where browsers keep their profiles while they run; the directory of the system for
    /// temporary files where absent.
    temporary: Option<PathBuf>,
}

/// `[webview]`, checked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WebViewSettings {
    /// How many pages there may be, how long, and what is kept of them.
    pub limits: Arc<WebViewLimits>,
    /// The browser: a path, or a name that is looked for in the search path. Where
    /// absent, the first that is known and there.
    pub program: Option<PathBuf>,
    /// As root, the user that the browser runs as; one of its own where absent.
    pub user: Option<u32>,
    /// Whether pages run in the browser's own sandbox. Without it, a page that breaks out
    /// has all that the browser's user has.
    pub sandbox: bool,
    /// Whether one browser runs the pages of all tenants; else each has one of its own.
    pub shared: bool,
    /// Further files and directories that browsers read.
    pub readable: Vec<PathBuf>,
    /// Where browsers keep their profiles while they run; the directory of the
    /// system for temporary files where absent.
    pub temporary: Option<PathBuf>,
}

impl Default for WebViewSettings {
    fn default() -> Self {
        Self {
            limits: Arc::default(),
            program: None,
            user: None,
            sandbox: true,
            shared: true,
            readable: Vec::new(),
            temporary: None,
        }
    }
}

impl WrittenWebView {
    pub(super) fn check(self, base: &Path) -> Result<WebViewSettings, String> {
        let Self { limits: written, program, user, sandbox, shared, readable, temporary } = self;
        let mut limits = WebViewLimits::default();
        written.apply("webview.limits", |name, value| limits.set(name, value))?;
        if user == Some(0) {
            return Err("[webview] `user` must not be 0: root's browser has no sandbox of its own".to_owned());
        }
        // A name alone is looked for in the search path.
        let program =
            program.map(|program| if program.components().count() > 1 { base.join(program) } else { program });
        Ok(WebViewSettings {
            limits: Arc::new(limits),
            program,
            user,
            sandbox: sandbox.unwrap_or(true),
            shared: shared.unwrap_or(true),
            readable: readable.into_iter().map(|path| base.join(path)).collect(),
            temporary: temporary.map(|temporary| base.join(temporary)),
        })
    }
}

/// Checks what a grant names.
pub(super) fn check_grant(name: &PluginName, grants: &Grants) -> Result<(), String> {
    let Some(grant) = &grants.webview else { return Ok(()) };
    if grant.maximum_pages == 0 {
        return Err(format!("[plugin.{name}.grants.webview] `maximum_pages` must be at least 1"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{super::Configuration, *};

    fn parse(text: &str) -> Result<Configuration, String> {
        Configuration::parse(text, Path::new("/etc/wharf")).map_err(|problem| problem.to_string())
    }

    #[test]
    fn what_is_written_of_web_pages_reaches_their_browser() {
        let text = "[webview]\nprogram = \"../browser\"\nuser = 1000\nsandbox = false\ntemporary = \"/scratch\"\nshared = false\nreadable = [\"fonts\"]\n\
                    limits = {pages = 3}";
        let settings = parse(text).expect("parses").webview;
        assert_eq!((settings.limits.pages, settings.user, settings.sandbox), (3, Some(1000), false));
        assert_eq!(settings.program.as_deref(), Some(Path::new("/etc/wharf/../browser")));
        assert_eq!(settings.temporary.as_deref(), Some(Path::new("/scratch")));
        assert!(!settings.shared && settings.readable == [Path::new("/etc/wharf/fonts")]);
        let usual = parse("[webview]\nprogram = \"chromium\"").expect("parses").webview;
        assert!(usual.shared, "a browser for each tenant takes memory");
        assert!(usual.sandbox, "the sandbox is given up by an explicit word alone");
        assert_eq!(usual.program.as_deref(), Some(Path::new("chromium")));
    }

    #[test]
    fn a_mistake_about_web_pages_is_named_with_its_table() {
        let granted = |lines: &str| {
            format!("[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.grants.webview]\nreason = \"r\"\n{lines}")
        };
        for (text, word) in [
            ("[webview]\nuser = 0".to_owned(), "user"),
            ("[webview]\nno_sandbox = true".to_owned(), "no_sandbox"),
            ("[webview.limits]\npages = 0".to_owned(), "pages"),
            ("[webview.limits]\npage = 1".to_owned(), "page"),
            (granted("origins = [\"*\"]\nmaximum_pages = 0"), "maximum_pages"),
            (granted("origins = [\"ftp://example.com\"]"), "ftp"),
            (granted("origins = [\"*\"]\nprivate = true"), "private"),
        ] {
            let problem = parse(&text).expect_err(&text);
            assert!(problem.contains(word), "{text}: {problem}");
        }
        let configuration = parse(&granted("origins = [\"*\"]")).expect("parses");
        assert!(configuration.grants_webviews() && !parse("").expect("parses").grants_webviews());
    }
}
