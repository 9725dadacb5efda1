//! Plugins that a host compiles while it serves: what became of them, and waiting until none is
//! left. Most tests are about what comes then.

use std::path::Path;

use serde_json::Value;
use wharf::control::running_hosts;

use crate::blocking;

/// Waits until no host that serves on this data directory compiles anything.
///
/// # Panics
/// Where one goes on.
pub(crate) fn until_compiled(data: &Path) {
    blocking::until("every plugin is compiled", || {
        let compiling: Vec<_> = plugins(data).into_iter().filter(|plugin| plugin["state"] == "compiling").collect();
        if compiling.is_empty() { Ok(()) } else { Err(compiling) }
    });
}

/// The plugins of all hosts that serve on this data directory.
fn plugins(data: &Path) -> Vec<Value> {
    // One that is being killed, or was, has nothing to say.
    let ask = async |data: &Path| {
        let mut plugins = Vec::new();
        for host in running_hosts(data).unwrap_or_default() {
            plugins.extend(host.plugins().await.map(|served| served.plugins).unwrap_or_default());
        }
        plugins
    };
    // The test may run on a runtime of its own.
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(ask(data))
        });
        asking.join().expect("asking does not panic")
    })
}
