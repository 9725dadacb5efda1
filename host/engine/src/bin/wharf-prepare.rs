//! `wharf-prepare NAME COMPONENT OUTPUT`: compiles a bundled plugin and asks it for what it
//! lists, for a program that is then built with the result. `cargo xtask plugins` runs it.

use std::{env, error::Error, fs, io::BufWriter, sync::Arc};

use wharf_engine::{Backends, Component, Engine, EngineConfig};
use wharf_state::MemoryStore;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [name, component, output] = arguments.as_slice() else {
        return Err("usage: wharf-prepare NAME COMPONENT OUTPUT".into());
    };
    let component = Component::new(fs::read(component)?);
    let digest = component.digest();
    let engine = Engine::new(EngineConfig::default(), Backends::with_state(Arc::new(MemoryStore::default())));
    let prepared = engine.prepare_ahead(name.parse()?, component)?;
    // Whole or not at all: a build may look at the folder.
    let unfinished = format!("{output}.partial");
    prepared.write(digest, BufWriter::new(fs::File::create(&unfinished)?))?;
    fs::rename(&unfinished, output)?;
    Ok(())
}
