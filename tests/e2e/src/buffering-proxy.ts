/** A proxy of the unhelpful sort: it gathers and compresses what it may, and ends what is silent for too long. */
import { createServer, request, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { createGzip } from "node:zlib";

export interface BufferingProxy {
  url: string;
  end(): Promise<void>;
}

export async function bufferingProxy(target: string, idleMs: number): Promise<BufferingProxy> {
  const { host, hostname, port, origin } = new URL(target);
  const server = createServer((asked, answer) => {
    // As a proxy in front of a gateway does, it speaks under the gateway's name.
    const headers = { ...asked.headers, host, ...(asked.headers.origin && { origin }) };
    const on = request({ hostname, port, path: asked.url, method: asked.method, headers }, (came) => {
      const says = (name: string) => String(came.headers[name] ?? "");
      const mayTransform = !says("cache-control").includes("no-transform") && !says("content-encoding");
      const { "content-length": length, ...kept } = came.headers;
      const headers = mayTransform ? { ...kept, "content-encoding": "gzip" } : { ...kept, ...(length && { "content-length": length }) };
      answer.writeHead(came.statusCode ?? 502, headers);
      const into = mayTransform ? createGzip() : undefined;
      into?.pipe(answer);
      const out = into ?? answer;
      if (says("x-accel-buffering") === "no") {
        came.pipe(out);
        return;
      }
      const pieces: Buffer[] = [];
      came.on("data", (piece: Buffer) => pieces.push(piece));
      came.on("end", () => out.end(Buffer.concat(pieces)));
    });
    on.setTimeout(idleMs, () => on.destroy(new Error("idle for too long")));
    on.on("error", () => answer.destroy());
    answer.on("close", () => on.destroy());
    asked.pipe(on);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, end: () => ended(server) };
}

function ended(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}
