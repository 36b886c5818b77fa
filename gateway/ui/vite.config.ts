import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Bytes below which compressing does not pay. */
const SMALL = 1024;

/** Puts a `.br` and a `.gz` beside every text file, so that the gateway only picks one. */
function precompressed(): Plugin {
  return {
    name: "precompressed",
    apply: "build",
    closeBundle() {
      for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (!entry.isFile() || !/\.(js|css|html|svg)$/.test(entry.name)) continue;
        const bytes = readFileSync(path);
        if (bytes.length < SMALL) continue;
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

const gateway = process.env.OXAGEN_URL ?? "http://127.0.0.1:15390";

export default defineConfig({
  plugins: [react(), precompressed()],
  build: { target: "es2023", modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
  // `npm run dev` talks to a running gateway, which expects to be called by its own name.
  server: { proxy: { "/v1": { target: gateway, changeOrigin: true, headers: { origin: gateway } } } },
});
