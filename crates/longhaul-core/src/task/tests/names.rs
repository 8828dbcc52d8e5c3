//! The lists of names beside the enums of states and events are complete.
//! Serde knows every name: its refusal of an unknown one lists them.

use serde::de::DeserializeOwned;

use crate::task::{Event, State};

fn known<T: DeserializeOwned>(unknown: &str) -> Vec<String> {
    let Err(refusal) = serde_json::from_str::<T>(unknown) else { panic!("{unknown} is known") };
    let refusal = refusal.to_string();
    let (_, names) = refusal.split_once("expected one of ").expect("the names");
    names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_state_has_its_name_in_the_list() {
    assert_eq!(known::<State>(r#"{"state":"?"}"#), State::NAMES);
}

#[test]
fn the_story_has_every_kind_of_event_but_one() {
    let mut kinds = known::<Event>(r#"{"kind":"?"}"#);
    kinds.retain(|kind| kind != "session_read");
    assert_eq!(kinds, Event::STORY);
}
