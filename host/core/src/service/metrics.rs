//! What a host says of itself in numbers.

/// Says how the host is doing, for monitoring.
pub trait MetricsService: Send + Sync + 'static {
    /// The metrics of this moment, as OpenMetrics text. Takes about as long as
    /// a short call, and names neither tenants nor sessions.
    fn metrics(&self) -> String;
}
