//! Attempts to get out through the kernel: mounts, namespaces, keys, and memory
//! that has no path.

use crate::support::workspace::{ContainedWorkspace, attempt, proven, proven_for_root};

#[tokio::test]
async fn mounts_and_namespaces_are_closed() {
    for place in ContainedWorkspace::all().await {
        place
            .withstands(&[
                attempt("remounting", "mount -o remount,rw /usr && echo ESCAPED"),
                attempt(
                    "mounting",
                    "mkdir -p m; mount -t tmpfs none m && echo ESCAPED; mount --bind / m && echo ESCAPED",
                ),
                attempt("uncovering", "umount -l /proc && echo ESCAPED; umount /tmp && echo ESCAPED"),
                proven("a user namespace", "unshare -U true && echo ESCAPED"),
                attempt("a user namespace with mounts", "unshare -Urm true && echo ESCAPED"),
                proven_for_root("another root", "/usr/sbin/chroot / /bin/true && echo ESCAPED"),
                attempt("the first process's namespaces", "nsenter -t 1 -m true && echo ESCAPED"),
                attempt(
                    "a priority above others",
                    "nice -n -5 true 2>&1 | grep -v -i 'permission\\|denied\\|permitted' | grep . && echo ESCAPED",
                ),
            ])
            .await;
    }
}

#[tokio::test]
#[cfg(target_arch = "x86_64")]
async fn memory_without_a_path_keys_and_doors_of_the_kernel_are_closed() {
    let call = |arguments: &str| format!("perl -e 'print syscall({arguments}) == -1 ? \"no\" : \"ESCAPED\"'");
    for place in ContainedWorkspace::all().await {
        let left = HostLeftovers::make();
        let queue_call = |arguments: &str| {
            format!("perl -e '$n = \"{}\"; print syscall({arguments}) == -1 ? \"no\" : \"ESCAPED\"'", left.name)
        };
        place
            .withstands(&[
                proven("shared memory of the host", call(&format!("30, {}, 0, 010000", left.shared))),
                proven("a queue of the host", queue_call("240, $n, 0, 0, 0")),
                proven("a file of shared memory", format!("grep -q secret /dev/shm/{} && echo ESCAPED", left.name)),
                proven("the keyring", call("250, 0, -3, 1")),
                attempt("a new key", "perl -e '($t, $d, $p) = qw(user wharf-test x); print syscall(248, $t, $d, $p, 1, -2) == -1 ? \"no\" : \"ESCAPED\"'"),
                attempt("io_uring", call("425, 1, \"\\0\" x 120")),
                attempt("eBPF", call("321, 0, \"\\0\" x 128, 128")),
                attempt("performance counters", call("298, \"\\0\" x 128, 0, -1, -1, 0")),
                attempt("faults of memory", call("323, 1")),
                attempt("calls by the x32 numbers", call("0x40000000 + 41, 1, 1, 0")),
                attempt("a handle of a file", call("304, -100, \"\\0\" x 136, 0")),
                attempt("messages of the kernel", "dmesg | grep . | grep -v dmesg && echo ESCAPED"),
            ])
            .await;
    }
}

/// Objects of a host without a path: shared memory, a queue, and a file of memory.
/// Removes them when it is dropped.
#[cfg(target_arch = "x86_64")]
struct HostLeftovers {
    name: String,
    shared: String,
}

#[cfg(target_arch = "x86_64")]
impl HostLeftovers {
    fn make() -> Self {
        let name = format!("wharf-test-{}", std::process::id());
        run(&format!("perl -e '$n = \"{name}\"; syscall(240, $n, 0102, 0600, 0)'"));
        std::fs::write(format!("/dev/shm/{name}"), "the secret").expect("a file");
        Self { shared: run("ipcmk -M 4096 | grep -o '[0-9]*$'").trim().to_owned(), name }
    }
}

#[cfg(target_arch = "x86_64")]
impl Drop for HostLeftovers {
    fn drop(&mut self) {
        let Self { name, shared } = self;
        run(&format!("ipcrm -m {shared}; rm -f /dev/shm/{name}; perl -e '$n = \"{name}\"; syscall(241, $n)'"));
    }
}

/// The output of a script of the test itself.
#[cfg(target_arch = "x86_64")]
fn run(script: &str) -> String {
    let ended = std::process::Command::new("/bin/sh").args(["-c", script]).output().expect("a run");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}
