//! A table of figures, each with its baseline, its ratio to it, and its goal.

use std::fmt::Write;

use serde_json::{Value, json};

/// A goal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// It is a baseline, or explains another figure.
    None,
}

/// One figure.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    baseline: Option<(&'static str, f64)>,
    goal: Goal,
}

impl Figure {
    /// A figure without baseline and goal.
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { name: name.into(), value, unit, baseline: None, goal: Goal::None }
    }

    /// Beside this baseline, in the same unit.
    pub(crate) fn beside(self, name: &'static str, value: f64) -> Self {
        Self { baseline: Some((name, value)), ..self }
    }

    /// With this goal.
    pub(crate) fn goal(self, goal: Goal) -> Self {
        Self { goal, ..self }
    }

    fn is_met(&self) -> Option<bool> {
        match self.goal {
            Goal::AtMost(most) => Some(self.value <= most),
            Goal::AtLeast(least) => Some(self.value >= least),
            Goal::None => None,
        }
    }

    fn cells(&self) -> [String; 6] {
        let (baseline, ratio) = match self.baseline {
            Some((name, value)) => {
                (format!("{name}: {}", number(value)), format!("{:.2}", self.value / value))
            }
            None => (String::new(), String::new()),
        };
        let goal = match self.goal {
            Goal::AtMost(most) => format!("≤ {}", number(most)),
            Goal::AtLeast(least) => format!("≥ {}", number(least)),
            Goal::None => String::new(),
        };
        let met = self.is_met().map_or("", |met| if met { "met" } else { "missed" });
        [
            self.name.clone(),
            format!("{} {}", number(self.value), self.unit),
            baseline,
            ratio,
            goal,
            met.to_owned(),
        ]
    }

    fn json(&self) -> Value {
        let baseline = self
            .baseline
            .map(|(name, value)| json!({"name": name, "value": value, "ratio": self.value / value}));
        let goal = match self.goal {
            Goal::AtMost(most) => json!({"atMost": most}),
            Goal::AtLeast(least) => json!({"atLeast": least}),
            Goal::None => Value::Null,
        };
        json!({"name": self.name, "value": self.value, "unit": self.unit, "baseline": baseline, "goal": goal, "met": self.is_met()})
    }
}

const HEADS: [&str; 6] = ["figure", "measured", "baseline in the same run", "ratio", "goal", ""];

/// As a Markdown table whose columns line up.
pub(crate) fn table(figures: &[Figure]) -> String {
    let rows: Vec<_> =
        [HEADS.map(str::to_owned)].into_iter().chain(figures.iter().map(Figure::cells)).collect();
    let wide = |nth: usize| rows.iter().map(|row| row[nth].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..HEADS.len()).map(wide).collect();
    let mut text = String::new();
    for (nth, row) in rows.iter().enumerate() {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
        if nth == 0 {
            let lines: Vec<_> = widths.iter().map(|width| "-".repeat(*width)).collect();
            let _ = writeln!(text, "| {} |", lines.join(" | "));
        }
    }
    text
}

/// As JSON.
pub(crate) fn json(figures: &[Figure]) -> Value {
    figures.iter().map(Figure::json).collect()
}

fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 1000.0 => {
            let digits = format!("{value:.0}");
            let mut text = String::new();
            for (nth, digit) in digits.chars().enumerate() {
                if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
                    text.push(' ');
                }
                text.push(digit);
            }
            text
        }
        middle if middle >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up_and_says_what_was_met() {
        let figures = [
            Figure::new("commits", 12_345.6, "/s"),
            Figure::new("latency", 30.0, "ms").beside("bare", 10.0).goal(Goal::AtMost(25.0)),
        ];
        let table = table(&figures);
        let lines: Vec<_> = table.lines().collect();
        assert!(lines[2].contains("12 346 /s"), "{table}");
        assert!(
            lines[3].contains("bare: 10.0") && lines[3].contains("3.00") && lines[3].contains("missed"),
            "{table}"
        );
        assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()), "{table}");
    }
}
