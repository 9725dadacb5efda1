//! What the doctor says of what a host opens: its configuration, its data directory
//! and the cache in it.

use std::{
    io::{self, ErrorKind, Write as _},
    path::Path,
};

use wharf::{Configuration, Host, OpenError, encryption::NOT_ENCRYPTED, inventory::STATE_LAYOUT, with_causes};

use super::finding::Finding;

/// What is written to find out whether there is room for anything.
const TRIAL_BYTES: usize = 64 << 10;

/// Whether a host starts with this configuration.
pub(super) fn configuration(path: Option<&Path>, failed: Option<&OpenError>) -> Finding {
    const WHAT: &str = "configuration";
    let named = path.map_or("none; the defaults hold".to_owned(), |path| path.display().to_string());
    match failed {
        Some(error) if is_of_configuration(error) => Finding::ill(
            WHAT,
            format!("{named}: {}", with_causes(error)),
            "no host starts until then; `wharf config check` says all that is wrong",
        ),
        _ => Finding::well(WHAT, named),
    }
}

fn is_of_configuration(error: &OpenError) -> bool {
    matches!(
        error,
        OpenError::Misspelt(_)
            | OpenError::Terminals(_)
            | OpenError::Traces(_)
            | OpenError::AuditKey(_)
            | OpenError::AuditSyslog(_)
    )
}

/// Where the state is kept, and whether the database server that keeps it can be used.
pub(super) fn database(configuration: &Configuration, failed: Option<&OpenError>) -> Option<Finding> {
    const WHAT: &str = "state";
    let Some(named) = &configuration.state.database_file else {
        // One that cannot be opened is told of the data directory.
        let says = format!("in the data directory, with layout {STATE_LAYOUT}");
        return failed.is_none().then(|| Finding::well(WHAT, says));
    };
    let named = named.display();
    Some(match failed.filter(|error| error.is_of_database()) {
        Some(error) => {
            Finding::ill(WHAT, with_causes(error), format!("see to the server, or to the connection in {named}"))
        }
        None => Finding::well(WHAT, format!("on the database server of {named}")),
    })
}

/// What is encrypted on disk. That the keys can be had is told of the data directory.
pub(super) fn encryption(configuration: &Configuration) -> Finding {
    const WHAT: &str = "encryption";
    Finding::well(
        WHAT,
        match configuration.encryption {
            Some(_) => format!("state, output and recordings are encrypted on disk; in the clear stay {NOT_ENCRYPTED}"),
            None => "off; `[encryption]` encrypts state, output and recordings on disk".to_owned(),
        },
    )
}

/// Whether a host can keep its data here: tried by writing some, which goes at once.
pub(super) fn data(path: &Path, failed: Option<&OpenError>) -> Finding {
    const WHAT: &str = "data";
    let failed = failed.filter(|error| !is_of_configuration(error) && !error.is_of_database());
    match (write_to(path), failed) {
        (Ok(()), None) => Finding::well(WHAT, path.display().to_string()),
        (Ok(()), Some(error)) => Finding::ill(
            WHAT,
            format!("{} ({})", with_causes(error), path.display()),
            "mend that, or name another directory with --data",
        ),
        (Err(error), failed) => {
            let says = failed.map_or_else(|| format!("nothing can be written: {error}"), |failed| with_causes(failed));
            let advice = match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room on the disk that holds it",
                _ => "name a directory that can be written with --data",
            };
            Finding::ill(WHAT, format!("{says} ({})", path.display()), advice)
        }
    }
}

fn write_to(directory: &Path) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".doctor-").tempfile_in(directory)?;
    file.write_all(&[0; TRIAL_BYTES])?;
    // Some file systems look for room only then.
    file.as_file().sync_all()
}

/// Whether compiled code is kept.
pub(super) fn cache(host: &Host) -> Finding {
    const WHAT: &str = "cache";
    match host.cache_problem() {
        None => Finding::well(WHAT, "compiled code is kept"),
        Some(problem) => Finding::ill(
            WHAT,
            problem,
            "move away what stands there, and the next host makes it anew; until then, each host compiles its plugins",
        ),
    }
}
