//! What a host says of itself.

/// Says how the host is doing, for monitoring and for balancers.
pub trait MetricsService: Send + Sync + 'static {
    /// The metrics of this moment, as OpenMetrics text. Takes about as long as
    /// a short call, and names neither tenants nor sessions.
    fn metrics(&self) -> String;

    /// Whether a balancer should send requests here.
    fn is_ready(&self) -> bool {
        true
    }
}
