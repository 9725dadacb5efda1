//! What the kernel offers of what children need, one feature after the other, for people who wonder
//! why something is contained or limited as it is.
//!
//! Decides nothing: `probe` finds out what works.

use std::fs;

use crate::Capabilities;

/// Something that a kernel offers or not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelFeature {
    /// What it is called.
    pub name: &'static str,
    /// Why it is not there; nothing where it is.
    pub missing: Option<String>,
    /// What it is needed for.
    pub needed_for: &'static str,
    /// What happens without it.
    pub without: &'static str,
}

impl Capabilities {
    /// The features of the kernel that decide what these capabilities are. Empty on systems other
    /// than Linux.
    #[must_use]
    pub fn kernel_features(&self) -> Vec<KernelFeature> {
        if !cfg!(target_os = "linux") {
            return Vec::new();
        }
        let lacks = |there: bool, why: &dyn Fn() -> String| (!there).then(why);
        vec![
            KernelFeature {
                name: "user namespaces",
                missing: lacks(self.user_namespaces, &namespaces_forbidden).or_else(|| self.restricted()),
                needed_for: "containment by a host that is not root",
                without: "Landlock contains its programs, which hides less",
            },
            KernelFeature {
                name: "Landlock",
                missing: lacks(self.landlock.is_ok(), &|| match self.landlock_version {
                    0 => "the kernel has none, or the boot leaves it out (`lsm=`)".to_owned(),
                    version => format!("the kernel has version {version}, and 6 is needed (Linux 6.12)"),
                }),
                needed_for: "containment where namespaces are forbidden",
                without: "a host without namespaces refuses to start programs that have to be contained",
            },
            KernelFeature {
                name: "seccomp filters",
                missing: lacks(self.seccomp, &|| "the kernel has none (CONFIG_SECCOMP_FILTER)".to_owned()),
                needed_for: "keeping system calls from programs and from the compiler of plugins",
                without: "programs that have to be contained are refused",
            },
            KernelFeature {
                name: "control groups",
                missing: lacks(self.memory_of_trees, &|| {
                    "the host may make none with the controller `memory` (`Delegate=yes` in its systemd unit lets it)"
                        .to_owned()
                }),
                needed_for: "limiting the memory of all processes of a command together",
                without: "each process has the limit by itself",
            },
            KernelFeature {
                name: "process descriptors",
                missing: lacks(self.pidfd, &|| "the kernel has none (pidfd_open, Linux 5.3)".to_owned()),
                needed_for: "programs that watch their own children by them",
                without: "such programs use older calls",
            },
        ]
    }

    /// AppArmor lets no user but root do anything in a namespace, unless the program has a profile.
    fn restricted(&self) -> Option<String> {
        const KEY: &str = "kernel.apparmor_restrict_unprivileged_userns";
        let is_on = || setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1");
        let is_kept = self.namespaces.is_err() && !self.another_user && is_on();
        is_kept.then(|| format!("AppArmor keeps them from programs without a profile (`sysctl {KEY}` is 1)"))
    }
}

fn namespaces_forbidden() -> String {
    for (path, key) in [
        ("/proc/sys/user/max_user_namespaces", "user.max_user_namespaces"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone"),
    ] {
        if setting(path).as_deref() == Some("0") {
            return format!("`sysctl {key}` is 0");
        }
    }
    "the kernel has none (CONFIG_USER_NS)".to_owned()
}

fn setting(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MissingAbility;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_missing_is_told_with_the_reason() {
        let whole = Capabilities::whole();
        let missing = |capabilities: &Capabilities| {
            let features = capabilities.kernel_features().into_iter();
            features.filter_map(|feature| Some((feature.name, feature.missing?))).collect::<Vec<_>>()
        };
        assert_eq!(missing(&whole), []);
        let old = Capabilities {
            landlock: Err(MissingAbility("old".to_owned())),
            landlock_version: 4,
            memory_of_trees: false,
            ..whole
        };
        let missing = missing(&old);
        let names: Vec<_> = missing.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["Landlock", "control groups"]);
        assert!(missing[0].1.contains("version 4") && missing[0].1.contains("6 is needed"), "{missing:?}");
    }
}
