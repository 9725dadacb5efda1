//! A host that is killed while it works, again and again: what it acknowledged
//! is there afterwards, and nothing is there by half.
//!
//! Several lanes call tools at once, each in a context of its own, and know
//! what they were told. A lane has one call in flight, so that after a kill one
//! thing is unknown in each: whether that call happened. Everything else is.

mod content;
mod counters;
mod files;
mod lane;
mod many;
mod outages;
mod planning;
mod playbook;

use std::{
    io::BufReader,
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use wharf::{
    Configuration,
    inventory::{self, BucketSelection, ImportMode, Inventory as _, MissingStore, SqliteInventory},
};

use wharf_test_support::postgres::PostgresServer;

use self::lane::{Lane, Unanswered};
pub use self::{
    many::{ManyKills, ManySurvived, run_many},
    outages::{Outlived, run_outages},
};
use crate::{AMPLE, Client, Command, Data, component, wharf};

/// How many rounds, from which randomness, on which store.
#[derive(Debug, Default)]
pub struct Kills {
    /// Kills of the host.
    pub rounds: u32,
    /// The same seed calls the same tools; when they are answered, and so what
    /// a kill meets, differs.
    pub seed: u64,
    /// The server that keeps the state; a file in the data directory where absent. After each
    /// kill, a host with another data directory then takes over, as on another machine.
    pub database: Option<PostgresServer>,
}

/// What came of the rounds.
#[derive(Debug, Clone, Default)]
pub struct Survived {
    /// Changes that the host had acknowledged.
    pub acknowledged: u64,
    /// Calls that were in flight at a kill and had happened.
    pub happened_unanswered: u64,
    /// Calls that were in flight at a kill and had not happened.
    pub lost_unanswered: u64,
    /// From the start of the process to the first answered call, each time.
    pub restarts: Vec<Duration>,
}

impl Survived {
    /// The longest restart.
    #[must_use]
    pub fn slowest_restart(&self) -> Duration {
        self.restarts.iter().max().copied().unwrap_or_default()
    }

    /// The middle one.
    #[must_use]
    pub fn usual_restart(&self) -> Duration {
        let mut sorted = self.restarts.clone();
        sorted.sort();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// Kills a host so often, and checks it each time.
///
/// # Panics
/// Where anything acknowledged is missing, or anything is there by half.
#[must_use]
pub fn run(kills: Kills) -> Survived {
    let mut random = fastrand::Rng::with_seed(kills.seed);
    let mut data = kills.data();
    let mut lanes: Vec<Box<dyn Lane>> = Vec::new();
    lanes.extend((0..4).map(|number| Box::new(planning::Planning::new(number)) as Box<dyn Lane>));
    lanes.extend((0..3).map(|number| Box::new(playbook::Playbooks::new(number)) as Box<dyn Lane>));
    lanes.extend((0..2).filter(|_| content::is_there()).map(|number| Box::new(content::Contents::new(number)) as _));

    let mut survived = Survived::default();
    let (mut host, _) = start(&data);
    for round in 0..kills.rounds {
        survived.acknowledged += load(&mut host, &mut lanes, &mut random);
        for answer in host.kill() {
            survived.acknowledged += 1;
            acknowledge(&mut lanes, &answer);
        }
        if let Some(server) = &kills.database {
            // What the killed host asked for may go on there.
            server.rest();
            data = kills.data();
        }
        let (restarted, took) = start(&data);
        host = restarted;
        survived.restarts.push(took);
        for lane in &mut lanes {
            match lane.verify(&mut host) {
                Unanswered::Happened => survived.happened_unanswered += 1,
                Unanswered::Lost => survived.lost_unanswered += 1,
                Unanswered::None => {}
            }
        }
        if round % 10 == 9 || round + 1 == kills.rounds {
            check_store(&data);
        }
    }
    let (_, log, code) = host.leave();
    assert_eq!(code, Some(0), "{log}");
    survived
}

impl Kills {
    /// A data directory with the configuration of a host.
    fn data(&self) -> Data {
        let (data, mut text) = (Data::new(), String::new());
        if let Some(server) = &self.database {
            data.write_private("database", server.connection("postgres"));
            text.push_str("[state]\ndatabase_file = \"database\"\n");
        }
        data.write("wharf.toml", text + &configuration());
        data
    }
}

/// Plugins as they are built, with the bundled grants.
fn configuration() -> String {
    let mut text = String::new();
    for name in ["planning", "playbook", "content-store"] {
        if name == "content-store" && !content::is_there() {
            text.push_str("[plugin.content-store]\nenabled = false\n");
            continue;
        }
        let source = component(name);
        text.push_str(&format!(
            "[plugin.{name}]\nsource = '{}'\n[plugin.{name}.grants.state]\nreason = \"a test\"\n",
            source.display()
        ));
    }
    text
}

fn command(data: &Data) -> Command {
    wharf(["serve", "--stdio"]).config(&data.path().join("wharf.toml")).data(data.path())
}

/// A host that has answered a call, and how long that took from its start.
fn start(data: &Data) -> (Client, Duration) {
    let began = Instant::now();
    let mut host = Client::connect(command(data));
    let answer = host.call("planning__get_current_state", json!({}), json!({"dev.wharf/sessionId": "first"}));
    assert_ne!(answer["isError"], json!(true), "{answer}");
    (host, began.elapsed())
}

/// Keeps every lane busy for a random time, and returns how many calls were
/// answered.
fn load(host: &mut Client, lanes: &mut [Box<dyn Lane>], random: &mut fastrand::Rng) -> u64 {
    let time = Duration::from_micros(random.u64(2_000..150_000));
    // Three kills of four meet a host that has answered every lane: on a slow machine, few others would.
    let mut until = Instant::now() + if random.u8(0..4) == 0 { time } else { AMPLE };
    let mut ask = |host: &mut Client, lanes: &mut [Box<dyn Lane>], lane: usize| {
        let (tool, arguments) = lanes[lane].next(random);
        let meta = lanes[lane].context();
        host.ask_as(lane, "tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}));
    };
    for lane in 0..lanes.len() {
        ask(host, lanes, lane);
    }
    let mut answered = 0;
    while let Some(answer) = host.next_answer(until) {
        let lane = acknowledge(lanes, &answer);
        answered += 1;
        if answered >= lanes.len() as u64 {
            until = until.min(Instant::now() + time);
        }
        ask(host, lanes, lane);
    }
    answered
}

/// Gives an answer to the lane that asked.
fn acknowledge(lanes: &mut [Box<dyn Lane>], answer: &Value) -> usize {
    let lane = Client::caller_of(answer).unwrap_or_else(|| panic!("an answer to nothing: {answer}"));
    lanes[lane].acknowledge(&answer["result"]);
    lane
}

/// The accounts of the store agree with its entries, in every bucket.
fn check_store(data: &Data) {
    let (copy, file): (Data, PathBuf) = (Data::alone(), data.path().join("export"));
    let configuration = Configuration::read(&data.path().join("wharf.toml")).expect("a configuration");
    let inventory = inventory::open(&configuration, data.path(), MissingStore::Refuse).expect("the store opens");
    let mut out = std::fs::File::create(&file).expect("a file");
    inventory.export(&BucketSelection::default(), &mut out).expect("the store can be exported");
    // An import counts every bucket again.
    let mut lines = BufReader::new(std::fs::File::open(&file).expect("the file"));
    let imported = SqliteInventory::open_or_make(copy.path()).expect("a store").import(&mut lines, ImportMode::Refuse);
    imported.expect("every bucket has what its account says");
}
