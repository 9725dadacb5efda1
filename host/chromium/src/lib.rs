//! Pages in a Chromium that the host runs itself, driven by the DevTools protocol over
//! a pair of pipes.
//!
//! One browser serves all pages of a host, or all of a tenant; it runs in its own sandbox, reaches
//! no file of the host where Landlock is there, and runs as a user of its own where the host is
//! root. Each page is a browser context with cookies,
//! storage and cache of its own, and with a proxy as its only way out. Linux only;
//! elsewhere this crate is empty. It never knows owners, grants, ids that callers
//! see, or deadlines: `wharf-webview` has decided all of that before it asks.
//!
//! From the bottom: `connection` speaks the protocol, `routes` leads events to pages,
//! `browser` is one run of the program, `keeper` decides when there is one, and `browsers` has
//! the keepers of all tenants. `page`
//! is what is known of a page; `setup` opens it, `scripts` and `orders` do what is
//! asked of it, `events` takes what the browser says of it. `backend` is the way in.

#![cfg(target_os = "linux")]

mod backend;
mod browser;
mod browsers;
mod connection;
mod enclosure;
mod error;
mod events;
mod find;
mod flags;
mod history;
mod keeper;
mod keys;
mod lifetime;
mod message;
mod orders;
mod page;
mod profile;
mod refusals;
mod routes;
mod scripts;
mod settings;
mod setup;

pub use backend::{Chromium, InstalledChromium};
pub use error::ChromiumError;
pub use profile::Staging;
pub use settings::{BROWSER_USER, ChromiumSettings};
