//! A writer for the wire format of protocol buffers: fields of integers, strings, bytes and messages.
//!
//! A field is its number and wire type, followed by its value; a nested message is a field of bytes.

/// A message under construction.
#[derive(Debug, Clone, Default)]
pub(super) struct ProtobufMessage {
    bytes: Vec<u8>,
}

impl ProtobufMessage {
    /// An empty message.
    pub fn new() -> ProtobufMessage {
        ProtobufMessage::default()
    }

    /// The bytes of the message.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Writes an integer, seven bits per byte, least significant first.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Adds an integer.
    pub fn int(mut self, field: u64, value: i64) -> ProtobufMessage {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    /// Adds bytes.
    pub fn bytes(mut self, field: u64, value: &[u8]) -> ProtobufMessage {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
        self
    }

    /// Adds a string.
    pub fn text(self, field: u64, value: &str) -> ProtobufMessage {
        self.bytes(field, value.as_bytes())
    }

    /// Adds a nested message.
    pub fn message(self, field: u64, value: ProtobufMessage) -> ProtobufMessage {
        self.bytes(field, &value.bytes)
    }

    /// Adds a repeated integer field.
    pub fn ints(self, field: u64, values: impl IntoIterator<Item = i64>) -> ProtobufMessage {
        values.into_iter().fold(self, |message, value| message.int(field, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_match_the_examples_of_the_protobuf_documentation() {
        assert_eq!(ProtobufMessage::new().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(
            ProtobufMessage::new().text(2, "testing").into_bytes(),
            [0x12, 7, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]
        );
        let inner = ProtobufMessage::new().int(1, 150);
        assert_eq!(ProtobufMessage::new().message(3, inner).into_bytes(), [0x1a, 3, 0x08, 0x96, 0x01]);
        assert_eq!(ProtobufMessage::new().int(1, -1).into_bytes().len(), 11);
    }
}
