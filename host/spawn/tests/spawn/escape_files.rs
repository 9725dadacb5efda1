//! Attempts to reach files that the sandbox does not show.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use wharf_spawn::{Bind, Containment, Sandbox, SpawnError, SpawnRequest};

use crate::support::workspace::{ContainedWorkspace, attempt, proven, proven_for_root};

#[tokio::test]
async fn files_outside_are_not_read() {
    let read = |path: &str| format!("grep -q 'the secret' {path} && echo ESCAPED");
    for place in ContainedWorkspace::all().await {
        symlink(place.path("secret"), place.root().join("workspace/link")).expect("a link");
        place
            .withstands(&[
                proven("a path", read("$OUT/secret")),
                proven("dots", read("../secret")),
                proven("a symbolic link", read("link")),
                proven("a hard link", format!("ln $OUT/secret hard && {}; rm -f hard", read("hard"))),
                proven("the list of the data directory", "ls $OUT | grep secret && echo ESCAPED"),
                proven_for_root("passwords", "head -c 1 /etc/shadow | grep . && echo ESCAPED"),
                proven("the packages of the machine", "head -c 1 /var/lib/dpkg/status | grep . && echo ESCAPED"),
                attempt("the root of the first process", read("/proc/1/root$OUT/secret")),
                attempt("the directory of the first process", read("/proc/1/cwd$OUT/secret")),
                attempt(
                    "the parent of an open directory",
                    "exec 5<.; ".to_owned() + &read("/proc/self/fd/5/../secret"),
                ),
                proven("moving it in", "mv $OUT/secret here && echo ESCAPED; mv here $OUT/secret"),
            ])
            .await;
    }
}

#[tokio::test]
async fn files_outside_are_not_changed() {
    for place in ContainedWorkspace::all().await {
        place
            .withstands(&[
                attempt("a new file", "echo forged > $OUT/beside && test -e /proc/1/root$OUT/beside && echo ESCAPED"),
                attempt("moving out", "echo x > made; mv made $OUT/beside; ln here $OUT/beside"),
                attempt("other contents", "echo forged > $OUT/secret; truncate -s 0 $OUT/secret; perl -e 'truncate(\"$ENV{OUT}/secret\", 0)'"),
                attempt("removing", "rm -f $OUT/secret; rmdir $OUT/workspace"),
                attempt("permissions", "chmod 600 $OUT/secret; chmod 777 $OUT; chown 12345 $OUT/secret"),
                attempt("times", "touch -d 2001-01-01 $OUT/secret"),
                proven("attributes", "perl -MPOSIX -e '$c = (POSIX::uname())[4] eq \"x86_64\" ? 188 : 5; ($f, $n, $v) = (\"$ENV{OUT}/secret\", \"user.x\", \"1\"); print syscall($c, $f, $n, $v, 1, 0) == 0 ? \"ESCAPED\" : \"no\"'"),
                attempt("programs of the system", "(: >> /usr/bin/forged) && echo ESCAPED; (: >> /bin/sh) && echo ESCAPED"),
                attempt("settings of the system", "(: >> /etc/forged) && echo ESCAPED; (: >> /etc/passwd) && echo ESCAPED"),
                attempt("permissions of the system by descriptor", "perl -e 'open(F, \"<\", \"/etc/passwd\"); print chmod((stat F)[2] & 07777, *F) ? \"ESCAPED\" : \"no\"'"),
                // Opening shows it; nothing is written.
                attempt("settings of the kernel", "for file in sys/kernel/core_pattern sys/kernel/hostname sysrq-trigger irq/default_smp_affinity sys/vm/overcommit_memory; do (: >> /proc/$file) && echo ESCAPED; done"),
                attempt("a device", "mknod disk b 254 0 && echo ESCAPED; mknod memory c 1 1 && echo ESCAPED"),
            ])
            .await;
        let secret = place.root().join("secret");
        assert_eq!(fs::read_to_string(&secret).expect("a file"), "the secret", "{}", place.name());
        let about = fs::metadata(&secret).expect("a file");
        let mode = if place.user.is_some() { 0o666 } else { 0o644 };
        assert_eq!(about.permissions().mode() & 0o777, mode, "{}", place.name());
        assert!(about.modified().expect("a time").elapsed().expect("a time").as_secs() < 600, "{}", place.name());
        assert!(!place.root().join("beside").exists(), "{}", place.name());
        assert!(place.root().join("workspace").exists());
    }
}

#[tokio::test]
async fn what_is_temporary_is_private_and_bounded() {
    // The second time in a prepared sandbox.
    for place in ContainedWorkspace::all().await.iter().flat_map(|place| [place; 2]) {
        let name = format!("wharf-forged-{}", std::process::id());
        place.run(&format!("for d in /tmp /var/tmp /dev/shm /run / /dev; do echo forged > $d/{name}; done")).await;
        for directory in ["/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/dev"] {
            assert!(!fs::exists(format!("{directory}/{name}")).expect("an answer"), "{directory}, {}", place.name());
        }
    }
    for place in ContainedWorkspace::all_in_namespaces().await {
        let said = place.run("df --output=size -B1 /tmp /var/tmp /dev/shm").await;
        assert_eq!(said.lines().skip(1).map(str::trim).collect::<Vec<_>>(), ["536870912"; 3], "{said}");
    }
}

#[tokio::test]
async fn nothing_gains_rights_and_nothing_leaves_a_core() {
    // The second time in a prepared sandbox.
    for place in ContainedWorkspace::all().await.iter().flat_map(|place| [place; 2]) {
        let said = place.run("grep NoNewPrivs /proc/$$/status; ulimit -Hc").await;
        if place.contained == wharf_spawn::SandboxMechanism::Namespaces {
            assert_eq!(said, "NoNewPrivs:\t1\n0\n", "{}", place.name());
        } else {
            assert!(said.ends_with("\n0\n"), "{said}");
        }
        // A setuid program of another user.
        let program = place.root().join("workspace/setuid");
        fs::copy("/usr/bin/id", &program).expect("a program");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).expect("a mode");
        if let Some(user) = place.user {
            assert_eq!(place.run("./setuid -u").await, format!("{user}\n"), "{}", place.name());
        }
    }
}

#[tokio::test]
async fn a_link_that_a_program_left_leads_no_later_mount_out() {
    for place in ContainedWorkspace::all_in_namespaces().await {
        // Not below /tmp, where sandboxes are put together.
        let outside = tempfile::tempdir_in("/var/tmp").expect("a directory");
        symlink(outside.path(), place.path("workspace/link")).expect("a link");
        let bind = |source: &str, target: &str| Bind { source: source.into(), target: target.into() };
        let writable = vec![bind(&place.path("workspace"), "/shown"), bind("/var/tmp", "/shown/link/made")];
        let sandbox = Sandbox { writable, ..Sandbox::default() };
        let request = SpawnRequest {
            working_directory: "/".into(),
            containment: Containment::Required(sandbox),
            ..place.request("ls -d /shown/link/made")
        };
        // The link leads to a path of the sandbox, which has nothing there.
        let refused = place.spawner.spawn(request).await;
        assert!(matches!(refused, Err(SpawnError::Sandbox { .. })), "{refused:?}");
        assert_eq!(fs::read_dir(outside.path()).expect("a directory").count(), 0, "{}", place.name());
    }
}
