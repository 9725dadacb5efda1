//! What is loaded as a plugin and is none, or none that may run.
