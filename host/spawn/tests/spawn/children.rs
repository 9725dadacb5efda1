//! Children without containment: their start, their end, and the end of their trees.

use std::{
    env,
    fs::{self, File},
    io::{Read as _, Seek as _, Write as _},
    process::Command,
    time::Duration,
};

use crate::support::{self, WatchedTree, output, shell};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use wharf_spawn::{
    ChildExit, ChildInput, ChildLimits, ChildOutput, Descriptor, Signal, SpawnError, SpawnRequest, Spawner,
};
use wharf_test_support::{
    AMPLE, in_time,
    processes::{children_of, lives, parent},
    until,
};

const GRACE: Duration = Duration::from_millis(200);

#[tokio::test]
async fn the_code_with_which_a_program_ends_is_told() {
    let spawner = Spawner::new();
    for code in [0, 1, 42, 255] {
        let child = spawner.spawn(shell(&format!("exit {code}"))).await.expect("a child");
        assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Exited { code });
    }
}

#[tokio::test]
async fn death_by_a_signal_is_no_exit_code() {
    let spawner = Spawner::new();
    let child = spawner.spawn(shell("kill -KILL $$")).await.expect("a child");
    assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Signaled { signal: 9 });
    let child = spawner.spawn(shell("exec sleep 1000")).await.expect("a child");
    child.signal(Signal::Terminate).await.expect("a signal");
    assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Signaled { signal: 15 });
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error_that_names_it() {
    let spawner = Spawner::new();
    let request = SpawnRequest { program: "/no/such/program".into(), ..shell("") };
    let error = spawner.spawn(request).await.expect_err("no such program");
    assert_eq!(error.to_string(), "cannot run /no/such/program");
    let request = SpawnRequest { working_directory: "/no/such/directory".into(), ..shell("") };
    let error = spawner.spawn(request).await.expect_err("no such directory");
    assert_eq!(error.to_string(), "cannot enter /no/such/directory");
    let request = SpawnRequest { program: "sh".into(), ..shell("") };
    assert!(matches!(spawner.spawn(request).await, Err(SpawnError::Illegal { .. })));
}

#[tokio::test]
async fn the_environment_is_exactly_what_was_given() {
    let spawner = Spawner::new();
    let environment = vec![("ONE".into(), "1".into()), ("EMPTY".into(), "".into())];
    let request = SpawnRequest { program: "/usr/bin/env".into(), arguments: vec![], environment, ..shell("") };
    assert_eq!(output(&spawner, request).await, "ONE=1\nEMPTY=\n");
}

/// Set for a host whose parent ignores signals.
const IGNORES: &str = "WHARF_TEST_IGNORES";

#[tokio::test]
async fn signals_that_the_host_was_started_to_ignore_reach_its_children() {
    if env::var_os(IGNORES).is_none() {
        let script = "trap '' HUP INT QUIT PIPE CHLD TERM USR1; exec \"$0\" \"$1\" --exact --nocapture";
        let name = "children::signals_that_the_host_was_started_to_ignore_reach_its_children";
        let mut host = Command::new("/bin/sh");
        host.args(["-c", script]).arg(env::current_exe().expect("this test")).arg(name).env(IGNORES, "yes");
        let ended = host.output().expect("a host");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        return;
    }
    let own = fs::read_to_string("/proc/self/status").expect("a status");
    assert!(own.lines().any(|line| line.starts_with("SigIgn:") && !line.ends_with("0000000000000000")), "{own}");
    let spawner = Spawner::new();
    let said = output(&spawner, shell("grep -E 'SigIgn|SigBlk' /proc/self/status")).await;
    // Two signals are the C library's own.
    let of_the_library = 3 << 31;
    for line in said.lines() {
        let (what, mask) = line.split_once(":\t").expect("a mask");
        assert_eq!(u64::from_str_radix(mask, 16).expect("a mask") & !of_the_library, 0, "{what} {mask}");
    }
    assert_eq!(said.lines().count(), 2);
    let child = spawner.spawn(shell("exec sleep 1000")).await.expect("a child");
    child.signal(Signal::Interrupt).await.expect("a signal");
    assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Signaled { signal: 2 });
    assert_eq!(
        spawner.spawn(shell("exit 3")).await.expect("a child").wait().await.expect("its end").exit,
        ChildExit::Exited { code: 3 }
    );
}

#[tokio::test]
async fn no_descriptor_of_the_host_reaches_a_child() {
    use rustix::io::{FdFlags, fcntl_setfd};
    // One is open before the root starts, one opens after; both without the flag that
    // closes them, as careless code leaves them.
    let before = File::open("/etc/passwd").expect("a file");
    fcntl_setfd(&before, FdFlags::empty()).expect("a flag");
    let spawner = Spawner::new();
    let after = File::open("/etc/group").expect("a file");
    fcntl_setfd(&after, FdFlags::empty()).expect("a flag");
    // The fourth is the directory that `ls` reads.
    let listed = output(&spawner, shell("ls /proc/self/fd | wc -l")).await;
    assert_eq!(listed.trim(), "4");
}

#[tokio::test]
async fn a_child_has_the_descriptors_that_it_was_given_under_their_numbers_and_no_other() {
    let file = |text: &str| {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text.as_bytes()).expect("a write");
        file.rewind().expect("the beginning");
        file
    };
    let spawner = Spawner::new();
    let given = |numbers: &[u32]| {
        let given = |number: &u32| Descriptor { number: *number, file: file(&format!("of {number};")) };
        numbers.iter().map(given).collect::<Vec<_>>()
    };
    // Every number is one that the supervisor itself uses at some time.
    for mut numbers in [vec![4, 3, 9, 31, 5, 7, 6, 8], (10..18).collect(), (17..25).rev().collect(), (24..32).collect()]
    {
        let descriptors = given(&numbers);
        numbers.sort_unstable();
        let words: Vec<_> = numbers.iter().map(u32::to_string).collect();
        let script = format!(
            // Without a pipe, whose ends the shell would hold for a moment, and
            // not as the last command, which the shell would become.
            "for n in {}; do cat /proc/self/fd/$n; done; ls -v /proc/$$/fd; true",
            words.join(" ")
        );
        let said = output(&spawner, SpawnRequest { descriptors, ..shell(&script) }).await;
        let contents: String = words.iter().map(|number| format!("of {number};")).collect();
        assert_eq!(said.replace('\n', " "), format!("{contents}0 1 2 {} ", words.join(" ")));
    }
    // The next child has none of them.
    assert_eq!(output(&spawner, shell("ls /proc/self/fd | wc -l")).await.trim(), "4");
    // A failed start reports the same error with descriptors.
    let request = SpawnRequest { program: "/no/such".into(), descriptors: given(&[3, 4, 5]), ..shell("") };
    assert_eq!(spawner.spawn(request).await.expect_err("no such program").to_string(), "cannot run /no/such");
}

#[tokio::test]
async fn a_descriptor_without_a_number_of_its_own_is_refused() {
    let spawner = Spawner::new();
    for numbers in [vec![2], vec![32], vec![5, 5], (3..12).collect()] {
        let given = |number| Descriptor { number, file: File::open("/dev/null").expect("a file") };
        let descriptors = numbers.into_iter().map(given).collect();
        let refused = spawner.spawn(SpawnRequest { descriptors, ..shell("true") }).await;
        assert!(matches!(refused, Err(SpawnError::Illegal { what: "the descriptor", .. })), "{refused:?}");
    }
}

#[tokio::test]
async fn a_child_reads_what_the_host_writes() {
    let spawner = Spawner::new();
    let request = SpawnRequest { stdin: ChildInput::Pipe, stdout: ChildOutput::Pipe, ..shell("cat") };
    let mut child = spawner.spawn(request).await.expect("a child");
    let mut stdin = child.take_stdin().expect("a pipe");
    assert!(child.take_stdin().is_none(), "there is one");
    stdin.write_all(b"what was written").await.expect("a write");
    drop(stdin);
    let mut text = String::new();
    child.take_stdout().expect("a pipe").read_to_string(&mut text).await.expect("output");
    assert_eq!(text, "what was written");
    assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Exited { code: 0 });
}

#[tokio::test]
async fn descendants_that_hold_the_pipe_do_not_delay_the_end() {
    let spawner = Spawner::new();
    let request =
        SpawnRequest { stdout: ChildOutput::Pipe, ..shell("setsid sleep 1000 & sleep 1000 & echo begun; exit 3") };
    let mut child = spawner.spawn(request).await.expect("a child");
    let mut line = String::new();
    BufReader::new(child.take_stdout().expect("a pipe")).read_line(&mut line).await.expect("a line");
    let ended = in_time("no wait for the pipe", child.wait()).await.expect("its end");
    assert_eq!((ended.exit, ended.descendants), (ChildExit::Exited { code: 3 }, 2));
    assert_eq!(child.descendants().await.expect("a count"), 2);
    child.kill_tree(GRACE).await.expect("the end of all");
    assert_eq!(child.descendants().await.expect("a count"), 0);
}

#[tokio::test]
async fn a_stubborn_tree_ends() {
    let spawner = Spawner::new();
    let stubborn = "trap '' TERM HUP INT
        setsid sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 1000; done' &
        sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1000; done' &
        echo $$; while :; do wait; done";
    let request = SpawnRequest { stdout: ChildOutput::Pipe, ..shell(stubborn) };
    let mut child = spawner.spawn(request).await.expect("a child");
    let mut lines = BufReader::new(child.take_stdout().expect("a pipe")).lines();
    let mut members = Vec::new();
    for _ in 0..3 {
        members.push(lines.next_line().await.expect("a line").expect("a pid").parse().expect("a number"));
    }
    assert!(members.iter().all(|pid| lives(*pid)));
    assert!(members.contains(&child.pid()));
    let ended = in_time("its end", child.kill_tree(GRACE)).await.expect("how");
    assert_eq!(ended.exit, ChildExit::Signaled { signal: 9 });
    assert!(!members.iter().any(|pid| lives(*pid)), "some of {members:?} live");
}

#[tokio::test]
async fn a_tree_that_is_asked_politely_may_end_itself() {
    let spawner = Spawner::new();
    let script = "trap 'exit 7' TERM; echo set; read line";
    let request = SpawnRequest { stdin: ChildInput::Pipe, stdout: ChildOutput::Pipe, ..shell(script) };
    let mut child = spawner.spawn(request).await.expect("a child");
    let mut line = String::new();
    BufReader::new(child.take_stdout().expect("a pipe")).read_line(&mut line).await.expect("a line");
    let ended = child.kill_tree(AMPLE).await.expect("its end");
    assert_eq!(ended.exit, ChildExit::Exited { code: 7 });
}

#[tokio::test]
async fn dropping_a_child_ends_its_tree() {
    let spawner = Spawner::new();
    let child = spawner.spawn(shell("setsid sleep 1000 & exec sleep 1000")).await.expect("a child");
    let watched = WatchedTree::tree_of(&child).await;
    drop(child);
    watched.end().await;
}

#[tokio::test]
async fn a_supervisor_that_is_killed_leaves_nothing_behind() {
    let spawner = Spawner::new();
    let child = spawner.spawn(shell("setsid sleep 1000 & exec sleep 1000")).await.expect("a child");
    let watched = WatchedTree::tree_of(&child).await;
    support::kill(parent(child.pid()));
    assert!(matches!(child.wait().await, Err(SpawnError::Lost)));
    watched.end().await;
}

#[tokio::test]
async fn a_root_that_is_killed_is_replaced_and_its_children_live() {
    let spawner = Spawner::new();
    let child = spawner.spawn(shell("exec sleep 1000")).await.expect("a child");
    let root = parent(parent(child.pid()));
    support::kill(root);
    until("the root is gone", || !lives(root)).await;
    assert_eq!(output(&spawner, shell("echo again")).await, "again\n");
    assert!(child.ended().is_none());
    let ended = child.kill_tree(GRACE).await.expect("its end");
    assert_eq!(ended.exit, ChildExit::Signaled { signal: 15 });
}

#[tokio::test]
async fn a_file_does_not_grow_past_its_limit() {
    let spawner = Spawner::new();
    let mut file = tempfile::tempfile().expect("a file");
    let limits = ChildLimits { file_size_bytes: Some(100_000), ..ChildLimits::default() };
    let stdout = ChildOutput::File(file.try_clone().expect("a clone"));
    let child = spawner.spawn(SpawnRequest { stdout, limits, ..shell("exec yes") }).await.expect("a child");
    assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Signaled { signal: 25 });
    let mut written = Vec::new();
    file.rewind().expect("the beginning");
    file.read_to_end(&mut written).expect("a read");
    assert_eq!(written.len(), 100_000);
}

#[tokio::test]
async fn computing_open_files_and_core_files_are_limited() {
    let spawner = Spawner::new();
    let limits = ChildLimits { cpu_seconds: Some(1), open_files: Some(17), ..ChildLimits::default() };
    let request = SpawnRequest { limits, ..shell("ulimit -n; ulimit -Hn; ulimit -c") };
    assert_eq!(output(&spawner, request).await, "17\n17\n0\n");
    let request = SpawnRequest { limits, ..shell("while :; do :; done") };
    let child = spawner.spawn(request).await.expect("a child");
    assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Signaled { signal: 24 });
}

#[tokio::test]
async fn a_wait_that_is_given_up_loses_nothing() {
    let spawner = Spawner::new();
    let request = SpawnRequest { stdin: ChildInput::Pipe, ..shell("read line; exit 5") };
    let mut child = spawner.spawn(request).await.expect("a child");
    for _ in 0..20 {
        assert!(tokio::time::timeout(Duration::from_millis(1), child.wait()).await.is_err());
    }
    drop(child.take_stdin());
    let (one, other) = tokio::join!(child.wait(), child.wait());
    assert_eq!(one.expect("its end"), other.expect("its end"));
    assert_eq!(child.ended().map(|ended| ended.exit), Some(ChildExit::Exited { code: 5 }));
}

#[tokio::test]
async fn long_arguments_arrive_and_longer_ones_are_refused() {
    let spawner = Spawner::new();
    let long = "x".repeat(100_000);
    let mut request = shell("printf %s \"$0$1$2\" | wc -c");
    request.arguments.extend([long.clone().into(), long.clone().into(), long.into()]);
    assert_eq!(output(&spawner, request).await.trim(), "300000");
    let mut request = shell("true");
    request.arguments.extend((0..11).map(|_| "x".repeat(100_000).into()));
    assert!(matches!(spawner.spawn(request).await, Err(SpawnError::TooLarge { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_children_leave_no_zombie_and_no_descriptor() {
    let spawner = Spawner::new();
    let first = spawner.spawn(shell("exec sleep 1000")).await.expect("a child");
    let root = parent(parent(first.pid()));
    let (ours, roots) = (descriptors("self"), descriptors(&root.to_string()));
    for number in 0..500 {
        let child = spawner.spawn(shell("exit 0")).await.expect("a child");
        assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Exited { code: 0 }, "child {number}");
    }
    let mut running = tokio::task::JoinSet::new();
    for number in 0..200 {
        let spawner = spawner.clone();
        running.spawn(async move {
            let child = spawner.spawn(shell(&format!("exit {}", number % 100))).await.expect("a child");
            assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Exited { code: number % 100 });
        });
    }
    while let Some(done) = running.join_next().await {
        done.expect("a child");
    }
    // One supervisor is left, that of the first; ended ones would count.
    until("all supervisors are gone", || children_of(root) == 1).await;
    until("the sockets are closed", || descriptors("self") <= ours).await;
    assert_eq!(descriptors(&root.to_string()), roots);
}

/// The number of open descriptors; none where only root may look, as for a supervisor.
fn descriptors(process: &str) -> Option<usize> {
    fs::read_dir(format!("/proc/{process}/fd")).ok().map(Iterator::count)
}

#[tokio::test]
async fn nothing_of_a_host_that_was_killed_lives_on() {
    support::nothing_outlives(|| support::play_host("children::host"), 2).await;
}

/// Plays a host that is to be killed; does nothing when the tests run.
#[tokio::test]
async fn host() {
    if !support::is_host() {
        return;
    }
    let spawner = Spawner::new();
    let script = "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; echo $$ >&2; while :; do sleep 1000; done' & echo $$ >&2; wait; sleep 1000";
    let stderr = rustix::io::dup(rustix::stdio::stderr()).expect("a stream");
    let request = SpawnRequest { stderr: ChildOutput::File(stderr.into()), ..shell(script) };
    let child = spawner.spawn(request).await.expect("a child");
    let _ = child.wait().await;
}

#[tokio::test]
async fn a_terminal_is_the_childs_own_and_an_output_to_none_is_refused() {
    use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let host = openpt(flags).expect("a terminal");
    unlockpt(&host).expect("unlocked");
    let program = File::from(ioctl_tiocgptpeer(&host, flags).expect("its other end"));
    let request = SpawnRequest {
        stdin: ChildInput::Terminal(program),
        stdout: ChildOutput::Terminal,
        stderr: ChildOutput::Terminal,
        ..shell("test -t 0 && test -t 1 && test -t 2 && echo own > /dev/tty")
    };
    let spawner = Spawner::new();
    let child = spawner.spawn(request).await.expect("a child");
    assert_eq!(child.wait().await.expect("its end").exit, ChildExit::Exited { code: 0 });
    let mut host = File::from(host);
    let mut said = [0; 5];
    host.read_exact(&mut said).expect("output");
    assert_eq!(&said, b"own\r\n");
    // No process holds the other end any more, the host included.
    assert_eq!(host.read(&mut said).expect_err("closed").raw_os_error(), Some(5));
    let request = SpawnRequest { stdout: ChildOutput::Terminal, ..shell("") };
    assert!(matches!(spawner.spawn(request).await, Err(SpawnError::Illegal { .. })));
}
