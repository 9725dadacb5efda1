//! Machines that differ from this one: scripts of a shell that run their arguments there.
//!
//! Nothing of this machine changes: all that they set holds for the command alone, and ends with it.

use std::process::Command;

const ROOT: &str = "if [ \"$(id -u)\" = 0 ]; then";

/// A machine that makes no namespaces, as many containers are; none where this one cannot
/// play it. Its root has all other users, so the host can be any of them.
#[must_use]
pub fn without_namespaces() -> Option<String> {
    // The system counts the namespaces of each user namespace by itself.
    let forbid = "echo 0 > /proc/sys/user/max_pid_namespaces";
    playable(format!("{ROOT} exec setpriv --bounding-set=-sys_admin \"$@\"; fi; {}", of_user(forbid)))
}

/// A machine on which root has carried this out before, such as a mount; none where this one
/// cannot play it. The preparation has no single quotes.
#[must_use]
pub fn after(preparation: &str) -> Option<String> {
    let of_root = format!("exec unshare --mount sh -c '{preparation} && exec \"$@\"' sh \"$@\"");
    playable(format!("{ROOT} {of_root}; fi; {}", of_user(preparation)))
}

/// For a user who is not root: is root for the preparation, and the same user again for the command.
fn of_user(preparation: &str) -> String {
    format!(
        "exec unshare --mount --map-root-user sh -c '{preparation} && user=$0 group=$1 && shift && \
         exec unshare --user --map-user=$user --map-group=$group \"$@\"' \"$(id -u)\" \"$(id -g)\" \"$@\""
    )
}

/// The script, where it can run something.
fn playable(script: String) -> Option<String> {
    let tried = Command::new("sh").args(["-c", &script, "sh", "true"]).output();
    tried.is_ok_and(|tried| tried.status.success()).then_some(script)
}
