//! What a path that a model or a person wrote names below a [`Directory`].
//!
//! The host is the wall: it refuses whatever leads out. What is here says so
//! before the host is asked, in words that help, and knows symbolic links: one
//! that stays inside is followed, one that leads out is named. A file system
//! that changes meanwhile is the host's affair.

use std::collections::VecDeque;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::PathBuf;

use super::directory::Directory;
use crate::ToolError;

/// Bytes of a path, and of one part of it, as systems have them.
const PATH_BYTES: usize = 4_096;
const NAME_BYTES: usize = 255;

/// Symbolic links on the way to one file.
const LINKS: usize = 40;

/// What a path names, whether it is there or not.
#[derive(Debug, Clone)]
pub struct ResolvedPath {
    /// For `std::fs`, without a symbolic link in it.
    pub path: PathBuf,
    /// The same relative to the directory; `.` for itself.
    pub relative: String,
    /// The metadata of the file, if there is one.
    pub metadata: Option<Metadata>,
}

impl ResolvedPath {
    /// What is known of the regular file that is meant.
    ///
    /// # Errors
    /// `not-found` where nothing is there; `invalid` where it is something
    /// else, which is named.
    pub fn file(&self) -> Result<&Metadata, ToolError> {
        match self.there()? {
            metadata if metadata.is_file() => Ok(metadata),
            metadata if metadata.is_dir() => {
                Err(ToolError::invalid(format!("`{}` is a directory, not a file", self.relative)))
            }
            _ => Err(self.special()),
        }
    }

    /// What is known of the directory that is meant.
    ///
    /// # Errors
    /// `not-found` where nothing is there; `invalid` where it is something
    /// else, which is named.
    pub fn directory(&self) -> Result<&Metadata, ToolError> {
        match self.there()? {
            metadata if metadata.is_dir() => Ok(metadata),
            metadata if metadata.is_file() => {
                Err(ToolError::invalid(format!("`{}` is a file, not a directory", self.relative)))
            }
            _ => Err(self.special()),
        }
    }

    fn there(&self) -> Result<&Metadata, ToolError> {
        self.metadata.as_ref().ok_or_else(|| ToolError::not_found(format!("there is no `{}`", self.relative)))
    }

    fn special(&self) -> ToolError {
        ToolError::invalid(format!(
            "`{}` is a pipe, a socket or a device; only regular files and directories can be used",
            self.relative
        ))
    }
}

impl Directory {
    /// The parts of a path below this directory, without asking the file
    /// system: relative ones, and absolute ones below [`Directory::path`] or
    /// [`Directory::shown`]. `..` takes the part before it away.
    ///
    /// # Errors
    /// `invalid` for any other path, with what is accepted.
    pub fn parts(&self, path: &str) -> Result<Vec<String>, ToolError> {
        if path.is_empty() {
            return Err(ToolError::invalid(format!("the path is empty; {}", self.accepted())));
        }
        if path.len() > PATH_BYTES || path.contains('\0') {
            return Err(ToolError::invalid(format!("a path has at most {PATH_BYTES} bytes and no zero bytes")));
        }
        let below = match path.strip_prefix('/') {
            Some(_) => self.below(path).ok_or_else(|| self.outside(path))?,
            None => path,
        };
        let mut parts: Vec<String> = Vec::new();
        for part in below.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop().ok_or_else(|| self.outside(path))?),
                part if part.len() > NAME_BYTES => {
                    return Err(ToolError::invalid(format!("a name in the path has more than {NAME_BYTES} bytes")));
                }
                part => parts.push(part.to_owned()),
            }
        }
        Ok(parts)
    }

    /// What a path names, symbolic links followed as long as they stay inside.
    ///
    /// # Errors
    /// As [`Directory::parts`]; `invalid` where a link leads out or round in a
    /// circle, or a part on the way is no directory.
    pub fn find(&self, path: &str) -> Result<ResolvedPath, ToolError> {
        let mut pending: VecDeque<String> = self.parts(path)?.into();
        let mut walk = PathWalk { directory: self, parts: Vec::new(), metadata: None, links: 0 };
        if self.exists {
            walk.metadata = look(&self.path, ".")?;
        }
        while let Some(part) = pending.pop_front() {
            walk.step(&part, path, &mut pending)?;
        }
        let relative = written(&walk.parts);
        Ok(ResolvedPath { path: self.at(&walk.parts), relative, metadata: walk.metadata })
    }

    fn at(&self, parts: &[String]) -> PathBuf {
        let mut path = self.path.clone();
        path.extend(parts);
        path
    }

    /// The rest of an absolute path below this directory.
    fn below<'path>(&self, path: &'path str) -> Option<&'path str> {
        [self.shown.as_str(), self.path.to_str().unwrap_or_default()].into_iter().find_map(|root| {
            let root = root.trim_end_matches('/');
            let rest = path.strip_prefix(root).filter(|_| !root.is_empty())?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        })
    }

    fn outside(&self, path: &str) -> ToolError {
        ToolError::invalid(format!("`{path}` leads out of what can be used; {}", self.accepted()))
    }

    fn accepted(&self) -> String {
        format!("give a path relative to `{}`, such as `src/main.rs`, or an absolute one below it", self.shown)
    }
}

/// A path on its way through the file system.
struct PathWalk<'a> {
    directory: &'a Directory,
    parts: Vec<String>,
    /// The metadata of the file at `parts`, if there is one.
    metadata: Option<Metadata>,
    links: usize,
}

impl PathWalk<'_> {
    fn step(&mut self, part: &str, asked: &str, pending: &mut VecDeque<String>) -> Result<(), ToolError> {
        if part == ".." {
            self.parts.pop().ok_or_else(|| self.directory.outside(asked))?;
            self.metadata = look(&self.directory.at(&self.parts), asked)?;
            return Ok(());
        }
        let before = self.metadata.take();
        self.parts.push(part.to_owned());
        match before {
            // Nothing is below what is not there.
            None => return Ok(()),
            Some(metadata) if !metadata.is_dir() => {
                self.parts.pop();
                let parent = written(&self.parts);
                return Err(ToolError::invalid(format!("`{asked}` cannot be: `{parent}` is no directory")));
            }
            Some(_) => {}
        }
        let path = self.directory.at(&self.parts);
        match look(&path, asked)? {
            Some(metadata) if metadata.is_symlink() => {
                let name = written(&self.parts);
                self.links += 1;
                if self.links > LINKS {
                    return Err(ToolError::invalid(format!("`{name}` is a symbolic link that leads in circles")));
                }
                let target = fs::read_link(&path).ok();
                let target = target.as_ref().and_then(|target| target.to_str()).ok_or_else(|| leads_out(&name))?;
                self.parts.pop();
                let rest = match target.strip_prefix('/') {
                    Some(_) => {
                        self.parts.clear();
                        self.directory.below(target).ok_or_else(|| leads_out(&name))?
                    }
                    None => target,
                };
                for part in rest.split('/').rev().filter(|part| !matches!(*part, "" | ".")) {
                    pending.push_front(part.to_owned());
                }
                self.metadata = look(&self.directory.at(&self.parts), asked)?;
                // A link that climbs out is named as such.
                if climbs_out(self.parts.len(), pending) {
                    return Err(leads_out(&name));
                }
            }
            found => self.metadata = found,
        }
        Ok(())
    }
}

fn climbs_out(depth: usize, pending: &VecDeque<String>) -> bool {
    let mut depth = depth;
    for part in pending {
        if part != ".." {
            depth += 1;
        } else if depth == 0 {
            return true;
        } else {
            depth -= 1;
        }
    }
    false
}

fn leads_out(name: &str) -> ToolError {
    ToolError::invalid(format!(
        "`{name}` is a symbolic link that leads out, or is absolute; only relative links that stay inside are followed"
    ))
}

/// The metadata of the file, or of the link itself where it is one.
fn look(path: &std::path::Path, asked: &str) -> Result<Option<Metadata>, ToolError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ToolError::from_file("be looked at", asked, &error)),
    }
}

fn written(parts: &[String]) -> String {
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}
