//! Words for the values of an enum, spelled the same in flags, files, stored rows and answers.
//! A table per enum makes both directions, so that neither can forget a value.

/// Gives an enum of plain values its words.
#[macro_export]
macro_rules! words {
    ($type:ident: $($variant:ident = $word:literal),+ $(,)?) => {
        impl $type {
            /// Every value, in the order of its words.
            pub const ALL: [$type; [$($word),+].len()] = [$($type::$variant),+];

            /// How they are spelled.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The one spelling.
            pub const fn word(self) -> &'static str {
                match self {
                    $($type::$variant => $word,)+
                }
            }

            /// The value of this spelling.
            pub fn from_word(word: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|value| value.word() == word)
            }
        }
    };
}

/// The same for an enum that people read as it is spelled.
#[macro_export]
macro_rules! spelled {
    ($type:ident: $($words:tt)+) => {
        $crate::words!($type: $($words)+);

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
