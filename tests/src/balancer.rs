//! Balancers in front of hosts: Debian's HAProxy and nginx with the files of `deploy/`, in which
//! only addresses are other ones.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use wharf_test_support::{free_address, unpacked::DebianProgram};

use crate::{Data, artifacts::target, blocking};

/// What the files of `deploy/` call the hosts.
const HOSTS: [&str; 3] = ["wharf-0:8088", "wharf-1:8088", "wharf-2:8088"];

/// A balancer. It ends with the test.
#[derive(Debug)]
pub struct Balancer {
    /// Where clients reach it.
    pub address: SocketAddr,
    running: Vec<Child>,
    files: Data,
}

/// What HAProxy says there of hosts that it leaves, and takes again.
const LOG: &str = "log";

impl Balancer {
    /// HAProxy in front of three hosts; nothing where it is not there, which says so.
    ///
    /// # Panics
    /// Where it does not take its configuration.
    #[must_use]
    pub fn haproxy(hosts: [SocketAddr; 3]) -> Option<Self> {
        let program = DebianProgram::find("haproxy", &target())?;
        let (files, address) = (Data::alone(), free_address());
        let text = deployed("haproxy/haproxy.cfg").replace("bind :8080", &format!("bind {address}"));
        let configuration = files.write("haproxy.cfg", at(hosts, text));
        checked(program.command().args(["-c", "-f"]).arg(&configuration));
        let mut serve = program.command();
        serve.args(["-db", "-f"]).arg(&configuration).stdout(fs::File::create(files.path().join(LOG)).expect("a log"));
        let running = vec![spawned(&mut serve)];
        Some(Self { address, running, files })
    }

    /// nginx in front of three hosts, with the script that tells it which of them are ready.
    ///
    /// # Panics
    /// As for HAProxy.
    #[must_use]
    pub fn nginx(hosts: [SocketAddr; 3]) -> Option<Self> {
        let program = DebianProgram::find("nginx", &target())?;
        let (files, address) = (Data::alone(), free_address());
        let place = |name: &str| files.path().join(name).display().to_string();
        // Where the package has the folders of its own.
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|what| format!("    {what}_temp_path {};\n", place(what)))
            .collect();
        let text = deployed("nginx/nginx.conf")
            .replace("listen 8080", &format!("listen {address}"))
            .replace("/etc/nginx/wharf/hosts.conf", &place("hosts.conf"))
            .replace("/run/nginx.pid", &place("nginx.pid"))
            .replace("http {\n", &format!("http {{\n{temporary}"));
        let configuration = files.write("nginx.conf", at(hosts, text));
        let ready = || {
            let mut ready = Command::new(deploy().join("nginx/ready"));
            ready.env("RELOAD", format!("kill -HUP $(cat {})", place("nginx.pid")));
            ready
        };
        let of_hosts = hosts.map(|host| host.to_string());
        checked(ready().arg("--once").arg(place("hosts.conf")).args(&of_hosts));
        let nginx = || {
            let mut nginx = program.command();
            nginx.args(["-e", "stderr", "-p"]).arg(files.path()).arg("-c").arg(&configuration);
            nginx
        };
        checked(nginx().arg("-t"));
        let mut running = vec![spawned(nginx().args(["-g", "daemon off;"]).stdout(Stdio::null()))];
        running.push(spawned(ready().arg(place("hosts.conf")).args(&of_hosts).stdout(Stdio::null())));
        Some(Self { address, running, files })
    }

    /// Waits until HAProxy sends nothing more to one of its hosts, or sends it something again.
    ///
    /// # Panics
    /// Where it does not.
    pub fn until_sends_to(&self, host: usize, sends: bool) {
        let mark = format!("Server calls/wharf-{host} is ");
        blocking::until(format_args!("{mark}{}", if sends { "UP" } else { "DOWN" }), || {
            let log = fs::read_to_string(self.files.path().join(LOG)).expect("a log");
            // It sends something to all of them at first.
            let last = log.rsplit_once(&mark).map_or("UP", |(_, last)| last);
            let last = last.split([' ', ',', '.', '/', '\n']).next().unwrap_or_default();
            if (last == "UP") == sends { Ok(()) } else { Err(last.to_owned()) }
        });
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        for child in self.running.iter_mut().rev() {
            if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
                // nginx ends its workers then.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
            let _ = child.wait();
        }
    }
}

/// The folder `deploy/`.
fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

/// The text of a file of `deploy/`.
///
/// # Panics
/// Where there is no such file.
#[must_use]
pub fn deployed(name: &str) -> String {
    fs::read_to_string(deploy().join(name)).expect("a file of deploy/")
}

/// With the addresses of these hosts.
fn at(hosts: [SocketAddr; 3], text: String) -> String {
    HOSTS.iter().zip(hosts).fold(text, |text, (name, host)| text.replace(name, &host.to_string()))
}

#[track_caller]
fn checked(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn spawned(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs")
}
