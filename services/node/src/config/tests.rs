use super::*;

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn sources(environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Sources {
    Sources { file: None, environment: pairs(environment), flags: pairs(flags) }
}

/// A configuration file of its own for one test.
fn file(name: &str, text: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("oxagen-{}-{name}.toml", uuid::Uuid::now_v7()));
    std::fs::write(&path, text).unwrap();
    path
}

fn refusal(sources: &Sources) -> String {
    sources.load().err().unwrap().to_string()
}

#[test]
fn every_setting_is_a_field_and_every_field_a_setting() {
    let fields = serde_json::to_value(Config::default()).unwrap();
    let keys = fields.as_object().unwrap().iter().flat_map(|(table, inner)| {
        inner.as_object().unwrap().keys().map(move |key| format!("{table}.{key}"))
    });
    let mut keys: Vec<_> = keys.collect();
    let mut listed: Vec<_> = SETTINGS.iter().map(|setting| setting.key.to_owned()).collect();
    keys.sort();
    listed.sort();
    assert_eq!(keys, listed);
}

#[test]
fn defaults_are_in_force_without_any_source() {
    let config = sources(&[], &[]).load().unwrap().config;
    assert_eq!(config.gateway.listen, "127.0.0.1:15390");
    assert_eq!(config.postgres.url, None);
}

#[test]
fn the_environment_beats_the_file_and_flags_beat_both() {
    let path = file("precedence", "[model]\nname = \"from-file\"\nread_timeout = 5\n[nats]\nreplicas = 3\n");
    let read = |flags: &[(&str, &str)]| {
        let environment = pairs(&[("OXAGEN_MODEL", "from-environment")]);
        Sources { file: Some(path.clone()), environment, flags: pairs(flags) }.load().unwrap().config
    };
    let config = read(&[]);
    assert_eq!(config.model.name.as_deref(), Some("from-environment"));
    assert_eq!((config.model.read_timeout, config.nats.replicas), (5, 3));
    assert_eq!(read(&[("model.name", "from-flag")]).model.name.as_deref(), Some("from-flag"));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn an_unknown_variable_is_refused_by_name() {
    let text = refusal(&sources(&[("OXAGEN_LISTENS", "x")], &[]));
    assert!(text.contains("`OXAGEN_LISTENS`") && text.contains("did you mean `OXAGEN_LISTEN`?"), "{text}");
}

#[test]
fn an_unknown_key_in_the_file_is_refused_by_name() {
    let path = file("unknown", "[model]\nnmae = \"x\"\n");
    let text = refusal(&Sources { file: Some(path.clone()), ..Sources::default() });
    assert!(text.contains("`model.nmae`") && text.contains("`model.name`"), "{text}");
    assert!(text.contains(&path.display().to_string()), "{text}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_wrong_value_is_refused_with_what_was_expected() {
    let text = refusal(&sources(&[("OXAGEN_SANDBOX_POOL", "many")], &[]));
    assert_eq!(text, "environment: OXAGEN_SANDBOX_POOL is \"many\", expected a whole number from 0 to 100");
    let text = refusal(&sources(&[("OXAGEN_LISTEN", "15390")], &[]));
    assert!(text.starts_with("environment: OXAGEN_LISTEN is \"15390\", expected host:port"), "{text}");
    let text = refusal(&sources(&[("DATABASE_URL", "mysql://u:secret@h/d")], &[]));
    assert!(text.contains("expected an address (postgres://…") && !text.contains("secret"), "{text}");
    let path = file("value", "[nats]\nreplicas = \"three\"\n");
    let text = refusal(&Sources { file: Some(path.clone()), ..Sources::default() });
    assert!(text.contains("`nats.replicas` is \"three\", expected a whole number"), "{text}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_number_in_a_text_setting_stays_a_text() {
    let config =
        sources(&[("CLICKHOUSE_PASSWORD", "0123"), ("OXAGEN_MODEL", "4")], &[]).load().unwrap().config;
    assert_eq!((config.clickhouse.password.as_str(), config.model.name.as_deref()), ("0123", Some("4")));
}

#[test]
fn secrets_are_masked_in_urls_too() {
    let environment = [
        ("DATABASE_URL", "postgres://app:hunter2@db:5432/oxagen?sslmode=require"),
        ("NATS_URL", "nats://user:hunter2@a:4222,nats://hunter2@b:4222"),
        ("OXAGEN_MODEL_API_KEY", "hunter2"),
        ("OXAGEN_MODEL_URL", "https://provider.example/v1?key=hunter2"),
    ];
    let shown = serde_json::to_string(&sources(&environment, &[]).load().unwrap().shown()).unwrap();
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("postgres://app:********@db:5432/oxagen?sslmode=require"), "{shown}");
    assert!(shown.contains("nats://user:********@a:4222,nats://********@b:4222"), "{shown}");
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let config = sources(&[("OXAGEN_MODEL", ""), ("CLICKHOUSE_PASSWORD", "")], &[]).load().unwrap().config;
    assert_eq!(config.model.name, None);
}
