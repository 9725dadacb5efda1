//! The same where hosts live on, and the database ends under them.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

use fastrand::Rng;
use serde_json::Value;
use wharf_test_support::blocking;

use super::{
    content,
    lane::{Caller, Lane, Unanswered},
    planning::Planning,
    playbook::Playbooks,
};
use crate::cluster::{ClusterHost, code_of};

/// Answers before the database ends.
const ANSWERS: u64 = 20;

/// What came of the outages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outlived {
    /// Changes that a host had acknowledged.
    pub acknowledged: u64,
    /// Calls that an outage met and had happened.
    pub happened: u64,
    /// Calls that an outage met and had not happened.
    pub lost: u64,
}

/// Has the database end under callers who write by way of all hosts, so often. `outage` ends it and
/// has it answer again; each time, all that was acknowledged has to be there, and nothing by half.
///
/// # Panics
/// Where that is not so.
#[must_use]
pub fn run_outages(hosts: &[ClusterHost], rounds: u32, seed: u64, mut outage: impl FnMut()) -> Outlived {
    let mut random = Rng::with_seed(seed);
    let mut lanes: Vec<Box<dyn Lane>> = Vec::new();
    lanes.extend((0..2).map(|number| Box::new(Planning::new(number)) as Box<dyn Lane>));
    lanes.push(Box::new(Playbooks::new(0)));
    lanes.extend(content::is_there().then(|| Box::new(content::Contents::new(0)) as Box<dyn Lane>));
    let mut outlived = Outlived::default();
    for _ in 0..rounds {
        outlived.acknowledged += load(hosts, &mut lanes, &mut random, &mut outage);
        for lane in &mut lanes {
            match lane.verify(&mut Patient(&hosts[random.usize(0..hosts.len())])) {
                Unanswered::Happened => outlived.happened += 1,
                Unanswered::Lost => outlived.lost += 1,
                Unanswered::None => {}
            }
        }
    }
    outlived
}

/// Keeps every lane busy until the outage meets it. How many calls were answered.
fn load(hosts: &[ClusterHost], lanes: &mut [Box<dyn Lane>], random: &mut Rng, outage: &mut impl FnMut()) -> u64 {
    let (is_over, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    let (is_over, answered) = (&is_over, &answered);
    thread::scope(|scope| {
        for lane in lanes {
            let mut random = random.fork();
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    let (tool, arguments) = lane.next(&mut random);
                    let host = &hosts[random.usize(0..hosts.len())];
                    let answer = host.attempt(tool, &arguments, &lane.context()).expect("hosts live on");
                    // Whether the call happened is not known.
                    if is_of_the_database(&answer) {
                        return;
                    }
                    lane.acknowledge(&answer);
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        blocking::until("callers are at work", || {
            let answers = answered.load(Ordering::SeqCst);
            if answers >= ANSWERS { Ok(()) } else { Err(answers) }
        });
        outage();
        is_over.store(true, Ordering::SeqCst);
    });
    answered.load(Ordering::SeqCst)
}

/// Whether an answer says that the database does not answer, or has not in time.
fn is_of_the_database(answer: &Value) -> bool {
    matches!(code_of(answer).as_deref(), Some("unavailable" | "timeout"))
}

/// Asks again until the database answers.
struct Patient<'h>(&'h ClusterHost);

impl Caller for Patient<'_> {
    fn call(&mut self, tool: &str, arguments: Value, meta: Value) -> Value {
        blocking::until("the database answers", || match self.0.attempt(tool, &arguments, &meta) {
            Some(answer) if !is_of_the_database(&answer) => Ok(answer),
            answer => Err(format!("{answer:?}")),
        })
    }
}
