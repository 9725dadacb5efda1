//! What traces cost a call: a host that keeps the spans of every call and one that
//! keeps those of none, beside one that does not trace, in one process and in turns.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
};

use anyhow::Result;
use wharf::Host;

use crate::{
    Setting,
    engine::{echo_p50, open_host, runtime},
    report::{Report, median},
};

const ROUNDS: usize = 15;

pub(crate) fn overhead(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, collector) = (runtime(2)?, collector()?);
    let data = [setting.data()?, setting.data()?, setting.data()?];
    let open = |data: &tempfile::TempDir, lines: &str| open_host(&runtime, &setting.echo_component, data.path(), lines);
    let traces = |ratio| format!("[traces]\nendpoint = \"http://{collector}/v1/traces\"\nratio = {ratio}");
    let hosts = [open(&data[0], "")?, open(&data[1], &traces(0))?, open(&data[2], &traces(1))?];
    let calls = setting.calls(3_000);
    let measure = |host: &Host| echo_p50(&runtime, host, calls);
    let mut times = [const { Vec::new() }; 3];
    for round in 0..=setting.rounds(ROUNDS) {
        for (host, times) in hosts.iter().zip(&mut times) {
            let time = measure(host)?;
            // The first round warms up.
            if round > 0 {
                times.push(time);
            }
        }
    }
    let [off, none, all] = times;
    let ratio = |of: &[f64]| median(of.iter().zip(&off).map(|(one, other)| one / other).collect());
    let told = |what: &str, of: &[f64]| {
        format!("a call {what} p50 {:.1} us, untraced {:.1} us", median(of.to_vec()), median(off.clone()))
    };
    report.note("traces_overhead", ratio(&all), &told("whose spans are kept", &all));
    report.note("traces_overhead_not_kept", ratio(&none), &told("whose spans are not", &none));
    Ok(())
}

/// Takes whatever comes, and answers that all is well.
fn collector() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            thread::spawn(move || take(connection));
        }
    });
    Ok(address)
}

fn take(mut connection: TcpStream) -> Option<()> {
    loop {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            connection.read_exact(&mut byte).ok()?;
            head.push(byte[0].to_ascii_lowercase());
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
        std::io::copy(&mut (&mut connection).take(length), &mut std::io::sink()).ok()?;
        connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
    }
}
