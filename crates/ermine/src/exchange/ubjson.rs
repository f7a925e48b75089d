//! A reader for UBJSON, the binary JSON that XGBoost writes.
//!
//! A value is a letter for its type, then its bytes, numbers in big-endian order. Lists may start with their length (`#`) and the type of all their values (`$`).
//!
//! **Untrusted input.** Allocations are limited by the size of the file, and nesting is limited.

use super::invalid;
use ermine_core::error::Result;
use serde_json::{Map, Value};

/// Maximum nesting depth.
const MAX_DEPTH: usize = 64;

/// Parses a value, followed by nothing but no-ops.
pub fn parse(bytes: &[u8]) -> Result<Value> {
    let mut reader = UbjsonReader { rest: bytes, depth: 0 };
    let kind = reader.kind()?;
    let value = reader.value(kind)?;
    if reader.rest.iter().any(|&b| b != b'N' && b != b'\n') {
        return Err(invalid("UBJSON", "unexpected data after the end"));
    }
    Ok(value)
}

struct UbjsonReader<'a> {
    rest: &'a [u8],
    depth: usize,
}

impl UbjsonReader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some((taken, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(invalid("UBJSON", "unexpected end of file"));
        };
        self.rest = rest;
        Ok(*taken)
    }

    /// The next type marker, skipping no-ops.
    fn kind(&mut self) -> Result<u8> {
        loop {
            let [kind] = self.take::<1>()?;
            if kind != b'N' {
                return Ok(kind);
            }
        }
    }

    fn integer(&mut self, kind: u8) -> Result<i64> {
        Ok(match kind {
            b'i' => i64::from(i8::from_be_bytes(self.take()?)),
            b'U' => i64::from(u8::from_be_bytes(self.take()?)),
            b'I' => i64::from(i16::from_be_bytes(self.take()?)),
            b'l' => i64::from(i32::from_be_bytes(self.take()?)),
            b'L' => i64::from_be_bytes(self.take()?),
            other => return Err(invalid("UBJSON", format!("expected an integer, got a value of type {other}"))),
        })
    }

    fn length(&mut self) -> Result<usize> {
        let kind = self.kind()?;
        usize::try_from(self.integer(kind)?).map_err(|_| invalid("UBJSON", "a length is negative"))
    }

    fn text(&mut self) -> Result<String> {
        let length = self.length()?;
        let Some((text, rest)) = self.rest.split_at_checked(length) else {
            return Err(invalid("UBJSON", "a string is truncated"));
        };
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| invalid("UBJSON", "a string is not UTF-8"))
    }

    fn value(&mut self, kind: u8) -> Result<Value> {
        Ok(match kind {
            b'Z' => Value::Null,
            b'T' => Value::Bool(true),
            b'F' => Value::Bool(false),
            b'd' => f64::from(f32::from_be_bytes(self.take()?)).into(),
            b'D' => f64::from_be_bytes(self.take()?).into(),
            b'C' => char::from(self.take::<1>()?[0]).to_string().into(),
            b'S' | b'H' => self.text()?.into(),
            b'[' | b'{' => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(invalid("UBJSON", format!("values are nested deeper than {MAX_DEPTH} levels")));
                }
                let value = if kind == b'[' { self.list()? } else { self.object()? };
                self.depth -= 1;
                value
            }
            kind => self.integer(kind)?.into(),
        })
    }

    /// The type and the number of the values of a container, if given.
    fn head(&mut self) -> Result<(Option<u8>, Option<usize>)> {
        let mut kind = None;
        if self.rest.first() == Some(&b'$') {
            kind = Some(self.take::<2>()?[1]);
            if self.rest.first() != Some(&b'#') {
                return Err(invalid("UBJSON", "a list has a type but no length"));
            }
        }
        if self.rest.first() != Some(&b'#') {
            return Ok((kind, None));
        }
        self.take::<1>()?;
        let n = self.length()?;
        // Every value takes at least one byte, except for types without a payload.
        let empty = kind.is_some_and(|kind| matches!(kind, b'Z' | b'T' | b'F' | b'N'));
        if empty || n > self.rest.len() {
            return Err(invalid("UBJSON", "a list is longer than the rest of the file"));
        }
        Ok((kind, Some(n)))
    }

    fn list(&mut self) -> Result<Value> {
        let (kind, n) = self.head()?;
        let mut values = Vec::new();
        while n.is_none_or(|n| values.len() < n) {
            let kind = match kind {
                Some(kind) => kind,
                None => self.kind()?,
            };
            if n.is_none() && kind == b']' {
                break;
            }
            values.push(self.value(kind)?);
        }
        Ok(Value::Array(values))
    }

    fn object(&mut self) -> Result<Value> {
        let (kind, n) = self.head()?;
        let mut map = Map::new();
        let mut read = 0;
        while n.is_none_or(|n| read < n) {
            if n.is_none() && self.rest.first() == Some(&b'}') {
                self.take::<1>()?;
                break;
            }
            let name = self.text()?;
            let kind = match kind {
                Some(kind) => kind,
                None => self.kind()?,
            };
            map.insert(name, self.value(kind)?);
            read += 1;
        }
        Ok(Value::Object(map))
    }
}
