/**
 * Variants of an event stream with the same meaning: other line ends and field syntax, other
 * segment boundaries.
 */
import type { ScriptStep } from "../script.ts";

/** Rewrites frames as the delivery parameters request. */
export function applyWireVariants(
  frames: readonly string[],
  params: Readonly<Record<string, string>>,
): string[] {
  let variant = [...frames];
  if (params["ids"] !== undefined) {
    variant = variant.map((frame, at) => `id: ${at}\n${frame}`);
  }
  if (params["multiline"] !== undefined) {
    variant = variant.map((frame) =>
      frame.replace("data: {", "data: {\ndata: ")
    );
  }
  if (params["nospace"] !== undefined) {
    variant = variant.map((frame) => frame.replaceAll(/^(\w+): /gm, "$1:"));
  }
  if (params["comments"] !== undefined) {
    variant = variant.map((frame) => `: keep-alive\n\n${frame}`);
  }
  if (params["crlf"] !== undefined) {
    variant = variant.map((frame) => frame.replaceAll(/\r?\n/g, "\r\n"));
  }
  if (params["cr"] !== undefined) {
    variant = variant.map((frame) => frame.replaceAll(/\r?\n/g, "\r"));
  }
  if (params["bom"] !== undefined) {
    variant = variant.map((frame, at) => at === 0 ? "\ufeff" + frame : frame);
  }
  return variant;
}

/** Cuts bytes into segments of `size` bytes, each sent separately. */
export function cutEvery(whole: Uint8Array, size: number): ScriptStep[] {
  const steps: ScriptStep[] = [];
  for (let at = 0; at < whole.length; at += size) {
    steps.push({
      step: "bytes",
      bytes: whole.subarray(at, at + size),
      edge: true,
    });
  }
  return steps;
}

/** Cuts bytes inside each multi-byte character, in turn after its first, second or third byte. */
export function cutCharacters(whole: Uint8Array): ScriptStep[] {
  const steps: ScriptStep[] = [];
  let from = 0;
  let turn = 0;
  for (let at = 0; at < whole.length; at++) {
    const lead = whole[at] ?? 0;
    const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (size === 1) continue;
    const cut = at + 1 + (turn++ % (size - 1));
    steps.push({ step: "bytes", bytes: whole.subarray(from, cut), edge: true });
    from = cut;
    at += size - 1;
  }
  if (from < whole.length) {
    steps.push({ step: "bytes", bytes: whole.subarray(from), edge: true });
  }
  return steps;
}
