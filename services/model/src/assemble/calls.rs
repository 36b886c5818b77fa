//! Finds out which call a piece belongs to.
//!
//! An id is trusted most, then the index together with the name, then the order. A piece that fits two calls
//! fits none: the answer fails with [`ErrorCode::Malformed`], because a glued or lost call would be run.

use serde_json::{Map, Value};

use super::scan::Scan;
use crate::{Arguments, Call, Delta, ErrorCode, Finish, ModelError, wire::Piece};

/// Calls one answer may have.
const CALLS_LIMIT: usize = 128;

/// The calls of one answer, in the order they were opened.
#[derive(Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
    answer_id: String,
}

#[derive(Default)]
struct Slot {
    /// The provider's id.
    id: Option<String>,
    /// The id this call goes by; set with its name.
    shown: Option<String>,
    name: Option<String>,
    index: Option<u64>,
    /// The foreign index under which pieces of this call came.
    moved_to: Option<u64>,
    arguments: String,
    scan: Scan,
}

impl Slot {
    fn is_open(&self) -> bool {
        !self.scan.is_complete()
    }

    /// Whether adding these arguments would glue a second JSON to a finished one.
    fn would_glue(&self, piece: &Piece) -> bool {
        !self.is_open() && !piece.arguments.trim().is_empty()
    }

    fn is_called_otherwise(&self, piece: &Piece) -> bool {
        matches!((&self.name, &piece.name), (Some(mine), Some(other)) if mine != other)
    }
}

/// Where a piece goes.
enum Place {
    Slot(usize),
    New,
    /// It adds nothing.
    Nowhere,
}

impl Calls {
    /// The provider's id of this answer, from which missing call ids are made.
    pub(super) fn answer_is(&mut self, id: &str) {
        if self.answer_id.is_empty() {
            self.answer_id = id.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
        }
    }

    pub(super) fn push(&mut self, piece: Piece, sink: &mut impl FnMut(Delta)) -> Result<(), ModelError> {
        let at = match self.place(&piece)? {
            Place::Slot(at) => at,
            Place::Nowhere => return Ok(()),
            Place::New if self.slots.len() == CALLS_LIMIT => {
                let message = format!("the model made more than {CALLS_LIMIT} tool calls in one answer");
                return Err(ModelError::new(ErrorCode::TooLarge, message));
            }
            Place::New => {
                self.slots.push(Slot { index: piece.index, ..Slot::default() });
                self.slots.len() - 1
            }
        };
        self.add(at, piece, sink);
        Ok(())
    }

    fn place(&self, piece: &Piece) -> Result<Place, ModelError> {
        match (&piece.id, &piece.name) {
            (Some(id), _) => self.place_by_id(id, piece),
            (None, Some(name)) => self.place_by_name(name, piece),
            (None, None) => self.place_by_order(piece),
        }
    }

    fn place_by_id(&self, id: &str, piece: &Piece) -> Result<Place, ModelError> {
        if let Some(at) = self.slots.iter().rposition(|slot| slot.id.as_deref() == Some(id)) {
            let slot = &self.slots[at];
            let elsewhere = piece.index.is_some() && slot.index.is_some() && piece.index != slot.index;
            return match (slot.is_called_otherwise(piece), slot.would_glue(piece)) {
                (false, false) => Ok(Place::Slot(at)),
                (false, true) if slot.arguments == piece.arguments && !elsewhere => Ok(Place::Nowhere),
                // Some providers give every call the same id.
                _ if elsewhere && !slot.is_open() => Ok(Place::New),
                _ => Err(ambiguous("one id is used for two calls")),
            };
        }
        match self.latest_at(piece.index) {
            Some(at) if self.slots[at].id.is_none() && self.lacks_opener(at, piece) => {
                if self.slots[at].would_glue(piece) {
                    return Err(ambiguous("arguments came before their call and with it"));
                }
                Ok(Place::Slot(at))
            }
            _ => self.open_new(piece),
        }
    }

    /// Whether this slot was opened by less than an id and a name, and the piece brings what is missing.
    fn lacks_opener(&self, at: usize, piece: &Piece) -> bool {
        self.slots[at].name.is_none() || piece.name.is_none()
    }

    fn place_by_name(&self, name: &str, piece: &Piece) -> Result<Place, ModelError> {
        let Some(at) = self.latest_at(piece.index) else { return self.open_new(piece) };
        let slot = &self.slots[at];
        match slot.name.as_deref() {
            None if slot.would_glue(piece) => Err(ambiguous("arguments came before their call and with it")),
            None => Ok(Place::Slot(at)),
            Some(mine) if mine != name => self.open_new(piece),
            // From here on the name is repeated: in a later piece of this call, or by a second call.
            Some(_) if slot.would_glue(piece) => self.open_new(piece),
            Some(_) if !slot.is_open() => Ok(Place::Nowhere),
            Some(_) if piece.index.is_none() && slot.id.is_none() && slot.arguments.is_empty() => {
                Err(ambiguous("a tool is named twice with neither id nor index"))
            }
            Some(_) => Ok(Place::Slot(at)),
        }
    }

    fn place_by_order(&self, piece: &Piece) -> Result<Place, ModelError> {
        if piece.arguments.is_empty() {
            return Ok(Place::Nowhere);
        }
        let at_index = piece.index.and_then(|_| self.latest_at(piece.index));
        let mut open: Vec<usize> = (0..self.slots.len()).filter(|&at| self.slots[at].is_open()).collect();
        if at_index.is_some() {
            open.retain(|&at| self.slots[at].index == piece.index);
        } else if let Some(moved) = open
            .iter()
            .copied()
            .find(|&at| self.slots[at].moved_to.is_some() && self.slots[at].moved_to == piece.index)
        {
            open = vec![moved];
        }
        match open.as_slice() {
            [] if piece.arguments.trim().is_empty() => Ok(Place::Nowhere),
            // The arguments of a call whose name is still to come.
            [] => Ok(Place::New),
            [at] => Ok(Place::Slot(*at)),
            _ => Err(ambiguous("arguments without id or name fit more than one open call")),
        }
    }

    /// A new call, unless its index was already taken by pieces we gave to another call.
    fn open_new(&self, piece: &Piece) -> Result<Place, ModelError> {
        let taken = piece.index.is_some() && self.slots.iter().any(|slot| slot.moved_to == piece.index);
        if taken {
            Err(ambiguous("a call opens at an index that carried another call's arguments"))
        } else {
            Ok(Place::New)
        }
    }

    /// The latest call at this index; the latest of all when there is none.
    fn latest_at(&self, index: Option<u64>) -> Option<usize> {
        self.slots.iter().rposition(|slot| index.is_none() || slot.index == index)
    }

    fn add(&mut self, at: usize, piece: Piece, sink: &mut impl FnMut(Delta)) {
        let shown = self.free_id(at, piece.id.as_deref());
        let slot = &mut self.slots[at];
        if piece.id.is_none() && piece.index.is_some() && slot.index != piece.index {
            slot.moved_to = piece.index;
        }
        slot.id = slot.id.take().or(piece.id);
        slot.name = slot.name.take().or(piece.name);
        slot.scan.push(&piece.arguments);
        slot.arguments.push_str(&piece.arguments);
        let Some(name) = slot.name.clone() else { return };
        let mut news = piece.arguments;
        if slot.shown.is_none() {
            slot.shown = Some(shown.clone());
            sink(Delta::CallStart { index: at, id: shown, name });
            news.clone_from(&slot.arguments);
        }
        if !news.is_empty() {
            sink(Delta::CallArguments { index: at, text: news });
        }
    }

    /// The id a call goes by: the provider's, unless there is none or another call has it.
    fn free_id(&self, at: usize, offered: Option<&str>) -> String {
        let offered = self.slots[at].id.as_deref().or(offered);
        let is_free = |id: &&str| self.slots.iter().all(|slot| slot.shown.as_deref() != Some(*id));
        offered.filter(is_free).map_or_else(|| format!("call_{}_{at}", self.answer_id), str::to_owned)
    }

    /// The whole calls. Those of an answer that was cut off are all unusable: its last words may be missing.
    pub(super) fn finish(self, finish: &Finish) -> Result<Vec<Call>, ModelError> {
        let cut = match finish {
            Finish::Length => Some("the answer ran into its token limit, so none of its calls was run"),
            Finish::ContentFilter => {
                Some("the provider's filter cut the answer, so none of its calls was run")
            }
            Finish::Stop | Finish::ToolCalls | Finish::Other(_) | Finish::Missing => None,
        };
        let mut calls = Vec::with_capacity(self.slots.len());
        for slot in self.slots {
            let arguments = match cut {
                Some(reason) => Arguments::Invalid { raw: slot.arguments, reason: reason.to_owned() },
                None => parse(slot.arguments),
            };
            match (slot.shown, slot.name) {
                (Some(id), Some(name)) => calls.push(Call { id, name, arguments }),
                _ if cut.is_some() => {}
                _ => return Err(ambiguous("a call never got a name")),
            }
        }
        Ok(calls)
    }
}

fn parse(raw: String) -> Arguments {
    if raw.trim().is_empty() {
        return Arguments::Object(Map::new());
    }
    let reason = match serde_json::from_str(&raw) {
        Ok(Value::Object(object)) => return Arguments::Object(object),
        Ok(_) => "the arguments are JSON but not an object".to_owned(),
        Err(error) => format!("the arguments are not valid JSON ({error})"),
    };
    Arguments::Invalid { raw, reason: format!("{reason}; call the tool again with one complete JSON object") }
}

fn ambiguous(what: &str) -> ModelError {
    let message =
        format!("the model provider's tool-call pieces cannot be told apart: {what}; no call was run");
    ModelError::new(ErrorCode::Malformed, message)
}
