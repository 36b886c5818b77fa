//! Packs the program and its files for the way into the container.

use std::io;

use tar::{Builder, EntryType, Header};

use crate::RunRequest;

/// A tar archive with the program and its files. It holds plain files alone: no links, no devices, no owners.
pub(crate) fn pack(request: &RunRequest) -> io::Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    let program = (request.language.file_name(), request.code.as_bytes());
    let files = request.files.iter().map(|file| (file.path.as_str(), file.content.as_ref()));
    for (path, content) in std::iter::once(program).chain(files) {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, path, content)?;
    }
    archive.into_inner()
}
