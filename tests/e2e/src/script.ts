/** What the model says. Each behaviour has a word of its own, which a test puts into its message. */

const code = (python: string, more = {}) => ({
  name: "agent_code_execute",
  arguments: { language: "python", code: python, ...more },
});
/** The longest that code may run. */
const LONG = { timeoutMs: 300_000 };

const COUNT = `import time
for n in range(1, 6):
    print("line", n, flush=True)
    time.sleep(0.4)
`;

/** Prints, and goes on when the stage is told `go`. */
export const held = (line: string, end: string) => `import os, time
for n in range(1, 4):
    print("${line}", n, flush=True)
while not os.path.exists("/tmp/go"):
    time.sleep(0.05)
print("${end}", flush=True)
`;
const HELD = held("line", "woke up");

const MARKDOWN = `Here is **what I found**, in a few forms.

1. A list with \`inline code\`
2. and a [link](https://example.com)

| name | value |
| --- | ---: |
| alpha | 1 |
| beta | 22 |

\`\`\`python
def fib(n: int) -> int:
    """The n-th Fibonacci number."""
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
\`\`\`

> It is enough to look once.
`;

const plan = (title: string, steps: object[]) => ({
  name: "agent_plan_create",
  arguments: { title, rationale: "So that you see what I mean to do before I do it.", steps },
});

/** A step that is granted with exactly this code. */
const step = (id: string, summary: string, python: string, dependsOn: string[] = []) => ({
  id,
  summary,
  capability: "agent.code.execute",
  input: { language: "python", code: python },
  dependsOn,
});

const when = (word: string) => ({ userContains: word });

export const SCRIPT = [
  {
    name: "counts",
    match: when("count-slowly"),
    replies: [
      { reasoning: "The person wants to see numbers as they come. Python prints them.", text: "I will count with Python.", delayMs: 10, calls: [code(COUNT)] },
      { text: "It printed **{{lastToolResult.stdout.lastLine | lastToolResult.message | lastToolResult}}**.", delayMs: 10 },
    ],
  },
  {
    name: "prints, then waits",
    match: when("print-then-wait"),
    replies: [
      {
        reasoning: "The person wants to see lines as they come. Python prints them.",
        text: "I print, then wait.",
        calls: [code(HELD, LONG)],
      },
      { text: "The last line was {{lastToolResult.stdout.lastLine}}." },
    ],
  },
  {
    name: "goes out",
    match: when("reach-out"),
    replies: [
      {
        text: "I will reach out to the network.",
        calls: [code(HELD, { ...LONG, network: "allow" })],
      },
      { text: "I do not know whether it happened, and will not try again by myself." },
    ],
  },
  {
    name: "falls silent",
    match: when("fall-silent"),
    reply: { text: "These are the first words of an answer that pauses before its end.", chunkSize: 6, stallAfter: 6, stallMs: 5000 },
  },
  {
    // For as long as a test wants: it ends when the turn is stopped.
    name: "falls silent for good",
    match: when("first-words"),
    reply: { text: "These are the first words of an answer that never ends.", chunkSize: 6, stallAfter: 6, stallMs: 600_000 },
  },
  {
    name: "says the rest later",
    match: when("two-halves"),
    reply: { text: "These are the first words of an answer that goes on when it may.", chunkSize: 6, holdAfter: 6 },
  },
  {
    // What a person has made of the plan is what it does.
    name: "carries out a plan",
    match: when("carry-out"),
    replies: [
      {
        reasoning: "Nothing may run yet. A plan says what is to come.",
        text: "I plan first.",
        calls: [
          plan("Two numbers and a word", [
            { ...step("compute", "Compute the number", "print('as proposed')"), intent: "The rest needs it." },
            { id: "count", summary: "Count slowly", capability: "agent.code.execute", dependsOn: ["compute"] },
            { id: "tell", summary: "Tell what came of it", dependsOn: ["compute", "count"] },
          ]),
        ],
      },
      { text: "As planned.", calls: [code("{{lastToolResult.code}}")] },
      { text: "Now I count.", calls: [code(HELD, LONG)] },
      { text: "And one thing more.", calls: [code("print('gone')")] },
      {
        text: "I left that. You said: {{lastToolResult.note | lastToolResult.message | lastToolResult}}",
        delayMs: 10,
      },
    ],
  },
  {
    name: "keeps to its plan",
    match: when("keep-to-it"),
    replies: [
      { text: "I plan.", calls: [plan("Two steps", [step("one", "Say one", "print(1)"), step("two", "Say two", "print(2)", ["one"])])] },
      { text: "The first.", calls: [code("print(1)")] },
      { text: "The second.", calls: [code("print(2)")] },
      { text: "Both are done." },
    ],
  },
  {
    name: "is told no",
    match: when("rejected-plan"),
    replies: [
      { text: "I plan.", calls: [plan("Something bold", [step("bold", "Be bold", "print('bold')")])] },
      { text: "Then not. You said: {{lastToolResult.note | lastToolResult.message | lastToolResult}}" },
    ],
  },
  {
    name: "asks for the same again",
    match: when("once-more"),
    replies: [{ text: "I ask.", calls: [code("print('the same')")] }, { text: "It is done." }],
  },
  {
    name: "refused",
    match: when("delete-everything"),
    replies: [
      { text: "I would run this.", calls: [code("print('gone')")] },
      { text: "Understood, I will not. You said: {{lastToolResult.note | lastToolResult.message | lastToolResult}}", delayMs: 10 },
    ],
  },
  {
    name: "two at once",
    match: when("two-things"),
    replies: [
      { text: "Two things, both wait for you.", calls: [code("print('first')"), code("print('second')")] },
      { text: "Both are answered." },
    ],
  },
  { name: "markdown", match: when("show-markdown"), reply: { text: MARKDOWN, delayMs: 4, chunkSize: 12 } },
  {
    name: "hostile",
    match: when("hostile-text"),
    reply: {
      text: '<script>window.hacked = 1</script><img src="https://evil.example/x.png" onerror="window.hacked = 1">![picture](https://evil.example/leak.png)[click](javascript:window.hacked=1) <b onclick="window.hacked=1">bold</b> done.',
    },
  },
  { name: "slow", match: when("speak-slowly"), reply: { text: "word ".repeat(120).trim(), delayMs: 60, chunkSize: 5 } },
  {
    name: "fast",
    match: when("speak-fast"),
    reply: { text: "token ".repeat(600).trim(), delayMs: 10, chunkSize: 6 },
  },
  { name: "long", match: when("long-answer"), reply: { text: `**An answer.** ${"some words ".repeat(1_000)}`, chunkSize: 4_000 } },
  { name: "fails", match: when("fail-now"), reply: { status: 401, body: { error: { message: "no such key" } } } },
  {
    name: "broken code",
    match: when("broken-code"),
    replies: [
      { text: "I try.", calls: [code("import sys\nprint('so far')\nsys.exit('it broke')")] },
      { text: "It broke with an error." },
    ],
  },
  {
    name: "large output",
    match: when("large-output"),
    replies: [{ text: "A lot.", calls: [code("for n in range(20000):\n    print('row', n)")] }, { text: "That was a lot." }],
  },
  {
    name: "tools",
    match: when("Which tools"),
    replies: [
      { text: "Let me look.", calls: [{ name: "agent_tool_list", arguments: {} }] },
      { text: "I can use {{lastToolResult.tools.name}}." },
    ],
  },
  { name: "anything else", reply: { text: "You said: “{{lastUser}}”.", delayMs: 5 } },
];
