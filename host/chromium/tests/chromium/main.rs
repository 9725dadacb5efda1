//! Pages in a real Chromium: the suite that every backend passes, and what only
//! Chromium does, told to a stand-in for the core that only listens.

#![cfg(target_os = "linux")]

mod apart;
mod contract;
mod ends;
mod orders;
mod pages;
mod scripts;
mod support;
