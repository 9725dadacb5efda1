//! An app with a window of its own, which lends its WebViews to the host.
//!
//! The host is on threads of its own; here only its pages are used, as a plugin's
//! calls use them. A real app hands the backend to its host instead.

use std::{sync::Arc, time::Duration};

use gtk::prelude::*;
use wharf_core::{Context, Grants, SessionId, TenantId, WebViewGrant};
use wharf_webview::{OpenPageRequest, Script, Settings, WebViews};
use wharf_wry::WryBackend;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    gtk::init()?;
    let window = gtk::Window::new(gtk::WindowType::Toplevel);
    window.set_title("An app");
    let said = gtk::Label::new(Some("The host is at work."));
    window.add(&said);
    window.connect_delete_event(|_, _| {
        gtk::main_quit();
        gtk::glib::Propagation::Proceed
    });
    window.show_all();

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (tell, told) = tokio::sync::oneshot::channel();
    runtime.spawn(async move { tell.send(host().await.unwrap_or_else(|error| error.to_string())) });
    gtk::glib::MainContext::default().spawn_local(async move {
        said.set_text(&told.await.unwrap_or_default());
        println!("{}", said.text());
        gtk::main_quit();
    });
    gtk::main();
    Ok(())
}

async fn host() -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let pages = WebViews::new(Arc::new(WryBackend::new()), Settings::default());
    let grants = Grants { webview: Some(WebViewGrant::with_reason("an example")), ..Grants::default() };
    let plugin = "browser".parse()?;
    let granted = grants.webview(&plugin)?;
    let session: SessionId = "example".parse()?;
    let context = Context::new(TenantId::local(), session);
    let owner = granted.owner(&context);
    let page = pages.open(&granted, &context, None, OpenPageRequest::default())?;
    let request = pages.execute(&owner, page.id, Script::new("navigator.userAgent"))?;
    let outcome = pages.wait(&owner, request, Duration::from_secs(10)).await;
    pages.shut_down(Duration::from_secs(10)).await;
    Ok(format!("A script in a page of this app came to {}", String::from_utf8_lossy(&outcome.data)))
}
