/**
 * Markdown as it streams. The text is cut into blocks, and only a block that changed is read anew; what is not closed yet
 * (`**bol`, a fence) is closed for the time being. Nothing of it can run, and no picture is fetched from elsewhere.
 */
import type { Root } from "hast";
import { marked } from "marked";
import { type ComponentProps, memo, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import remend from "remend";
import { visit } from "unist-util-visit";
import { Code } from "./code";

function ExternalLink({ href, children }: ComponentProps<"a">) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

const COMPONENTS: Components = {
  a: ExternalLink,
  // An image's address can carry away what the agent knows: it is a link, which a person may follow.
  img: ({ src, alt }) => (
    <ExternalLink href={typeof src === "string" ? src : undefined}>{alt || "image"}</ExternalLink>
  ),
  pre: ({ children }) => <>{children}</>,
  code: ({ className, children }) => {
    const text = String(children ?? "");
    const language = /language-([\w+-]+)/.exec(className ?? "")?.[1];
    // Inline code has neither a language nor a line of its own.
    if (!language && !text.endsWith("\n")) return <code>{children}</code>;
    return <Code code={text.replace(/\n$/, "")} language={language} />;
  },
  table: ({ children }) => (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
};

/** HTML that a model writes is shown as it was written: hidden, it could say other things than it seems to. */
function htmlAsText() {
  return (tree: Root) => visit(tree, "raw", (node) => void Object.assign(node, { type: "text" }));
}

const REHYPE = [htmlAsText, rehypeSanitize];

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} rehypePlugins={REHYPE} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});

export const Markdown = memo(function Markdown({
  text,
  streaming = false,
}: {
  text: string;
  streaming?: boolean;
}) {
  const blocks = useMemo(
    () => marked.lexer(streaming ? remend(text) : text).map((token) => token.raw),
    [text, streaming],
  );
  return (
    <div className="markdown" data-streaming={streaming || undefined}>
      {blocks.map((block, index) => (
        <Block key={index} text={block} />
      ))}
    </div>
  );
});
