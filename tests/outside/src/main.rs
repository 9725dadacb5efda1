//! Opens a host in the folder that it is given, and calls a bundled plugin.

use std::{env, error::Error, path::PathBuf, time::Duration};

use serde_json::json;
use wharf::{CallRequest, Configuration, Context, Host, TenantId};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let data = PathBuf::from(env::args_os().nth(1).ok_or("name a folder for the data")?);
    for name in wharf::bundled_names() {
        println!("bundled: {name}");
    }
    // One plugin is enough: each is compiled as the host opens.
    let others = ["browser", "content-store", "playbook", "terminal", "workspace"];
    let off: String = others.iter().map(|name| format!("[plugin.{name}]\nenabled = false\n")).collect();
    let host = Host::open(Configuration::parse(&off, &data)?, &data).await?;

    let context = Context::new(TenantId::local(), "outside".parse()?);
    let arguments = json!({"goal": "Build from a git dependency"}).as_object().cloned().unwrap_or_default();
    let answer = host.call(CallRequest::new(context, "planning__create_goal", arguments)).await?;
    println!("answer: {}", answer.content.first().and_then(|content| content.as_text()).unwrap_or_default());

    host.shut_down(Duration::from_secs(1)).await;
    Ok(())
}
