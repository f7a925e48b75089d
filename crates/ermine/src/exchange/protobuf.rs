//! The wire format of protocol buffers, as much of it as is needed to write: fields of whole numbers, floats and bytes.
//!
//! A field is its number and kind, then its value; a message is a field of bytes.

/// A message that is being written.
#[derive(Debug, Clone, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// A message with nothing in it.
    pub fn new() -> Message {
        Message::default()
    }

    /// Its bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A whole number, seven bits in a byte, the lowest first.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// A whole number.
    pub fn int(mut self, field: u64, value: i64) -> Message {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    /// Bytes.
    pub fn bytes(mut self, field: u64, value: &[u8]) -> Message {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
        self
    }

    /// Text.
    pub fn text(self, field: u64, value: &str) -> Message {
        self.bytes(field, value.as_bytes())
    }

    /// A message within this one.
    pub fn message(self, field: u64, value: Message) -> Message {
        self.bytes(field, &value.bytes)
    }

    /// Whole numbers, each as a field of its own number.
    pub fn ints(self, field: u64, values: impl IntoIterator<Item = i64>) -> Message {
        values.into_iter().fold(self, |message, value| message.int(field, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_written_as_the_documentation_of_the_format_has_them() {
        assert_eq!(Message::new().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::new().text(2, "testing").into_bytes(), [0x12, 7, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        let inner = Message::new().int(1, 150);
        assert_eq!(Message::new().message(3, inner).into_bytes(), [0x1a, 3, 0x08, 0x96, 0x01]);
        assert_eq!(Message::new().int(1, -1).into_bytes().len(), 11);
    }
}
