//! Measures terminals alone and prints the figures.
#![expect(clippy::print_stdout, reason = "a command-line tool: printing is what it is for")]

use anyhow::{Result, bail};
use wharf_terminal_bench::{flood::Kind, memory, pairs, pipeline, throughput, turns};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("throughput") => {
            let (mebibytes, rounds) =
                (arguments.next().map_or(Ok(8), |n| n.parse())?, arguments.next().map_or(Ok(5), |n| n.parse())?);
            let wanted = arguments.next();
            for kind in
                Kind::ALL.iter().filter(|kind| wanted.as_deref().is_none_or(|wanted| kind.name().contains(wanted)))
            {
                for measured in throughput::measure(&[*kind], mebibytes << 20, rounds)? {
                    let mebi = |rate: f64| rate / f64::from(1 << 20);
                    println!(
                        "{:<16} {:.3}  session {:.1} MiB/s, bare {:.1} MiB/s",
                        measured.kind.name(),
                        measured.ratio,
                        mebi(measured.session),
                        mebi(measured.bare)
                    );
                }
            }
        }
        Some("pipeline") => {
            let wanted = arguments.next();
            for kind in
                Kind::ALL.into_iter().filter(|kind| wanted.as_deref().is_none_or(|wanted| kind.name().contains(wanted)))
            {
                let best = |best: (f64, f64), next: (f64, f64)| (best.0.min(next.0), best.1.min(next.1));
                let (stream, both) = (0..7).map(|_| pipeline::measure(kind, 16 << 20)).fold((f64::MAX, f64::MAX), best);
                println!("{:<16} stream {:.0} MiB/s, with screen {:.0} MiB/s", kind.name(), 16.0 / stream, 16.0 / both);
            }
        }
        Some("pairs") => {
            let (mebibytes, rounds) =
                (arguments.next().map_or(Ok(8), |n| n.parse())?, arguments.next().map_or(Ok(5), |n| n.parse())?);
            let opening = pairs::opening(rounds)?;
            println!("opening          {:.3}  {:.1?} microseconds", opening.ratio, opening.each.map(|took| took * 1e6));
            for pairs::Reading { kind, computed, passed } in pairs::reading(&Kind::ALL, mebibytes << 20, rounds)? {
                let mebi = |rates: [f64; 2]| rates.map(|rate| rate / f64::from(1 << 20));
                println!(
                    "{:<16} {:.3} of computing, {:.1?} MiB/s; {:.3} of time, {:.1?} MiB/s",
                    kind.name(),
                    computed.ratio,
                    mebi(computed.each),
                    passed.ratio,
                    mebi(passed.each)
                );
            }
        }
        Some("memory") => {
            let memory::Memory { bare, full } = memory::measure(memory::SESSIONS)?;
            println!("a session takes {:.0} KiB, with a full history {:.0} KiB", bare / 1024.0, full / 1024.0);
        }
        Some("turns") => {
            let (rounds, seed) =
                (arguments.next().map_or(Ok(2), |n| n.parse())?, arguments.next().map_or(Ok(1), |n| n.parse())?);
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            let report = runtime.block_on(turns::hold(turns::Plan { seed, rounds, turns: usize::MAX }))?;
            for (group, tally) in [("known", report.known), ("strange", report.strange)] {
                tally.lines(group).iter().for_each(|line| println!("{line}"));
            }
        }
        _ => bail!(
            "say what to measure: throughput [MEBIBYTES [ROUNDS [KIND]]], pairs [MEBIBYTES [ROUNDS]], pipeline [KIND], memory or turns [ROUNDS [SEED]]"
        ),
    }
    Ok(())
}
