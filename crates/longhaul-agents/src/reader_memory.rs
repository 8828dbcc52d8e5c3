//! An agent's own small memory inside the reader, as the type its file declares. Unreadable memory is an empty one: it can only
//! come from another version, and a reader that starts again is better than one that stops.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::reading::Reader;

/// What was remembered.
pub(crate) fn recall<T: DeserializeOwned + Default>(reader: &Reader) -> T {
    T::deserialize(&reader.memory).unwrap_or_default()
}

/// Remembers this until the next line.
pub(crate) fn remember<T: Serialize>(reader: &mut Reader, memory: &T) {
    reader.memory = serde_json::to_value(memory).unwrap_or_default();
}
