//! Paging: a cursor is the place of the last item given out, so that a page costs the same wherever it is.

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use crate::error::QueryError;

/// The most items that one page has.
pub(crate) const MAX_LIMIT: u32 = 200;

/// Which part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many items at most: 1 to 200.
    pub limit: u32,
    /// The `next_cursor` of the page before; none for the first page.
    pub cursor: Option<String>,
}

impl Default for Page {
    fn default() -> Self {
        Self { limit: 50, cursor: None }
    }
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Paged<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next page begins; none after the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An item's place: the list's time column, and its identifier where times are equal.
pub(crate) type Place = (DateTime<Utc>, Uuid);

impl Page {
    /// How many rows to ask for: one more than wanted tells whether there is another page.
    pub(crate) fn rows(&self) -> Result<i64, QueryError> {
        if (1..=MAX_LIMIT).contains(&self.limit) {
            return Ok(i64::from(self.limit) + 1);
        }
        Err(QueryError::BadLimit { limit: self.limit })
    }

    /// The place after which the page begins, in two halves for a query's parameters.
    pub(crate) fn after(&self) -> Result<(Option<DateTime<Utc>>, Option<Uuid>), QueryError> {
        let Some(cursor) = &self.cursor else { return Ok((None, None)) };
        let (time, id) = read(cursor).ok_or(QueryError::BadCursor)?;
        Ok((Some(time), Some(id)))
    }

    /// The page of a list that is in memory as a whole.
    ///
    /// # Errors
    /// [`QueryError::BadCursor`], [`QueryError::BadLimit`].
    pub fn cut<T>(
        &self,
        mut items: Vec<T>,
        place: impl Fn(&T) -> (DateTime<Utc>, Uuid),
    ) -> Result<Paged<T>, QueryError> {
        self.rows()?;
        self.after()?;
        if let Some(cursor) = &self.cursor {
            let last = items.iter().position(|item| write(place(item)) == *cursor);
            items.drain(..last.map_or(items.len(), |last| last + 1));
        }
        Ok(self.of(items, place))
    }

    /// The page, from the rows that [`Self::rows`] asked for.
    pub(crate) fn of<T>(&self, mut items: Vec<T>, place: impl Fn(&T) -> Place) -> Paged<T> {
        let limit = self.limit as usize;
        let more = items.len() > limit;
        items.truncate(limit);
        let next_cursor = items.last().filter(|_| more).map(|last| write(place(last)));
        Paged { items, next_cursor }
    }
}

fn write((time, id): Place) -> String {
    format!("{}-{}", time.timestamp_micros(), id.simple())
}

fn read(cursor: &str) -> Option<Place> {
    let (micros, id) = cursor.rsplit_once('-')?;
    Some((DateTime::from_timestamp_micros(micros.parse().ok()?)?, Uuid::parse_str(id).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(n: i64) -> Place {
        (DateTime::from_timestamp_micros(n).unwrap(), Uuid::from_u128(n.unsigned_abs().into()))
    }

    #[test]
    fn a_page_that_is_not_the_last_names_the_next() {
        let page = Page { limit: 2, cursor: None };
        let first = page.of(vec![9, -8, 7], |n| place(*n));
        assert_eq!(first.items, [9, -8]);
        let next = Page { limit: 2, cursor: first.next_cursor };
        assert_eq!(next.after().unwrap(), (Some(place(-8).0), Some(place(-8).1)));
        assert_eq!(next.of(vec![7], |n| place(*n)).next_cursor, None);
    }

    #[test]
    fn a_list_in_memory_has_the_same_pages() {
        let (all, mut seen, mut page) = (vec![5, 4, 3, 2, 1], vec![], Page { limit: 2, cursor: None });
        loop {
            let Paged { items, next_cursor } = page.cut(all.clone(), |n| place(*n)).unwrap();
            seen.push(items);
            let Some(next) = next_cursor else { break };
            page.cursor = Some(next);
        }
        assert_eq!(seen, [vec![5, 4], vec![3, 2], vec![1]]);
        assert!(matches!(
            Page { limit: 0, cursor: None }.cut(all, |n| place(*n)),
            Err(QueryError::BadLimit { .. })
        ));
    }

    #[test]
    fn wrong_cursors_and_limits_are_refused() {
        for cursor in ["", "x", "1-2", "99999999999999999999-00000000000000000000000000000001"] {
            let page = Page { limit: 1, cursor: Some(cursor.to_owned()) };
            assert!(matches!(page.after(), Err(QueryError::BadCursor)), "{cursor}");
        }
        assert!(matches!(Page { limit: 0, cursor: None }.rows(), Err(QueryError::BadLimit { limit: 0 })));
        assert!(matches!(Page { limit: 201, cursor: None }.rows(), Err(QueryError::BadLimit { .. })));
    }
}
