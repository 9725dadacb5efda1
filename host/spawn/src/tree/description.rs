//! The processes of a tree in words and numbers, for people.

use std::{fs::File, io::Read as _, path::Path, time::Duration};

use rustix::{
    param::{clock_ticks_per_second, page_size},
    process::Pid,
};

use super::members_below;
use crate::TreeProcess;

/// Of a command line.
const COMMAND_BYTES: u64 = 1_024;
/// Processes of a tree that are described: those of the lowest ids.
const MOST: usize = 200;

/// The living processes below this one, by process id, the first 200. Takes milliseconds: it
/// walks through all processes of the machine. A command line is memory of its process, which may
/// make its readers wait, so no thread that others need may call this.
pub(crate) fn describe(top: Pid) -> Vec<TreeProcess> {
    let mut pids: Vec<Pid> = members_below(top).into_iter().map(|member| member.pid).collect();
    pids.sort_by_key(|pid| pid.as_raw_nonzero());
    // One that has ended by now is none.
    pids.into_iter().take(MOST).filter_map(one).collect()
}

fn one(pid: Pid) -> Option<TreeProcess> {
    let number = u32::try_from(pid.as_raw_nonzero().get()).ok()?;
    let directory = Path::new("/proc").join(number.to_string());
    let stat = std::fs::read(directory.join("stat")).ok()?;
    let process = parse(number, &String::from_utf8_lossy(&stat))?;
    Some(TreeProcess { command: command(&directory), ..process })
}

fn command(directory: &Path) -> String {
    let mut bytes = Vec::new();
    // What cannot be read is not shown.
    let _ = File::open(directory.join("cmdline")).and_then(|file| file.take(COMMAND_BYTES).read_to_end(&mut bytes));
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>().join(" ")
}

/// What `/proc/PID/stat` says: see `proc_pid_stat(5)`. The name comes in brackets and may hold anything,
/// brackets included.
fn parse(pid: u32, stat: &str) -> Option<TreeProcess> {
    let (before, after) = stat.rsplit_once(") ")?;
    let (_, name) = before.split_once(" (")?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    // The state is the third field of the file, and the first one here.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let state = match *fields.first()? {
        "R" => "running",
        "S" | "I" => "sleeping",
        "D" => "waiting",
        "T" | "t" => "stopped",
        _ => "other",
    };
    let ticks = number(14)?.saturating_add(number(15)?);
    let milliseconds = ticks.saturating_mul(1_000) / clock_ticks_per_second().max(1);
    Some(TreeProcess {
        pid,
        parent: u32::try_from(number(4)?).ok()?,
        name: name.to_owned(),
        command: String::new(),
        state,
        threads: u32::try_from(number(20)?).ok()?,
        resident_bytes: number(24)?.saturating_mul(page_size() as u64),
        computed: Duration::from_millis(milliseconds),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processes_cannot_forge_what_is_told_of_them() {
        let fields = "S 7 9 9 0 -1 0 0 0 0 0 100 50 0 0 20 0 3 0 1000 4096 12 0";
        let process = parse(12, &format!("12 (a) R 1 (b) {fields}")).expect("a process");
        assert_eq!((process.name.as_str(), process.parent, process.threads), ("a) R 1 (b", 7, 3));
        assert_eq!(process.state, "sleeping");
        assert_eq!(process.resident_bytes, 12 * page_size() as u64);
        assert_eq!(process.computed, Duration::from_millis(150_000 / clock_ticks_per_second()));
        assert_eq!(parse(12, "12 (a) S 7"), None);
        assert_eq!(parse(12, ""), None);
    }
}
