//! `wharf doctor --cluster`.

use serde_json::Value;
use wharf_tests::{Data, Holds, cluster::ClusterHost, wharf};

use super::cluster;

/// What the doctor says of the cluster: whether it is well, and its words.
fn found(data: &Data) -> Vec<(String, String, bool)> {
    let run = wharf(["doctor", "--cluster", "--json"]).config(&data.path().join("wharf.toml")).data(data.path()).run();
    let found: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{run:?}"));
    let text = |finding: &Value, member: &str| finding[member].as_str().unwrap_or_default().to_owned();
    let findings = found["findings"].as_array().expect("a list").iter();
    let of_cluster = findings.skip_while(|finding| finding["what"] != "cluster");
    of_cluster.map(|finding| (text(finding, "what"), text(finding, "says"), finding["advice"].is_null())).collect()
}

fn found_by(host: &ClusterHost) -> Vec<(String, String, bool)> {
    found(&host.server.data)
}

#[test]
fn the_doctor_tells_how_a_cluster_is() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let findings = wharf_tests::blocking::until("they reach each other", || {
        let findings = found_by(&one);
        if findings.iter().all(|(.., is_well)| *is_well) { Ok(findings) } else { Err(format!("{findings:?}")) }
    });
    let what: Vec<_> = findings.iter().map(|(what, ..)| what.as_str()).collect();
    assert_eq!(what, ["cluster", "database", "clocks", "certificate", "secrets", "host", "host"]);
    let says: Vec<_> = findings.iter().map(|(_, says, _)| says.as_str()).collect();
    assert_eq!(says[0], "2 hosts are alive");
    assert!(says[1].contains("layout 6") && says[1].contains("connections are open"), "{says:?}");
    assert!(says[3].contains("for localhost:") && says[3].contains("more days"), "{says:?}");
    assert!(says[4].starts_with("1 of `secret_files`"), "{says:?}");
    assert!(says[5].starts_with("one (localhost:") && says[5].ends_with("reaches it"), "{says:?}");

    // What one that is stopped would see is held against nobody.
    two.stop(true);
    let findings = found_by(&one);
    let ill: Vec<_> = findings.iter().filter(|(.., is_well)| !is_well).collect();
    let [(_, says, _)] = ill.as_slice() else { panic!("{findings:?}") };
    assert!(says.starts_with("two (") && says.contains("not reached from here"), "{says}");
    two.stop(false);

    let expired = cluster.prepare("three", &cluster.authority, Holds::Before);
    let findings = found(&expired);
    let certificate = findings.iter().find(|(what, ..)| what == "certificate").expect("a finding");
    assert!(!certificate.2 && certificate.1.contains("expired"), "{certificate:?}");
    let alone = Data::new();
    alone.write("wharf.toml", "");
    let findings = found(&alone);
    assert!(matches!(findings.as_slice(), [(_, says, false)] if says.contains("no [cluster]")), "{findings:?}");
}
