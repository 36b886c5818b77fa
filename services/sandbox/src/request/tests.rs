use std::time::Duration;

use super::*;

fn with_files(paths: &[&str]) -> RunRequest {
    RunRequest {
        call_id: Uuid::nil(),
        attempt: 1,
        language: Language::Python,
        code: String::new(),
        files: paths.iter().map(|&path| file(path, 1)).collect(),
        stdin: None,
        env: BTreeMap::new(),
        timeout: Duration::from_secs(1),
        memory_mib: 64,
        network: Network::Deny,
    }
}

fn file(path: &str, bytes: usize) -> InputFile {
    InputFile { path: path.to_owned(), content: vec![0; bytes].into() }
}

#[test]
fn ordinary_paths_pass() {
    assert_eq!(with_files(&["a", "b.txt", "c/d/e", "main.js", "..a/b..", "ünï/ x"]).check(), Ok(()));
}

#[test]
fn paths_that_lead_out_or_clash_are_refused() {
    let long = "x".repeat(256);
    for path in
        ["", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "./a", "a//b", "a/", "a\0b", "a\nb", &long]
    {
        let refused = with_files(&[path]).check();
        assert!(matches!(refused, Err(RefusedRequest::BadPath { .. })), "{path:?} gave {refused:?}");
    }
    for clash in [["a", "a"], ["a", "a/b"], ["b/c/d", "b/c"], ["x", "main.py"], ["x", "main.py/y"]] {
        let refused = with_files(&clash).check();
        assert!(matches!(refused, Err(RefusedRequest::BadPath { .. })), "{clash:?} gave {refused:?}");
    }
}

#[test]
fn files_are_limited_in_number_and_size() {
    let many: Vec<String> = (0..=MAX_FILES).map(|n| n.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(with_files(&many[..MAX_FILES]).check(), Ok(()));
    assert_eq!(with_files(&many).check(), Err(RefusedRequest::TooManyFiles { count: 65 }));

    let mut big = with_files(&[]);
    big.files = vec![file("a", MAX_FILES_BYTES)];
    assert_eq!(big.check(), Ok(()));
    big.files.push(file("b", 1));
    assert_eq!(big.check(), Err(RefusedRequest::FilesTooLarge { bytes: MAX_FILES_BYTES + 1 }));
}

#[test]
fn variables_no_process_could_have_are_refused() {
    for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0")] {
        let mut request = with_files(&[]);
        request.env.insert(name.to_owned(), value.to_owned());
        assert!(matches!(request.check(), Err(RefusedRequest::BadVariable { .. })), "{name:?}={value:?}");
    }
}
