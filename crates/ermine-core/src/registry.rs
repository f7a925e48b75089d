//! The learners that a program knows.
//!
//! Each family of methods declares its learners in a list of entries; the crate `ermine` puts the lists together. Whatever needs a learner by its name (the
//! command line, reductions, the reader of model files) is handed the registry, so that nothing here depends on the families.

use crate::error::{Error, Result};
use crate::learner::{Info, Learner};
use crate::memory;
use crate::model::file;
use crate::model::{Fitted, Header, Model};
use crate::section::Sections;
use std::path::Path;

/// A learner in the registry.
pub struct Entry {
    /// Makes the learner with its default parameters.
    pub make: fn() -> Box<dyn Learner>,
    /// Reads its part of a model file, checking it.
    pub load: fn(&Sections, &Header) -> Result<Box<dyn Fitted>>,
}

impl Entry {
    /// Its name and what it can do.
    pub fn info(&self) -> &'static Info {
        (self.make)().info()
    }
}

/// The learners that a program knows, family by family.
#[derive(Clone, Copy)]
pub struct Registry {
    families: &'static [&'static [Entry]],
    base: Option<&'static Registry>,
}

impl Registry {
    /// A registry of these families.
    pub const fn new(families: &'static [&'static [Entry]]) -> Registry {
        Registry { families, base: None }
    }

    /// A registry with these families beside the ones of `base`: how a program adds learners of its own.
    pub const fn extending(base: &'static Registry, families: &'static [&'static [Entry]]) -> Registry {
        Registry { families, base: Some(base) }
    }

    /// All learners, in the order in which users see them.
    pub fn entries(self) -> impl Iterator<Item = &'static Entry> {
        let base = self.base.map_or(&[][..], |base| base.families);
        base.iter().chain(self.families).flat_map(|family| family.iter())
    }

    /// The entry of a learner.
    pub fn find(self, name: &str) -> Result<&'static Entry> {
        let found = self.entries().find(|entry| entry.info().name == name);
        found.ok_or_else(|| Error::unknown("learner", name, self.entries().map(|entry| entry.info().name)))
    }

    /// A learner with its default parameters.
    pub fn learner(self, name: &str) -> Result<Box<dyn Learner>> {
        Ok((self.find(name)?.make)())
    }

    /// Reads the part of a model that belongs to the learner of this name.
    pub fn load_part(self, name: &str, sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let unknown = |_| Error::model_file(format!("a part was made by an unknown learner '{name}'"));
        (self.find(name).map_err(unknown)?.load)(sections, header)
    }

    /// Reads a model from the bytes of a model file.
    pub fn model_from_bytes(self, bytes: &[u8]) -> Result<Model> {
        let (header, sections) = file::from_bytes(bytes)?;
        let entry = self.find(&header.learner).map_err(|_| {
            Error::model_file(format!("it was made by a learner '{}' that is not known here", header.learner))
        })?;
        let fitted = (entry.load)(&sections, &header)?;
        Ok(Model::new(header, fitted, self))
    }

    /// Reads a model file.
    pub fn load_model(self, path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let bytes = memory::read_file(path)?;
        self.model_from_bytes(&bytes).map_err(|e| e.in_file(path))
    }
}

impl Model {
    /// How many models it is made of: the trees of a forest, the members of a committee. 0 where it isn't made of models.
    pub fn n_members(&self) -> usize {
        self.own().n_parts()
    }

    /// One of the models that it is made of, as a model of its own.
    pub fn member(&self, member: usize) -> Result<Model> {
        let n = self.n_members();
        if member >= n && n > 0 {
            return Err(Error::data(format!("member index {member} is out of range (the model has {n} members)")));
        }
        let (mut header, sections) = self.own().part(member, self.header())?;
        let entry = self.registry().find(&header.learner)?;
        let mut learner = (entry.make)();
        // Parameters of the whole that its parts don't have, or have in another form, are passed over.
        header.params.iter().for_each(|(name, value)| drop(learner.set(name, value)));
        header.params = learner.values().into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        header.notes.clear();
        let fitted = (entry.load)(&sections, &header)?;
        Ok(Model::new(header, fitted, self.registry()))
    }
}
