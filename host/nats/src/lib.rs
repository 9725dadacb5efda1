//! NATS as the bus on which the hosts of a cluster tell each other of changes.
//!
//! Hints alone go over it: what is lost there is noticed by the count in the database. A host
//! starts and serves whether or not a server of NATS answers. This crate alone knows NATS.

mod settings;

pub use settings::{NatsLogin, NatsServer, NatsServerError, NatsSettings, NatsSettingsError, NatsTls};

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_nats::{Client, ConnectOptions, Event, Subscriber, connection::State};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::Mutex;
use wharf_cell::NoticeBus;

/// Batches that wait to be read. Where more come, some are lost, which the receiver notices.
const WAITING: usize = 64;
/// What waits to be written: a bus that takes nothing is passed by.
const WRITING: usize = 64;
/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(5);
/// From one sign of life to the next.
const PING: Duration = Duration::from_secs(10);
/// How often it is looked whether a server answers.
const LOOK: Duration = Duration::from_millis(20);
/// The longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// A connection to NATS, which comes back by itself.
#[derive(Debug)]
pub struct NatsBus {
    client: Client,
    subject: String,
    heard: Mutex<Subscriber>,
}

/// Why there is no bus.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsError {
    /// The settings cannot be used.
    #[error("the settings of NATS cannot be used")]
    Settings(#[from] NatsSettingsError),
    /// The client refuses to start.
    #[error("the client of NATS cannot start")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl NatsBus {
    /// Begins to connect, and goes on until it has: no answer is waited for. `cell` is the name
    /// of the cluster.
    ///
    /// # Errors
    /// See [`NatsError`]. A server that does not answer is none.
    pub async fn open(cell: &str, settings: &NatsSettings) -> Result<Self, NatsError> {
        let subject = format!("wharf.{cell}.notices");
        let client = options(settings)?.connect(settings.addresses()).await;
        let client = client.map_err(|error| NatsError::Client(Box::new(error)))?;
        let heard = client.subscribe(subject.clone()).await;
        let heard = heard.map_err(|error| NatsError::Client(Box::new(error)))?;
        Ok(Self { client, subject, heard: Mutex::new(heard) })
    }

    /// Whether a server answers now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Waits for a server that answers, for so long. Whether one does.
    pub async fn connects(&self, patience: Duration) -> bool {
        let asking = async {
            while !self.is_connected() || self.client.flush().await.is_err() {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::time::timeout(patience, asking).await.is_ok()
    }
}

fn options(settings: &NatsSettings) -> Result<ConnectOptions, NatsSettingsError> {
    let mut options = ConnectOptions::new()
        .name("wharf")
        .retry_on_initial_connect()
        .no_echo()
        .connection_timeout(CONNECTING)
        .ping_interval(PING)
        .subscription_capacity(WAITING)
        .client_capacity(WRITING)
        // A server that somebody names in passing is not one that the operator has named.
        .ignore_discovered_servers()
        .reconnect_delay_callback(|attempts| {
            let exponent = u32::try_from(attempts).unwrap_or(u32::MAX).min(6);
            LONGEST_PAUSE.min(Duration::from_millis(100 * 2_u64.pow(exponent)))
        });
    options = match &settings.login {
        NatsLogin::None => options,
        NatsLogin::Token(token) => options.token(token.to_string()),
        NatsLogin::Password { user, password } => options.user_and_password(user.clone(), password.to_string()),
        NatsLogin::Credentials(text) => options.credentials(text).map_err(|_| NatsSettingsError::Credentials)?,
    };
    if settings.is_encrypted() {
        options = options.require_tls(true).tls_client_config(settings.tls.configuration()?);
    }
    let is_lost = AtomicBool::new(false);
    Ok(options.event_callback(move |event| {
        log(&event, &is_lost);
        std::future::ready(())
    }))
}

/// Says once that the bus is lost, and once that it is back.
fn log(event: &Event, is_lost: &AtomicBool) {
    match event {
        Event::Connected => {
            is_lost.store(false, Ordering::Relaxed);
            tracing::info!(target: "wharf::cell", "NATS carries the notices of the cluster");
        }
        Event::Disconnected | Event::ClientError(_) | Event::ServerError(_) => {
            if !is_lost.swap(true, Ordering::Relaxed) {
                tracing::warn!(target: "wharf::cell", %event, "NATS does not answer; notices go from host to host meanwhile");
            }
        }
        _ => tracing::debug!(target: "wharf::cell", %event, "NATS"),
    }
}

#[async_trait]
impl NoticeBus for NatsBus {
    async fn publish(&self, batch: Bytes) -> bool {
        self.is_connected() && self.client.publish(self.subject.clone(), batch).await.is_ok()
    }

    async fn next(&self) -> Option<Bytes> {
        self.heard.lock().await.next().await.map(|message| message.payload)
    }

    async fn flush(&self) {
        let _ = tokio::time::timeout(CONNECTING, self.client.flush()).await;
    }
}
