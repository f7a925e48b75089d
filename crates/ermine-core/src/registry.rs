//! The registry of learners.
//!
//! Each family declares a list of learners; the crate `ermine` combines them. Code that needs a learner by name (the command line, reductions, model files) receives the registry, so
//! nothing in this crate depends on the families.

use crate::error::{Error, Result};
use crate::learner::{Learner, LearnerInfo};
use crate::memory;
use crate::model::file;
use crate::model::{Fitted, Header, Model};
use crate::section::Sections;
use std::path::Path;

/// A learner in the registry.
pub struct RegistryEntry {
    /// Creates the learner with default parameters.
    pub make: fn() -> Box<dyn Learner>,
    /// Loads and checks its sections of a model file.
    pub load: fn(&Sections, &Header) -> Result<Box<dyn Fitted>>,
}

impl RegistryEntry {
    /// Name and capabilities of the learner.
    pub fn info(&self) -> &'static LearnerInfo {
        (self.make)().info()
    }
}

/// The available learners, family by family.
#[derive(Clone, Copy)]
pub struct Registry {
    families: &'static [&'static [RegistryEntry]],
    base: Option<&'static Registry>,
}

impl Registry {
    /// A registry of these families.
    pub const fn new(families: &'static [&'static [RegistryEntry]]) -> Registry {
        Registry { families, base: None }
    }

    /// A registry with these families in addition to those of `base`; for custom learners.
    pub const fn extending(base: &'static Registry, families: &'static [&'static [RegistryEntry]]) -> Registry {
        Registry { families, base: Some(base) }
    }

    /// All learners, in display order.
    pub fn entries(self) -> impl Iterator<Item = &'static RegistryEntry> {
        let base = self.base.map_or(&[][..], |base| base.families);
        base.iter().chain(self.families).flat_map(|family| family.iter())
    }

    /// The entry of a learner.
    pub fn find(self, name: &str) -> Result<&'static RegistryEntry> {
        let found = self.entries().find(|entry| entry.info().name == name);
        found.ok_or_else(|| Error::unknown("learner", name, self.entries().map(|entry| entry.info().name)))
    }

    /// A learner with default parameters.
    pub fn learner(self, name: &str) -> Result<Box<dyn Learner>> {
        Ok((self.find(name)?.make)())
    }

    /// Loads a fitted model from its sections, given the name of its learner.
    pub fn load_part(self, name: &str, sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let unknown = |_| Error::model_file(format!("it contains a model of the unknown learner '{name}'"));
        (self.find(name).map_err(unknown)?.load)(sections, header)
    }

    /// Loads a model from the bytes of a model file.
    pub fn model_from_bytes(self, bytes: &[u8]) -> Result<Model> {
        let (header, sections) = file::from_bytes(bytes)?;
        let entry = self
            .find(&header.learner)
            .map_err(|_| Error::model_file(format!("its learner '{}' is unknown to this version", header.learner)))?;
        let fitted = (entry.load)(&sections, &header)?;
        Ok(Model::new(header, fitted, self))
    }

    /// Loads a model file.
    pub fn load_model(self, path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let bytes = memory::read_file(path)?;
        self.model_from_bytes(&bytes).map_err(|e| e.in_file(path))
    }
}

impl Model {
    /// Number of members of an ensemble, such as the trees of a forest; 0 for other models.
    pub fn n_members(&self) -> usize {
        self.own().n_parts()
    }

    /// A member of an ensemble, as a model.
    pub fn member(&self, member: usize) -> Result<Model> {
        let n = self.n_members();
        if member >= n && n > 0 {
            return Err(Error::data(format!("member index {member} is out of range (the model has {n} members)")));
        }
        let (mut header, sections) = self.own().part(member, self.header())?;
        let entry = self.registry().find(&header.learner)?;
        let mut learner = (entry.make)();
        // Parameters of the ensemble that its members don't have are ignored.
        header.params.iter().for_each(|(name, value)| drop(learner.set(name, value)));
        header.params = learner.values().into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        header.notes.clear();
        let fitted = (entry.load)(&sections, &header)?;
        Ok(Model::new(header, fitted, self.registry()))
    }
}
