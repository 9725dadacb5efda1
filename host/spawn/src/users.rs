//! The names that users and groups have in a sandbox.
//!
//! They are not those of the machine: programs need not know its users,
//! and the user of a child may have no name there, without which version
//! control, shells and interpreters do not work. Knows nothing of how files get
//! into a sandbox.

use std::{
    ffi::OsString,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use crate::Sandbox;

/// The name of a user or group that has no other.
const NAME: &str = "wharf";
/// Users and groups that programs expect, with their numbers.
const USERS: [(&str, u32); 2] = [("root", 0), ("nobody", 65534)];
const GROUPS: [(&str, u32); 2] = [("root", 0), ("nogroup", 65534)];

/// The files of names.
pub(crate) const FILES: [&str; 2] = ["/etc/passwd", "/etc/group"];

/// The contents of [`FILES`] for a child that is this user and group.
pub(crate) fn names(user: u32, group: u32, home: &Path) -> [Vec<u8>; 2] {
    let mut users = Vec::new();
    for (name, number) in with_own(USERS, user) {
        let (home, shell) = if number == user {
            (home.as_os_str().as_bytes(), "/bin/sh")
        } else {
            (&b"/nonexistent"[..], "/usr/sbin/nologin")
        };
        let group = if number == user { group } else { number };
        users.extend(format!("{name}:x:{number}:{group}:{name}:").bytes());
        users.extend(home);
        users.extend(format!(":{shell}\n").bytes());
    }
    let groups = with_own(GROUPS, group).map(|(name, number)| format!("{name}:x:{number}:\n"));
    [users, groups.collect::<String>().into_bytes()]
}

fn with_own(known: [(&'static str, u32); 2], own: u32) -> impl Iterator<Item = (&'static str, u32)> {
    let has_a_name = known.iter().any(|(_, number)| *number == own);
    known.into_iter().chain((!has_a_name).then_some((NAME, own)))
}

/// The child's home: that of its environment, where the child sees that path
/// and the path can stand in a file of lines and colons.
pub(crate) fn home(environment: &[(OsString, OsString)], sandbox: &Sandbox) -> PathBuf {
    let said = environment.iter().rev().find(|(name, _)| name == "HOME").map(|(_, value)| Path::new(value));
    let is_shown = |home: &&Path| {
        let mut binds = sandbox.writable.iter().chain(&sandbox.readable);
        binds.any(|bind| home.starts_with(&bind.target))
            && !home.as_os_str().as_bytes().iter().any(|byte| b":\n".contains(byte))
    };
    said.filter(is_shown).unwrap_or(Path::new("/")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bind;

    #[test]
    fn a_user_without_a_name_gets_one_and_others_keep_theirs() {
        let text = |[users, groups]: [Vec<u8>; 2]| {
            String::from_utf8(users).expect("text") + &String::from_utf8(groups).expect("text")
        };
        assert_eq!(
            text(names(61000, 61001, Path::new("/shown"))),
            "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n\
             nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n\
             wharf:x:61000:61001:wharf:/shown:/bin/sh\n\
             root:x:0:\nnogroup:x:65534:\nwharf:x:61001:\n"
        );
        assert_eq!(
            text(names(0, 0, Path::new("/"))),
            "root:x:0:0:root:/:/bin/sh\n\
             nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n\
             root:x:0:\nnogroup:x:65534:\n"
        );
    }

    #[test]
    fn a_home_is_where_the_child_gets_and_forges_no_line() {
        let sandbox = Sandbox {
            writable: vec![Bind { source: "/var/ws".into(), target: "/shown".into() }],
            ..Sandbox::default()
        };
        let home = |path: &str| home(&[("HOME".into(), path.into())], &sandbox);
        assert_eq!(home("/shown/home"), Path::new("/shown/home"));
        for elsewhere in ["/var/ws", "/root", "shown", "", "/shown/a:b", "/shown\nroot2:x:0:0::/:/bin/sh"] {
            assert_eq!(home(elsewhere), Path::new("/"), "{elsewhere:?}");
        }
        assert_eq!(super::home(&[], &sandbox), Path::new("/"));
    }
}
