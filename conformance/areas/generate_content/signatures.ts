/** The signatures in the replies of upstreams that sign their reasoning. */
import { WRITTEN } from "@model-gateway/replay/fixtures";

function found(fixture: string, pattern: RegExp): readonly string[] {
  const text = JSON.stringify(WRITTEN.get(fixture) ?? {}).replaceAll(
    '\\"',
    '"',
  );
  return [
    ...new Set([...text.matchAll(pattern)].map(([, value = ""]) => value)),
  ];
}

/** The signatures that an upstream of the format sends with a fixture, in order. */
export function contentSignatures(fixture: string): readonly string[] {
  return found(fixture, /"thoughtSignature": ?"([^"]+)"/g);
}

/** The signature of a reply with reasoning and a call, by the dialect of its upstream. */
export const SIGNATURE_OF: Readonly<Record<string, string | undefined>> = Object
  .fromEntries(
    ["messages", "generate_content"].map((dialect) => [
      dialect,
      found("thinking-tool", /"(Erx0[^"]*)"/g)[0],
    ]),
  );
