//! Builds without the feature `postgres`: the doctor has no cluster to look at.

use wharf::Configuration;

use super::finding::Finding;
use crate::cluster_shelf::NO_CLUSTER;

/// Says so.
#[expect(clippy::unused_async, reason = "as builds with clusters have it")]
pub(super) async fn cluster(_: &Configuration) -> Vec<Finding> {
    vec![Finding::ill("cluster", NO_CLUSTER, "use a build that has clusters, or leave `--cluster` out")]
}
