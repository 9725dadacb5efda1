//! Programs as they are started here: uncontained, with few variables.

use wharf_terminal::{ChildLimits, Containment, HistoryLimits, InputRules, PtyBackend, TerminalRequest, TerminalSize};

/// A program in a terminal of the usual size.
pub(crate) fn request(program: &str, arguments: &[&str], history: HistoryLimits) -> TerminalRequest {
    TerminalRequest {
        program: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/nonexistent"), ("LANG", "C.UTF-8")]
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec(),
        working_directory: "/".into(),
        pty: PtyBackend::default(),
        size: TerminalSize::default(),
        history,
        rules: InputRules::default(),
        limits: ChildLimits::default(),
        containment: Containment::None,
        user: None,
        integration: None,
    }
}
