//! Scripted programs: this program in their place, told which script to play.

use std::{collections::HashMap, env, fs, io, path::Path, sync::Arc};

use anyhow::{Context as _, Result};
use tempfile::TempDir;
use wharf::{
    Error,
    stand_in::{StandIn, StandIns},
};

use super::{
    player::PLAY,
    script::ProgramScript,
    stage::{Cue, ScriptPlace, Stage},
};

/// The name of a script in its folder.
const SCRIPT: &str = "script.json";

/// The programs that are scripted, as files for those who play them.
#[derive(Debug)]
pub(super) struct ScriptedPrograms {
    stage: Arc<Stage>,
    players: HashMap<ScriptPlace, StandIn>,
    /// Lives as long as they do.
    _folder: TempDir,
}

impl ScriptedPrograms {
    /// Writes the scripts to a folder that programs can read.
    pub(super) fn write(stage: Arc<Stage>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("wharf-test-").tempdir().context("cannot make a folder")?;
        // A host that is root has programs run as another user.
        open_to_all(folder.path())?;
        let player = env::current_exe().context("cannot find this program")?.canonicalize()?;
        let mut players = HashMap::new();
        for (place, script) in stage.programs() {
            let own = folder.path().join(format!("{}-{}", place.whose, place.number));
            let stand_in = write(&own, script, &player)
                .with_context(|| format!("cannot write the script of `{}`", script.name))?;
            players.insert(place, stand_in);
        }
        Ok(Self { stage, players, _folder: folder })
    }
}

impl StandIns for ScriptedPrograms {
    fn stand_in(&self, program: &str, arguments: &[String]) -> Result<Option<StandIn>, Error> {
        match self.stage.program(program, arguments)? {
            Cue::Scripted(place) => Ok(self.players.get(&place).cloned()),
            Cue::Real => Ok(None),
        }
    }
}

/// One script, and this program under the name of the other: terminals know programs by theirs.
fn write(folder: &Path, script: &ProgramScript, player: &Path) -> Result<StandIn> {
    let programs = folder.join("bin");
    fs::create_dir_all(&programs)?;
    open_to_all(folder)?;
    open_to_all(&programs)?;
    let file = folder.join(SCRIPT);
    fs::write(&file, serde_json::to_vec(script)?)?;
    let name = Path::new(&script.name).file_name().unwrap_or(script.name.as_ref());
    let mut program = programs.join(name);
    if !env::consts::EXE_EXTENSION.is_empty() {
        program.set_extension(env::consts::EXE_EXTENSION);
    }
    link(player, &program)?;
    let readable = vec![folder.to_owned(), player.to_owned()];
    Ok(StandIn { program, arguments: vec![PLAY.into(), file.into()], readable })
}

#[cfg(unix)]
fn link(program: &Path, name: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(program, name)
}

/// Links to files need rights there that few have.
#[cfg(not(unix))]
fn link(program: &Path, name: &Path) -> io::Result<()> {
    fs::hard_link(program, name).or_else(|_| fs::copy(program, name).map(|_| ()))
}

#[cfg(unix)]
fn open_to_all(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn open_to_all(_folder: &Path) -> io::Result<()> {
    Ok(())
}
