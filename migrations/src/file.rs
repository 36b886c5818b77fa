//! The migration files, as the build took them in.

use sha2::{Digest, Sha256};

use crate::error::MigrationError;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// A migration of a store that applies plain files.
pub(crate) struct File {
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

impl File {
    /// Digest of the text, so that a later edit is noticed.
    pub(crate) fn checksum(&self) -> String {
        Sha256::digest(self.text).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The statements, which end with a semicolon at a line's end. Comment lines are left out.
    pub(crate) fn statements(&self, comment: &str) -> Vec<String> {
        let mut statements = vec![String::new()];
        for line in self.text.lines().filter(|line| !line.trim_start().starts_with(comment)) {
            let Some(current) = statements.last_mut() else { continue };
            match line.trim_end().strip_suffix(';') {
                Some(end) => {
                    current.push_str(end);
                    statements.push(String::new());
                }
                None => {
                    current.push_str(line);
                    current.push('\n');
                }
            }
        }
        statements.retain(|statement| !statement.trim().is_empty());
        statements
    }
}

/// Reads versions out of file names and makes sure that they are 1, 2, 3 …
pub(crate) fn numbered(
    store: &'static str,
    files: impl Iterator<Item = (&'static str, &'static str)>,
) -> Result<Vec<File>, MigrationError> {
    files
        .zip(1..)
        .map(|((name, text), expected)| {
            let wrong = |cause: String| MigrationError::File { store, name: name.to_owned(), cause };
            let number = name.split('_').next().unwrap_or_default();
            let version =
                number.parse().map_err(|_| wrong("its name must begin with a number".to_owned()))?;
            if version != expected {
                return Err(wrong(format!("number {expected} comes next")));
            }
            Ok(File { version, name, text })
        })
        .collect()
}

/// Which files are still to be applied, given the versions and checksums that were.
pub(crate) fn pending<'f>(
    store: &'static str,
    files: &'f [File],
    applied: &[(i64, String)],
) -> Result<&'f [File], MigrationError> {
    for (version, checksum) in applied {
        let file = files.iter().find(|file| file.version == *version);
        match file {
            Some(file) if file.checksum() == *checksum => {}
            Some(_) => return Err(MigrationError::Changed { store, version: *version }),
            None => return Err(MigrationError::Newer { store, found: *version, wanted: newest(files) }),
        }
    }
    let done = applied.iter().map(|(version, _)| *version).max().unwrap_or(0);
    let next = files.iter().position(|file| file.version > done).unwrap_or(files.len());
    Ok(&files[next..])
}

/// The newest version among the files.
pub(crate) fn newest(files: &[File]) -> i64 {
    files.last().map_or(0, |file| file.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: i64, text: &'static str) -> File {
        File { version, name: "0001_a.sql", text }
    }

    #[test]
    fn statements_end_at_a_semicolon_that_ends_a_line() {
        let text = "-- a comment;\ncreate table a (\n  b text default ';x'\n);\n\ndrop table c;\n";
        let statements = file(1, text).statements("--");
        assert_eq!(
            statements,
            ["create table a (\n  b text default ';x'\n)", "\ndrop table c"].map(str::to_owned)
        );
    }

    #[test]
    fn only_what_is_missing_is_applied_and_edits_are_noticed() {
        let files = [file(1, "a"), file(2, "b")];
        let applied = |version, text| (version, file(version, text).checksum());
        assert_eq!(pending("x", &files, &[]).unwrap().len(), 2);
        assert_eq!(pending("x", &files, &[applied(1, "a")]).unwrap()[0].version, 2);
        assert!(matches!(
            pending("x", &files, &[applied(1, "z")]),
            Err(MigrationError::Changed { version: 1, .. })
        ));
        let newer = [applied(1, "a"), applied(2, "b"), applied(3, "c")];
        assert!(matches!(
            pending("x", &files, &newer),
            Err(MigrationError::Newer { found: 3, wanted: 2, .. })
        ));
    }

    #[test]
    fn numbers_have_no_holes() {
        let files = [("0001_a.sql", ""), ("0003_b.sql", "")];
        assert!(matches!(numbered("x", files.into_iter()), Err(MigrationError::File { .. })));
    }
}
