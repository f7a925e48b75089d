//! The model file format: a JSON header, then arrays.
//!
//! ```text
//! 8 bytes    "ERMINE" 0x1a '\n'                (a text editor or `type` stops at 0x1a; a CRLF translation breaks the last byte)
//! 4 bytes    format version
//! 8 bytes    length of the JSON header
//! ...        JSON: {"model": learner, parameters, schema, certificate; "sections": [name, type, count]}
//! ...        the sections, one after the other, each padded to 8 bytes
//! 4 bytes    CRC-32 of everything before
//! ```
//! All numbers are little-endian. A file contains no code, and nothing in it is executed.
//!
//! **Untrusted files.** The checksum catches accidental damage; apart from that, nothing in a file is trusted. Sections are contiguous, so allocations never exceed the size of the file;
//! the JSON reader limits nesting; each learner validates its arrays before it uses them.
//!
//! **Versions.** Until release 1.0 the format may change; files of other versions are rejected with a clear message.

use super::{Header, Model};
use crate::atomic::write_atomically;
use crate::error::{Error, Result};
use crate::section::{SectionSpec, Sections};
use serde::{Deserialize, Serialize};
use std::path::Path;

const MAGIC: &[u8; 8] = b"ERMINE\x1a\n";

/// The format version that this program reads and writes.
pub const FORMAT_VERSION: u32 = 1;

/// Magic, version, length of the header.
const PREFIX: usize = 8 + 4 + 8;

#[derive(Serialize, Deserialize)]
struct FileHeader {
    model: Header,
    sections: Vec<SectionSpec>,
}

/// Serializes a model file.
pub(crate) fn to_bytes(header: &Header, sections: &Sections) -> Result<Vec<u8>> {
    let file_header = FileHeader { model: header.clone(), sections: sections.specs() };
    let json = serde_json::to_vec(&file_header).map_err(|e| Error::model_file(e.to_string()))?;
    let mut bytes = Vec::with_capacity(PREFIX + json.len() + sections.n_bytes() + 4);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(json.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&json);
    sections.append_to(&mut bytes);
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// Parses and checks a model file.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<(Header, Sections)> {
    if !bytes.starts_with(MAGIC) {
        return Err(Error::model_file("it is not an Ermine model file"));
    }
    let too_short = || Error::model_file("it is truncated");
    let version = bytes.get(8..12).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes).ok_or_else(too_short)?;
    if version != FORMAT_VERSION {
        return Err(Error::model_file(format!(
            "it has format version {version}, but this program reads version {FORMAT_VERSION}; train the model again, or use the release that wrote it"
        )));
    }
    if bytes.len() < PREFIX + 4 {
        return Err(too_short());
    }
    let (body, checksum) = bytes.split_at(bytes.len() - 4);
    if crc32fast::hash(body).to_le_bytes() != checksum {
        return Err(Error::model_file("the checksum doesn't match: it is damaged or truncated"));
    }
    let length = u64::from_le_bytes(body[12..PREFIX].try_into().unwrap_or_default());
    let end = usize::try_from(length).ok().and_then(|n| n.checked_add(PREFIX)).filter(|&end| end <= body.len());
    let json = &body[PREFIX..end.ok_or_else(too_short)?];
    let header: FileHeader = serde_json::from_slice(json).map_err(|e| Error::model_file(format!("header: {e}")))?;
    header.model.schema.check()?;
    let sections = Sections::cut(header.sections, &body[PREFIX + json.len()..])?;
    Ok((header.model, sections))
}

impl Model {
    /// The model as the bytes of a model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(self.header(), &self.fitted_sections()?)
    }

    /// The bytes of a model file, after checking that they can be loaded.
    pub fn to_loadable_bytes(&self) -> Result<Vec<u8>> {
        let bytes = self.to_bytes()?;
        // A custom learner may be known only to the program that reads the file.
        if self.registry().find(&self.header().learner).is_err() {
            return Ok(bytes);
        }
        let unusable = |e| Error::data(format!("the model was not saved, because it could not be loaded again: {e}"));
        self.registry().model_from_bytes(&bytes).map_err(unusable)?;
        Ok(bytes)
    }

    /// Saves the model. An existing file is replaced atomically, and only by a model that can be loaded.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path.as_ref(), &self.to_loadable_bytes()?)
    }

    /// The model as JSON, for inspection.
    pub fn to_json(&self) -> Result<serde_json::Value> {
        let header = serde_json::to_value(self.header()).map_err(|e| Error::model_file(e.to_string()))?;
        Ok(serde_json::json!({ "model": header, "sections": self.fitted_sections()?.to_json() }))
    }
}
