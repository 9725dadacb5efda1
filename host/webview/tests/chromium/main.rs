//! Pages in a real Chromium, with a stand-in for the core that only listens.

#![cfg(target_os = "linux")]

mod ends;
mod orders;
mod pages;
mod scripts;
mod support;
