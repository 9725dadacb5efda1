//! Opens the state on a PostgreSQL server, where `[state]` names one.

use wharf_postgres::{ConnectionOptions, PostgresInventory, PostgresOptions, PostgresStore};
use wharf_state::InventoryError;

use crate::{Configuration, OpenError, configuration::StateSettings};

pub(crate) fn connection_options(settings: &StateSettings) -> ConnectionOptions {
    let mut options = ConnectionOptions { authorities: settings.database_authorities.clone(), ..Default::default() };
    if let Some(connections) = settings.database_connections {
        options.connections = connections;
    }
    options
}

/// The store on the server; nothing where none is configured.
pub(crate) async fn open_store(configuration: &Configuration) -> Result<Option<PostgresStore>, OpenError> {
    let Some(connection) = configuration.state.connection()? else { return Ok(None) };
    let options = PostgresOptions {
        ceilings: (&configuration.host_limits).into(),
        connection: connection_options(&configuration.state),
        clock: None,
    };
    Ok(Some(PostgresStore::open(&connection, options).await?))
}

/// The inventory on the server; nothing where none is configured.
pub(crate) fn open_inventory(configuration: &Configuration) -> Result<Option<PostgresInventory>, InventoryError> {
    let settings = &configuration.state;
    let Some(connection) = settings.connection().map_err(|error| InventoryError::Server(Box::new(error)))? else {
        return Ok(None);
    };
    PostgresInventory::open(&connection, &connection_options(settings)).map(Some)
}
