//! The directories of the system that every contained child sees.
//!
//! Knows nothing of how they are shown.

/// Top-level directories with the system's programs and libraries.
pub(crate) const SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/// Directories of the system's settings that programs commonly need.
/// Not all settings: the host may be root, and then a child could read passwords and keys;
/// and some systems keep secrets in files that all may read.
pub(crate) const DIRECTORIES_OF_SETTINGS: [&str; 4] =
    ["/etc/alternatives", "/etc/ca-certificates", "/etc/ld.so.conf.d", "/etc/ssl/certs"];

/// Files of the system's settings that programs commonly need.
#[cfg(target_os = "linux")]
pub(crate) const SETTINGS: [&str; 15] = [
    "/etc/bash.bashrc",
    "/etc/debian_version",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/profile",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/openssl.cnf",
];
