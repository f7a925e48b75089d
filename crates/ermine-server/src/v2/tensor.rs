//! Values of tensors: as JSON lists and as binary data.

use crate::rows::RequestCell;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use std::fmt;

/// The type of the values of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the protocol")]
pub enum DataType {
    Bool,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Int8,
    Int16,
    Int32,
    Int64,
    Fp16,
    Fp32,
    Fp64,
    Bytes,
}

const NAMES: [(DataType, &str, usize); 13] = [
    (DataType::Bool, "BOOL", 1),
    (DataType::Uint8, "UINT8", 1),
    (DataType::Uint16, "UINT16", 2),
    (DataType::Uint32, "UINT32", 4),
    (DataType::Uint64, "UINT64", 8),
    (DataType::Int8, "INT8", 1),
    (DataType::Int16, "INT16", 2),
    (DataType::Int32, "INT32", 4),
    (DataType::Int64, "INT64", 8),
    (DataType::Fp16, "FP16", 2),
    (DataType::Fp32, "FP32", 4),
    (DataType::Fp64, "FP64", 8),
    (DataType::Bytes, "BYTES", 0),
];

impl DataType {
    /// The type of this name.
    pub fn parse(name: &str) -> Option<DataType> {
        NAMES.iter().find(|(_, known, _)| *known == name).map(|(datatype, ..)| *datatype)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    fn size(self) -> usize {
        NAMES[self as usize].2
    }
}

/// The values of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Anything.
    Values(Vec<OwnedCell>),
}

/// A value of a tensor.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "as in `RequestCell`")]
pub enum OwnedCell {
    Null,
    Bool(bool),
    Int(i64),
    Number(f64),
    Text(String),
}

impl Data {
    /// How many values.
    pub fn len(&self) -> usize {
        match self {
            Data::Numbers(numbers) => numbers.len(),
            Data::Values(values) => values.len(),
        }
    }

    /// A value.
    pub fn cell(&self, at: usize) -> RequestCell<'_> {
        match self {
            Data::Numbers(numbers) => RequestCell::Number(numbers[at]),
            Data::Values(values) => match &values[at] {
                OwnedCell::Null => RequestCell::Null,
                OwnedCell::Bool(truth) => RequestCell::Bool(*truth),
                OwnedCell::Int(number) => RequestCell::Int(*number),
                OwnedCell::Number(number) => RequestCell::Number(*number),
                OwnedCell::Text(text) => RequestCell::Text(text),
            },
        }
    }

    /// Checks that values fit their type. `null` fits every type.
    pub fn check(&self, datatype: DataType) -> Result<(), String> {
        let fits = |cell: &RequestCell<'_>| match cell {
            RequestCell::Null => true,
            RequestCell::Bool(_) => datatype == DataType::Bool,
            RequestCell::Text(_) => datatype == DataType::Bytes,
            RequestCell::Int(number) => match datatype {
                DataType::Bool => matches!(number, 0 | 1),
                DataType::Bytes => false,
                _ => true,
            },
            RequestCell::Number(number) => match datatype {
                DataType::Fp16 | DataType::Fp32 | DataType::Fp64 => true,
                DataType::Bytes => false,
                _ => number.fract() == 0.0,
            },
        };
        match (0..self.len()).map(|at| self.cell(at)).position(|cell| !fits(&cell)) {
            None => Ok(()),
            Some(at) => Err(format!("value {at} is {}, which is no {}", self.cell(at), datatype.name())),
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Data, D::Error> {
        let mut values = Vec::new();
        deserializer.deserialize_seq(Flattened(&mut values))?;
        Ok(Data::Values(values))
    }
}

/// Values of lists in lists, one after the other.
struct Flattened<'v>(&'v mut Vec<OwnedCell>);

impl<'de> de::DeserializeSeed<'de> for Flattened<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Flattened<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers, strings, true, false, null, or lists of them")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Flattened(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<(), E> {
        self.0.push(OwnedCell::Number(number));
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<(), E> {
        self.0.push(OwnedCell::Int(number));
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(), E> {
        self.0.push(i64::try_from(number).map_or(OwnedCell::Number(number as f64), OwnedCell::Int));
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> Result<(), E> {
        self.0.push(OwnedCell::Bool(truth));
        Ok(())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.0.push(OwnedCell::Text(text.to_string()));
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.push(OwnedCell::Null);
        Ok(())
    }
}

/// Reads binary data: little-endian, one value after the other; a text is its length in four bytes and its bytes.
pub fn decode_binary(datatype: DataType, bytes: &[u8], n_values: usize) -> Result<Data, String> {
    if datatype == DataType::Bytes {
        return decode_texts(bytes).map(Data::Values);
    }
    let size = datatype.size();
    if n_values.checked_mul(size) != Some(bytes.len()) {
        return Err(format!("{n_values} values of {} need {size} bytes each, found {}", datatype.name(), bytes.len()));
    }
    let whole = |bytes: &[u8]| {
        let mut padded = [0; 8];
        padded[..size].copy_from_slice(bytes);
        u64::from_le_bytes(padded)
    };
    let number = |bytes: &[u8]| {
        let bits = whole(bytes);
        match datatype {
            DataType::Fp64 => f64::from_bits(bits),
            DataType::Fp32 => f64::from(f32::from_bits(bits as u32)),
            DataType::Fp16 => half(bits as u16),
            DataType::Int8 => f64::from(bits as i8),
            DataType::Int16 => f64::from(bits as i16),
            DataType::Int32 => f64::from(bits as i32),
            DataType::Int64 => bits as i64 as f64,
            _ => bits as f64,
        }
    };
    if datatype == DataType::Bool {
        return Ok(Data::Values(bytes.iter().map(|&byte| OwnedCell::Bool(byte != 0)).collect()));
    }
    Ok(Data::Numbers(bytes.chunks_exact(size).map(number).collect()))
}

fn decode_texts(mut bytes: &[u8]) -> Result<Vec<OwnedCell>, String> {
    let mut texts = Vec::new();
    while !bytes.is_empty() {
        let short = || format!("text {} reaches past the end of the data", texts.len());
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(short)?;
        let text = std::str::from_utf8(text).map_err(|_| format!("text {} is not valid UTF-8", texts.len()))?;
        texts.push(OwnedCell::Text(text.to_string()));
        bytes = rest;
    }
    Ok(texts)
}

/// Writes a text as binary data.
pub fn encode_binary(text: &str, out: &mut Vec<u8>) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// A number in half precision (IEEE 754).
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_numbers_are_little_endian() {
        let read = |datatype, bytes: &[u8], n| match decode_binary(datatype, bytes, n).unwrap() {
            Data::Numbers(numbers) => numbers,
            Data::Values(values) => panic!("{values:?}"),
        };
        assert_eq!(read(DataType::Fp32, &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0], 2), [1.0, -2.0]);
        assert_eq!(read(DataType::Int16, &[0xff, 0xff, 1, 0], 2), [-1.0, 1.0]);
        assert_eq!(read(DataType::Uint16, &[0xff, 0xff], 1), [65535.0]);
        assert_eq!(
            read(DataType::Fp16, &[0, 0x3c, 0, 0xc0, 1, 0, 0xff, 0x7b], 4),
            [1.0, -2.0, 2f64.powi(-24), 65504.0]
        );
        assert!(decode_binary(DataType::Fp64, &[0; 12], 2).is_err());
        assert!(decode_binary(DataType::Fp64, &[], usize::MAX).is_err());
    }

    #[test]
    fn texts_have_a_length() {
        let mut bytes = Vec::new();
        ["", "grün"].iter().for_each(|text| encode_binary(text, &mut bytes));
        let data = decode_binary(DataType::Bytes, &bytes, 2).unwrap();
        assert_eq!((data.len(), data.cell(1)), (2, RequestCell::Text("grün")));
        assert!(decode_binary(DataType::Bytes, &[255, 255, 255, 255, 0], 1).is_err());
        assert!(decode_binary(DataType::Bytes, &[1, 0, 0, 0, 0xff], 1).is_err());
    }

    #[test]
    fn values_fit_their_type() {
        let data: Data = serde_json::from_str("[[1, 2], [3.5, null]]").unwrap();
        assert_eq!(data.len(), 4);
        assert!(data.check(DataType::Fp32).is_ok());
        assert!(data.check(DataType::Int32).is_err());
        assert!(data.check(DataType::Bytes).is_err());
    }
}
