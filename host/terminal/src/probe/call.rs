//! In which system call a thread sleeps, and what for.
//!
//! Owns what each system call says of its thread. Never knows the other threads.

use std::{fs, os::unix::fs::FileExt as _, time::Duration};

use libc::c_long;

use rustix::time::{ClockId, clock_gettime};

use super::descriptors::{DescriptorKind, GroupDescriptors, watched_by};

/// With more descriptors in one call nothing is said.
const MAX_WATCHED: usize = 64;
/// The most that fits in a set of select.
const MAX_SET: usize = 1024;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThreadActivity {
    /// It waits for the terminal alone.
    Listens {
        /// How long at most.
        limit: Option<Duration>,
    },
    /// It waits for the terminal and for something else.
    ListensElsewhereToo {
        /// How long at most.
        limit: Option<Duration>,
    },
    /// It waits for nothing but time, or so long for others.
    Sleeps {
        /// How long from now on, at most.
        limit: Duration,
    },
    /// It waits, without a limit, for other threads or for a child.
    WaitsForOthers,
    /// It waits for a service of this machine, which may have been given the
    /// terminal.
    WaitsForService,
    /// It runs, or is about to.
    Computes,
    /// It waits for something outside.
    GoesOn,
}

/// What a system call waits for.
enum BlockingCall {
    /// A descriptor that can be read.
    Read(u32),
    /// A descriptor that can be written.
    Write(u32),
    /// Any of these, so long at most.
    Any(Vec<u32>, Option<Duration>),
    /// Something else inside of the program.
    Others,
    /// The same, or nothing, for so long.
    Time(Duration),
    /// Something else outside.
    Outside,
}

/// Nothing where it cannot be said.
pub(super) fn activity(
    process: u32,
    thread: u32,
    descriptors: &GroupDescriptors<'_>,
    read_limit: Option<Duration>,
) -> Option<ThreadActivity> {
    let directory = format!("/proc/{process}/task/{thread}");
    let stat = fs::read_to_string(format!("{directory}/stat")).ok()?;
    match stat.rsplit_once(") ")?.1.as_bytes().first()? {
        b'S' => {}
        b'R' | b'D' => return Some(ThreadActivity::Computes),
        b'Z' | b'X' => return Some(ThreadActivity::WaitsForOthers),
        // Stopped; by what is not known here.
        _ => return None,
    }
    let call = fs::read_to_string(format!("{directory}/syscall")).ok()?;
    if call.trim() == "running" {
        return Some(ThreadActivity::Computes);
    }
    let activity = match blocking_call(process, &call)? {
        BlockingCall::Read(descriptor) => match descriptors.kind(process, descriptor)? {
            DescriptorKind::Terminal => ThreadActivity::Listens { limit: read_limit },
            DescriptorKind::Own => ThreadActivity::WaitsForOthers,
            DescriptorKind::Service => ThreadActivity::WaitsForService,
            DescriptorKind::Pipe | DescriptorKind::Other => ThreadActivity::GoesOn,
        },
        BlockingCall::Write(descriptor) => match descriptors.kind(process, descriptor)? {
            // For its reader, which is the next of a pipeline.
            DescriptorKind::Pipe | DescriptorKind::Own => ThreadActivity::WaitsForOthers,
            DescriptorKind::Terminal | DescriptorKind::Service | DescriptorKind::Other => ThreadActivity::GoesOn,
        },
        BlockingCall::Any(watched, limit) => {
            let kinds = watched.into_iter().map(|descriptor| descriptors.kind(process, descriptor));
            let kinds = kinds.collect::<Option<Vec<DescriptorKind>>>()?;
            let terminal = kinds.contains(&DescriptorKind::Terminal);
            let service = kinds.contains(&DescriptorKind::Service);
            let other = kinds.iter().any(|kind| matches!(kind, DescriptorKind::Pipe | DescriptorKind::Other));
            match (terminal, service, other, limit) {
                (true, false, false, limit) => ThreadActivity::Listens { limit },
                (true, false, _, limit) => ThreadActivity::ListensElsewhereToo { limit },
                (true, true, _, _) => ThreadActivity::ListensElsewhereToo { limit: None },
                (false, true, _, _) => ThreadActivity::WaitsForService,
                (false, false, false, None) => ThreadActivity::WaitsForOthers,
                (false, false, false, Some(limit)) => ThreadActivity::Sleeps { limit },
                (false, false, true, _) => ThreadActivity::GoesOn,
            }
        }
        BlockingCall::Others => ThreadActivity::WaitsForOthers,
        BlockingCall::Time(limit) => ThreadActivity::Sleeps { limit },
        BlockingCall::Outside => ThreadActivity::GoesOn,
    };
    Some(activity)
}

fn blocking_call(process: u32, call: &str) -> Option<BlockingCall> {
    let mut words = call.split_ascii_whitespace();
    let number: c_long = words.next()?.parse().ok()?;
    let hexadecimal = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
    let numbers: Vec<u64> = words.map(hexadecimal).collect::<Option<_>>()?;
    let &[first, second, third, fourth, fifth, _, stack, _] = &*numbers else { return None };
    // A program of 32 bits has other numbers for its calls.
    if stack <= u64::from(u32::MAX) {
        return None;
    }
    let memory = ProcessMemory(process);
    let sleep = match number {
        libc::SYS_read | libc::SYS_readv | libc::SYS_pread64 | libc::SYS_recvfrom | libc::SYS_recvmsg => {
            BlockingCall::Read(descriptor(first)?)
        }
        libc::SYS_write | libc::SYS_writev => BlockingCall::Write(descriptor(first)?),
        libc::SYS_pselect6 => BlockingCall::Any(memory.sets(first, [second, third, fourth])?, memory.time(fifth, 1)?),
        libc::SYS_ppoll => BlockingCall::Any(memory.polled(first, second)?, memory.time(third, 1)?),
        libc::SYS_epoll_pwait => BlockingCall::Any(watched_by(memory.0, descriptor(first)?)?, milliseconds(fourth)),
        libc::SYS_epoll_pwait2 => BlockingCall::Any(watched_by(memory.0, descriptor(first)?)?, memory.time(fourth, 1)?),
        libc::SYS_futex if fourth == 0 => BlockingCall::Others,
        libc::SYS_futex => memory.futex(second, fourth)?,
        libc::SYS_rt_sigtimedwait => memory.time(third, 1)?.map_or(BlockingCall::Others, BlockingCall::Time),
        libc::SYS_nanosleep => BlockingCall::Time(memory.time(first, 1)??),
        libc::SYS_clock_nanosleep => BlockingCall::Time(memory.clock_time(first, second, third)?),
        libc::SYS_wait4 | libc::SYS_waitid | libc::SYS_rt_sigsuspend => BlockingCall::Others,
        libc::SYS_sendto
        | libc::SYS_sendmsg
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_connect
        | libc::SYS_openat
        | libc::SYS_flock
        | libc::SYS_fsync => BlockingCall::Outside,
        other => old(other, [first, second, third, fourth, fifth], &memory)?,
    };
    Some(sleep)
}

/// Calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
fn old(number: c_long, arguments: [u64; 5], memory: &ProcessMemory) -> Option<BlockingCall> {
    let [first, second, third, fourth, fifth] = arguments;
    let sleep = match number {
        libc::SYS_select => BlockingCall::Any(memory.sets(first, [second, third, fourth])?, memory.time(fifth, 1000)?),
        libc::SYS_poll => BlockingCall::Any(memory.polled(first, second)?, milliseconds(third)),
        libc::SYS_epoll_wait => BlockingCall::Any(watched_by(memory.0, descriptor(first)?)?, milliseconds(fourth)),
        libc::SYS_pause => BlockingCall::Others,
        libc::SYS_open => BlockingCall::Outside,
        _ => return None,
    };
    Some(sleep)
}

#[cfg(not(target_arch = "x86_64"))]
fn old(_: c_long, _: [u64; 5], _: &ProcessMemory) -> Option<BlockingCall> {
    None
}

fn descriptor(argument: u64) -> Option<u32> {
    // The system takes the lower half.
    i32::try_from(argument & u64::from(u32::MAX)).ok()?.try_into().ok()
}

/// Nothing for ever.
fn milliseconds(argument: u64) -> Option<Duration> {
    let lower = u32::try_from(argument & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    (lower <= i32::MAX.unsigned_abs()).then(|| Duration::from_millis(lower.into()))
}

/// What a clock shows.
fn now(clock: ClockId) -> Option<Duration> {
    let now = clock_gettime(clock);
    Some(Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?))
}

/// The memory of a process.
struct ProcessMemory(u32);

impl ProcessMemory {
    fn read<const LENGTH: usize>(&self, address: u64) -> Option<[u8; LENGTH]> {
        let mut bytes = [0; LENGTH];
        self.read_into(address, &mut bytes)?;
        Some(bytes)
    }

    fn read_into(&self, address: u64, bytes: &mut [u8]) -> Option<()> {
        fs::File::open(format!("/proc/{}/mem", self.0)).ok()?.read_exact_at(bytes, address).ok()
    }

    /// A time of seconds and of parts of so many nanoseconds; inside nothing
    /// where there is no limit.
    fn time(&self, address: u64, nanoseconds: u64) -> Option<Option<Duration>> {
        if address == 0 {
            return Some(None);
        }
        let bytes: [u8; 16] = self.read(address)?;
        let (seconds, parts) = bytes.split_at(8);
        let seconds = u64::from_ne_bytes(seconds.try_into().ok()?);
        let parts = u64::from_ne_bytes(parts.try_into().ok()?).saturating_mul(nanoseconds);
        Some(Some(Duration::from_secs(seconds).saturating_add(Duration::from_nanos(parts))))
    }

    /// A time as `clock_nanosleep` takes it, from now on.
    fn clock_time(&self, clock: u64, flags: u64, address: u64) -> Option<Duration> {
        let time = self.time(address, 1)??;
        if flags & libc::TIMER_ABSTIME as u64 == 0 {
            return Some(time);
        }
        let clock = match i32::try_from(clock).ok()? {
            libc::CLOCK_REALTIME => ClockId::Realtime,
            libc::CLOCK_MONOTONIC => ClockId::Monotonic,
            libc::CLOCK_BOOTTIME => ClockId::Boottime,
            _ => return None,
        };
        Some(time.saturating_sub(now(clock)?))
    }

    /// A wait with a limit for another thread.
    fn futex(&self, operation: u64, address: u64) -> Option<BlockingCall> {
        let time = self.time(address, 1)??;
        let operation = i32::try_from(operation & u64::from(u32::MAX)).ok()?;
        let clock = if operation & libc::FUTEX_CLOCK_REALTIME == 0 { ClockId::Monotonic } else { ClockId::Realtime };
        match operation & libc::FUTEX_CMD_MASK {
            libc::FUTEX_WAIT => Some(BlockingCall::Time(time)),
            libc::FUTEX_WAIT_BITSET => Some(BlockingCall::Time(time.saturating_sub(now(clock)?))),
            // Somebody else holds a lock.
            _ => Some(BlockingCall::Outside),
        }
    }

    /// What is in any of the sets of a select.
    fn sets(&self, count: u64, addresses: [u64; 3]) -> Option<Vec<u32>> {
        let count = usize::try_from(count & u64::from(u32::MAX)).ok().filter(|count| *count <= MAX_SET)?;
        let mut any = [0; MAX_SET / 8];
        for address in addresses.into_iter().filter(|address| *address != 0) {
            let mut set = [0; MAX_SET / 8];
            // The system reads whole words.
            self.read_into(address, &mut set[..count.div_ceil(64) * 8])?;
            any.iter_mut().zip(set).for_each(|(any, set)| *any |= set);
        }
        let is_in = |number: &u32| any[*number as usize / 8] & (1 << (number % 8)) != 0;
        let found: Vec<u32> = (0..u32::try_from(count).ok()?).filter(is_in).collect();
        (found.len() <= MAX_WATCHED).then_some(found)
    }

    /// What a poll waits for.
    fn polled(&self, address: u64, count: u64) -> Option<Vec<u32>> {
        let count = usize::try_from(count & u64::from(u32::MAX)).ok().filter(|count| *count <= MAX_WATCHED)?;
        let mut bytes = [0; MAX_WATCHED * 8];
        let bytes = &mut bytes[..count * 8];
        self.read_into(address, bytes)?;
        let entries = bytes.chunks_exact(8).filter_map(|entry| {
            let number = i32::from_ne_bytes(entry[..4].try_into().ok()?);
            // One that is negative is left out.
            u32::try_from(number).ok()
        });
        Some(entries.collect())
    }
}
