//! UBJSON: JSON in bytes, as XGBoost writes it.
//!
//! A value is a letter for its type, then its bytes, numbers with the highest byte first. Lists may say their length (`#`), and the type of all their values (`$`), up front.
//!
//! **Reading what may be hostile.** Nothing is allocated that the file doesn't have bytes for, and nesting is limited.

use super::wrong;
use ermine_core::error::Result;
use serde_json::{Map, Value};

/// Values within values, at most.
const MOST_DEPTH: usize = 64;

/// Reads a value, and nothing after it but no-ops.
pub fn parse(bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader { rest: bytes, depth: 0 };
    let kind = reader.kind()?;
    let value = reader.value(kind)?;
    if reader.rest.iter().any(|&b| b != b'N' && b != b'\n') {
        return Err(wrong("UBJSON", "there is more after its end"));
    }
    Ok(value)
}

struct Reader<'a> {
    rest: &'a [u8],
    depth: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some((taken, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(wrong("UBJSON", "it is cut short"));
        };
        self.rest = rest;
        Ok(*taken)
    }

    /// The next type, no-ops passed over.
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
            other => return Err(wrong("UBJSON", format!("a whole number was expected, not a value of type {other}"))),
        })
    }

    fn length(&mut self) -> Result<usize> {
        let kind = self.kind()?;
        usize::try_from(self.integer(kind)?).map_err(|_| wrong("UBJSON", "a length is negative"))
    }

    fn text(&mut self) -> Result<String> {
        let length = self.length()?;
        let Some((text, rest)) = self.rest.split_at_checked(length) else {
            return Err(wrong("UBJSON", "a text is cut short"));
        };
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| wrong("UBJSON", "a text is not UTF-8"))
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
                if self.depth > MOST_DEPTH {
                    return Err(wrong("UBJSON", format!("values are nested more than {MOST_DEPTH} deep")));
                }
                let value = if kind == b'[' { self.list()? } else { self.object()? };
                self.depth -= 1;
                value
            }
            kind => self.integer(kind)?.into(),
        })
    }

    /// The type of all values and their number, where they are said up front.
    fn head(&mut self) -> Result<(Option<u8>, Option<usize>)> {
        let mut kind = None;
        if self.rest.first() == Some(&b'$') {
            kind = Some(self.take::<2>()?[1]);
            if self.rest.first() != Some(&b'#') {
                return Err(wrong("UBJSON", "a list has a type but no length"));
            }
        }
        if self.rest.first() != Some(&b'#') {
            return Ok((kind, None));
        }
        self.take::<1>()?;
        let n = self.length()?;
        // Every value has a byte at least, but for those whose type is all there is to them.
        let empty = kind.is_some_and(|kind| matches!(kind, b'Z' | b'T' | b'F' | b'N'));
        if empty || n > self.rest.len() {
            return Err(wrong("UBJSON", "a list is longer than what is left"));
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
