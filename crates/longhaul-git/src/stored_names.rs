//! Names in the stored rules: text where they are UTF-8, which is almost always, and otherwise their exact bytes.
//! Used by `rules` through serde's `with`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<Vec<u8>> for Name {
    fn from(bytes: Vec<u8>) -> Name {
        String::from_utf8(bytes).map_or_else(|error| Name::Bytes(error.into_bytes()), Name::Text)
    }
}

impl From<Name> for Vec<u8> {
    fn from(name: Name) -> Vec<u8> {
        match name {
            Name::Text(text) => text.into_bytes(),
            Name::Bytes(bytes) => bytes,
        }
    }
}

/// A set of names.
pub(super) mod names {
    use super::{Deserialize, Deserializer, Name, Serializer};
    use crate::tree::Paths;

    pub(crate) fn serialize<S: Serializer>(names: &Paths, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(names.iter().map(|name| Name::from(name.clone())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Paths, D::Error> {
        Ok(Vec::<Name>::deserialize(deserializer)?.into_iter().map(Vec::from).collect())
    }
}

/// Names with the ids of what they name.
pub(super) mod ids {
    use super::{Deserialize, Deserializer, Name, Serializer};

    type Ids = Vec<(Vec<u8>, String)>;

    pub(crate) fn serialize<S: Serializer>(ids: &Ids, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(ids.iter().map(|(name, id)| (Name::from(name.clone()), id)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Ids, D::Error> {
        let stored = Vec::<(Name, String)>::deserialize(deserializer)?;
        Ok(stored.into_iter().map(|(name, id)| (name.into(), id)).collect())
    }
}
