//! What the doctor says of a cluster: its database, the certificate of this host, and who
//! reaches whom.

use std::time::Duration;

use wharf::{
    Configuration,
    cluster::{
        CertificateProblem, ClusterBusError, ClusterCheck, ClusterHosts, ClusterHostsError, DatabaseMeasure, Found,
        HostRecord,
    },
    with_causes,
};

use super::finding::Finding;

/// A clock that is further away than this is set wrongly.
const CLOCK_SECONDS: i64 = 5;
/// Calls of tools that keep state ask the database more than once.
const SLOW: Duration = Duration::from_millis(20);
/// A certificate that is renewed by itself is renewed before this.
const RENEWAL_DAYS: u64 = 14;
const CLUSTER: &str = "cluster";

/// Finds out how the cluster is that the configuration names.
pub(super) async fn cluster(configuration: &Configuration) -> Vec<Finding> {
    match check(configuration).await {
        Ok((address, check)) => findings(&address, &check),
        Err(error) => {
            let advice = "see [cluster] and [state] in wharf.toml, and to the database server";
            vec![Finding::ill(CLUSTER, with_causes(&error), advice)]
        }
    }
}

async fn check(configuration: &Configuration) -> Result<(String, ClusterCheck), ClusterHostsError> {
    let hosts = ClusterHosts::open(configuration).await?;
    Ok((hosts.settings().address.clone(), hosts.check().await?))
}

fn findings(address: &str, check: &ClusterCheck) -> Vec<Finding> {
    let alive: Vec<_> = check.hosts.iter().filter(|host| !host.is_dead).collect();
    let dead = check.hosts.len() - alive.len();
    let mut says = match alive.len() {
        0 => "no host is alive".to_owned(),
        1 => "1 host is alive".to_owned(),
        hosts => format!("{hosts} hosts are alive"),
    };
    if dead > 0 {
        says.push_str(&format!(", {dead} ended without a word within the last hour"));
    }
    let mut findings = vec![
        Finding::well(CLUSTER, says),
        database(&check.database, check.connections_of_a_host, alive.len()),
        clock(&check.database),
        certificate(address, &check.certificate),
        secrets(check),
    ];
    findings.extend(check.nats.as_ref().map(nats));
    findings.extend(alive.into_iter().map(|host| of_host(host, check)));
    findings
}

fn database(measure: &DatabaseMeasure, of_a_host: usize, hosts: usize) -> Finding {
    const WHAT: &str = "database";
    let DatabaseMeasure { latency, layout, connections, most_connections, .. } = measure;
    let milliseconds = latency.as_secs_f64() * 1e3;
    let says = format!(
        "answers in {milliseconds:.1} ms; layout {layout}; {connections} of {most_connections} connections are open"
    );
    let needed = hosts.saturating_mul(of_a_host);
    if usize::try_from(*most_connections).is_ok_and(|most| needed > most) {
        return Finding::ill(
            WHAT,
            format!("{says}, and {hosts} hosts take up to {needed}"),
            "raise `max_connections` of the server, or lower `database_connections` under [state] at each host",
        );
    }
    if *latency >= SLOW {
        return Finding::ill(WHAT, says, "place the database nearer to the hosts: calls ask it more than once");
    }
    Finding::well(WHAT, says)
}

fn secrets(check: &ClusterCheck) -> Finding {
    const WHAT: &str = "secrets";
    match &check.secrets {
        Ok(0) => Finding::well(
            WHAT,
            "none: what a call asks for is answered at the host that asked; see `secret_files` under [cluster]",
        ),
        Ok(number) => Finding::well(
            WHAT,
            format!("{number} of `secret_files`: what a call asks for is answered at any host that has the same"),
        ),
        Err(error) => Finding::ill(WHAT, with_causes(error), "a host does not start without it"),
    }
}

fn nats(answers: &Result<bool, ClusterBusError>) -> Finding {
    const WHAT: &str = "nats";
    match answers {
        Ok(true) => Finding::well(WHAT, "a server answers: hosts hear of changes over it"),
        Ok(false) => Finding::ill(
            WHAT,
            "no server of [cluster.nats] takes this host's connection: hosts tell each other of changes one by one",
            "see that one runs, that its certificate is for its name, and that it knows this host's login",
        ),
        Err(error) => Finding::ill(WHAT, with_causes(error), "a host does not start with it"),
    }
}

fn clock(measure: &DatabaseMeasure) -> Finding {
    const WHAT: &str = "clocks";
    match measure.ahead_milliseconds / 1_000 {
        ahead if ahead.abs() < CLOCK_SECONDS => {
            Finding::well(WHAT, "the one here agrees with the one of the database server")
        }
        ahead => Finding::ill(
            WHAT,
            format!("the one of the database server is {}", apart(ahead)),
            "set both by the same time servers: grants and state expire by them",
        ),
    }
}

/// How far another clock is from the one here.
fn apart(ahead: i64) -> String {
    let side = if ahead > 0 { "ahead of" } else { "behind" };
    format!("{} seconds {side} the one here", ahead.unsigned_abs())
}

fn certificate(address: &str, valid: &Result<Duration, CertificateProblem>) -> Finding {
    const WHAT: &str = "certificate";
    match valid {
        Ok(valid) => {
            let days = valid.as_secs() / 86_400;
            let says = format!("the other hosts accept it for {address}, for {days} more days");
            if days < RENEWAL_DAYS {
                return Finding::ill(WHAT, says, "renew it: a host reads the files of [cluster.tls] again each minute");
            }
            Finding::well(WHAT, says)
        }
        Err(problem) => Finding::ill(
            WHAT,
            with_causes(problem),
            format!(
                "have the authority of [cluster.tls] sign one for the name in {address}, with the usages `serverAuth` \
                 and `clientAuth`"
            ),
        ),
    }
}

fn of_host(host: &HostRecord, check: &ClusterCheck) -> Finding {
    const WHAT: &str = "host";
    let HostRecord { host: name, address, version, incarnation, .. } = host;
    let Some(look) = check.survey.looks.iter().find(|look| look.host == *incarnation) else {
        return Finding::well(WHAT, format!("{name} ({address}), version {version}, was not looked at"));
    };
    if look.found != Found::Alive {
        let says = format!("{name} ({address}) is not reached from here: {}", why(&look.found));
        return Finding::ill(WHAT, says, "see that it runs, and open this port between all hosts");
    }
    // What a host sees that is not reached itself cannot be told.
    let is_reached = |host| check.survey.looks.iter().any(|look| look.host == host && look.found == Found::Alive);
    let ways = check.survey.passages.iter().filter(|way| way.to == *incarnation && is_reached(way.from));
    let ways: Vec<_> = ways.collect();
    let is_hidden_from =
        |host: &&HostRecord| ways.iter().any(|way| way.from == host.incarnation && way.found != Found::Alive);
    let hidden_from: Vec<_> = check.hosts.iter().filter(is_hidden_from).map(|host| host.host.as_str()).collect();
    if !hidden_from.is_empty() {
        return Finding::ill(
            WHAT,
            format!("{name} ({address}) is reached from here and not from {}", hidden_from.join(", ")),
            "open this port between all hosts; the logs of both say where a certificate was refused",
        );
    }
    if let Some(ahead) = look.ahead_seconds.filter(|ahead| ahead.abs() >= CLOCK_SECONDS) {
        let says = format!("the clock of {name} is {}", apart(ahead));
        return Finding::ill(WHAT, says, "set both by the same time servers");
    }
    if look.configured.zip(check.configured).is_some_and(|(has, all)| has != all) {
        let says = format!("{name} ({address}) has not started since the settings of all hosts were changed");
        return Finding::ill(WHAT, says, "drain it and start it again: until then it keeps to what they were");
    }
    let milliseconds = look.took.as_secs_f64() * 1e3;
    let reached = if ways.is_empty() { "" } else { ", and each other host that answers reaches it" };
    Finding::well(WHAT, format!("{name} ({address}) answers in {milliseconds:.1} ms, version {version}{reached}"))
}

fn why(found: &Found) -> &str {
    match found {
        Found::Unclear(Some(why)) => why,
        Found::Ended => "nobody listens there, or a host that started later",
        Found::Alive | Found::Unclear(None) => "it cannot be told",
    }
}
