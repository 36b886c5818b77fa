/** What the model says. Each behaviour has a word of its own, which a test puts into its message. */

const code = (python: string) => ({ name: "agent_code_execute", arguments: { language: "python", code: python } });

const COUNT = `import time
for n in range(1, 6):
    print("line", n, flush=True)
    time.sleep(0.4)
`;

const WAIT = `import time
for n in range(1, 4):
    print("line", n, flush=True)
time.sleep(6)
print("woke up", flush=True)
`;

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
    replies: [{ text: "I print, then wait.", calls: [code(WAIT)] }, { text: "The last line was {{lastToolResult.stdout.lastLine}}." }],
  },
  {
    name: "goes out",
    match: when("reach-out"),
    replies: [
      {
        text: "I will reach out to the network.",
        calls: [{ name: "agent_code_execute", arguments: { language: "python", code: WAIT, network: "allow" } }],
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
