//! Named arrays: how the contents of a model are written to a file and read back.
//!
//! A learner saves arrays under names of its choice and loads them by name and type. Models that contain other models give each a scope.

use crate::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Named arrays and JSON values: the contents of a model file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sections {
    prefix: String,
    /// Shared, so that scopes of a large file need no copy.
    entries: Vec<(SectionSpec, Arc<Vec<u8>>)>,
}

/// Name, type and count of a section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SectionSpec {
    name: String,
    #[serde(rename = "type")]
    kind: SectionKind,
    count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SectionKind {
    F64,
    F32,
    U32,
    U8,
    Json,
}

impl SectionKind {
    fn size(self) -> u64 {
        match self {
            SectionKind::F64 => 8,
            SectionKind::F32 | SectionKind::U32 => 4,
            SectionKind::U8 | SectionKind::Json => 1,
        }
    }
}

macro_rules! array_sections {
    ($($type:ty, $kind:ident, $put:ident, $get:ident;)*) => {$(
        #[doc = concat!("Writes an array of `", stringify!($type), "`.")]
        pub fn $put(&mut self, name: &str, values: &[$type]) {
            let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            self.push(name, SectionKind::$kind, values.len(), bytes);
        }

        #[doc = concat!("Reads an array of `", stringify!($type), "`.")]
        pub fn $get(&self, name: &str) -> Result<Vec<$type>> {
            Ok(words(self.find(name, SectionKind::$kind)?).map(<$type>::from_le_bytes).collect())
        }
    )*};
}

impl Sections {
    array_sections! {
        f64, F64, put_f64s, f64s;
        f32, F32, put_f32s, f32s;
        u32, U32, put_u32s, u32s;
        u8, U8, put_u8s, u8s;
    }

    /// Writes a value as JSON. Infinite numbers and NaN don't survive JSON: put those in arrays.
    pub fn put_json(&mut self, name: &str, value: &impl Serialize) -> Result<()> {
        let bytes = serde_json::to_vec(value).map_err(|e| Error::model_file(format!("section '{name}': {e}")))?;
        self.push(name, SectionKind::Json, bytes.len(), bytes);
        Ok(())
    }

    /// Whether there is a section of this name; files of earlier versions may lack it.
    pub fn has(&self, name: &str) -> bool {
        let full = format!("{}{name}", self.prefix);
        self.entries.iter().any(|(spec, _)| spec.name == full)
    }

    /// Reads a value from JSON.
    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let bytes = self.find(name, SectionKind::Json)?;
        serde_json::from_slice(bytes).map_err(|e| Error::model_file(format!("section '{name}': {e}")))
    }

    /// Writes or reads the sections of a scope: within `work`, every name is prefixed with `scope/`.
    pub fn within<T>(&mut self, scope: impl std::fmt::Display, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.prefix.clone();
        self.prefix = format!("{outer}{scope}/");
        let result = work(self);
        self.prefix = outer;
        result
    }

    /// The sections of a scope, for reading: those whose names start with `scope/`.
    pub fn part(&self, scope: impl std::fmt::Display) -> Sections {
        let prefix = format!("{}{scope}/", self.prefix);
        let entries = self.entries.iter().filter(|(spec, _)| spec.name.starts_with(&prefix)).cloned().collect();
        Sections { prefix, entries }
    }

    fn push(&mut self, name: &str, kind: SectionKind, count: usize, bytes: Vec<u8>) {
        let name = format!("{}{name}", self.prefix);
        self.entries.push((SectionSpec { name, kind, count: count as u64 }, Arc::new(bytes)));
    }

    fn find(&self, name: &str, kind: SectionKind) -> Result<&[u8]> {
        let name = format!("{}{name}", self.prefix);
        match self.entries.iter().find(|(spec, _)| spec.name == name) {
            Some((spec, bytes)) if spec.kind == kind => Ok(bytes),
            Some((spec, _)) => Err(Error::model_file(format!("section '{name}' is {:?}, not {kind:?}", spec.kind))),
            None => Err(Error::model_file(format!("section '{name}' is missing"))),
        }
    }

    /// Splits the body of a file into sections. Remaining bytes are an error.
    pub(crate) fn cut(specs: Vec<SectionSpec>, bytes: &[u8]) -> Result<Sections> {
        let mut sections = Sections::default();
        let mut rest = bytes;
        for spec in specs {
            let length = spec.count.checked_mul(spec.kind.size()).and_then(|n| usize::try_from(n).ok());
            let Some((section, after)) = length.and_then(|n| rest.split_at_checked(n)) else {
                return Err(Error::model_file(format!("section '{}' extends past the end of the file", spec.name)));
            };
            rest = &after[padding(section.len()).min(after.len())..];
            sections.entries.push((spec, Arc::new(section.to_vec())));
        }
        if rest.is_empty() { Ok(sections) } else { Err(Error::model_file("the file is longer than its header states")) }
    }

    /// Writes all sections one after the other.
    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) {
        for (_, section) in &self.entries {
            bytes.extend_from_slice(section);
            bytes.resize(bytes.len() + padding(section.len()), 0);
        }
    }

    /// All sections as bytes that stand alone: the length of a list of sections in JSON, the list, the sections, a CRC-32 of everything before.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_vec(&self.specs()).map_err(|e| Error::model_file(e.to_string()))?;
        let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(&json);
        self.append_to(&mut bytes);
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    /// Reads the bytes of [`to_bytes`](Self::to_bytes), checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<Sections> {
        let broken = || Error::model_file("the bytes are damaged or truncated");
        let (body, checksum) = bytes.split_last_chunk::<4>().ok_or_else(broken)?;
        let (length, rest) = body.split_first_chunk::<8>().ok_or_else(broken)?;
        if crc32fast::hash(body).to_le_bytes() != *checksum {
            return Err(broken());
        }
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| broken())?;
        let (json, sections) = rest.split_at_checked(length).ok_or_else(broken)?;
        let specs = serde_json::from_slice(json).map_err(|e| Error::model_file(format!("list of sections: {e}")))?;
        Sections::cut(specs, sections)
    }

    /// Names, types and counts of all sections.
    pub(crate) fn specs(&self) -> Vec<SectionSpec> {
        self.entries.iter().map(|(spec, _)| spec.clone()).collect()
    }

    /// How many bytes [`append_to`](Self::append_to) writes.
    pub(crate) fn n_bytes(&self) -> usize {
        self.entries.iter().map(|(_, section)| section.len() + padding(section.len())).sum()
    }

    /// All sections as readable JSON.
    pub fn to_json(&self) -> serde_json::Value {
        let mut object = serde_json::Map::new();
        for (spec, bytes) in &self.entries {
            let list = |values: &mut dyn Iterator<Item = serde_json::Value>| serde_json::Value::Array(values.collect());
            let value = match spec.kind {
                SectionKind::F64 => list(&mut words(bytes).map(|w| json_number(f64::from_le_bytes(w)))),
                SectionKind::F32 => list(&mut words(bytes).map(|w| json_number(f32::from_le_bytes(w).into()))),
                SectionKind::U32 => list(&mut words(bytes).map(|w| u32::from_le_bytes(w).into())),
                SectionKind::U8 => list(&mut bytes.iter().map(|&b| b.into())),
                SectionKind::Json => serde_json::from_slice(bytes).unwrap_or_default(),
            };
            object.insert(spec.name.clone(), value);
        }
        serde_json::Value::Object(object)
    }
}

/// The bytes in chunks of N.
fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks().0.iter().copied()
}

/// A number in JSON; "inf", "-inf" and "NaN" as strings.
fn json_number(x: f64) -> serde_json::Value {
    serde_json::Number::from_f64(x).map_or_else(|| x.to_string().into(), Into::into)
}

/// The bytes that bring a section's length to a multiple of 8.
fn padding(length: usize) -> usize {
    length.next_multiple_of(8) - length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_separate_names() {
        let mut sections = Sections::default();
        for part in 0..3 {
            sections.within(part, |s| s.put_f64s("value", &[f64::from(part), f64::INFINITY]));
        }
        sections.put_u8s("mark", &[7]);
        let value = sections.within(2, |s| s.f64s("value")).unwrap();
        assert_eq!(value, [2.0, f64::INFINITY]);
        assert!(sections.f64s("value").unwrap_err().to_string().contains("is missing"));
        assert!(sections.f64s("mark").unwrap_err().to_string().contains("U8, not F64"));
    }

    #[test]
    fn sections_round_trip_and_reject_damaged_bytes() {
        let mut sections = Sections::default();
        sections.put_u32s("a", &[1, 2, 3]);
        sections.put_json("b", &vec!["x", "y"]).unwrap();
        let mut bytes = Vec::new();
        sections.append_to(&mut bytes);
        assert_eq!(bytes.len(), sections.n_bytes());
        assert_eq!(Sections::cut(sections.specs(), &bytes).unwrap(), sections);
        assert!(Sections::cut(sections.specs(), &bytes[..12]).is_err());
        let alone = sections.to_bytes().unwrap();
        assert_eq!(Sections::from_bytes(&alone).unwrap(), sections);
        for end in 0..alone.len() {
            assert!(Sections::from_bytes(&alone[..end]).is_err());
        }
        let mut damaged = alone.clone();
        damaged[20] ^= 1;
        assert!(Sections::from_bytes(&damaged).unwrap_err().to_string().contains("damaged"));
        let mut specs = sections.specs();
        specs[0].count = u64::MAX;
        assert!(Sections::cut(specs, &bytes).unwrap_err().to_string().contains("past the end"));
        assert!(
            Sections::cut(sections.specs()[..1].to_vec(), &bytes)
                .unwrap_err()
                .to_string()
                .contains("longer than its header")
        );
    }
}
