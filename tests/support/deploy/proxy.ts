/**
 * Proxies that docs/operations.md documents.
 */
import assert from "node:assert/strict";

const PAGE = new URL("../../../docs/operations.md", import.meta.url);

/** A proxy in front of gateways, without TLS; disposing of it ends it. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** The `host` of requests on {@linkcode connect}. */
  readonly host: string;
  connect(): Promise<Deno.Conn>;
}

/** The first of these files that exists. */
export async function installed(
  ...paths: readonly string[]
): Promise<string | undefined> {
  for (const path of paths) {
    const found = await Deno.stat(path).catch(() => undefined);
    if (found?.isFile === true) return path;
  }
  return undefined;
}

/** The block of docs/operations.md in a language. */
export async function documentedBlock(language: string): Promise<string> {
  const block = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``)
    .exec(await Deno.readTextFile(PAGE))?.[1];
  assert.ok(block !== undefined, `docs/operations.md has no ${language} block`);
  return block;
}
