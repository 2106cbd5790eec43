/** Other spellings of the same event stream, and cuts of the same bytes: none of them changes what is said. */
import type { Step } from "./script.ts";

/** Frames spelled as the parameters say; see `DELIVERY_PARAMS`. */
export function respell(
  frames: readonly string[],
  params: Readonly<Record<string, string>>,
): string[] {
  let spelled = [...frames];
  if (params["ids"] !== undefined) {
    spelled = spelled.map((frame, at) => `id: ${at}\n${frame}`);
  }
  if (params["multiline"] !== undefined) {
    spelled = spelled.map((frame) =>
      frame.replace("data: {", "data: {\ndata: ")
    );
  }
  if (params["nospace"] !== undefined) {
    spelled = spelled.map((frame) => frame.replaceAll(/^(\w+): /gm, "$1:"));
  }
  if (params["comments"] !== undefined) {
    spelled = spelled.map((frame) => `: keep-alive\n\n${frame}`);
  }
  if (params["crlf"] !== undefined) {
    spelled = spelled.map((frame) => frame.replaceAll(/\r?\n/g, "\r\n"));
  }
  if (params["cr"] !== undefined) {
    spelled = spelled.map((frame) => frame.replaceAll(/\r?\n/g, "\r"));
  }
  if (params["bom"] !== undefined) {
    spelled = spelled.map((frame, at) => at === 0 ? "\ufeff" + frame : frame);
  }
  return spelled;
}

/** Segments of that many bytes, each with an edge after it. */
export function cutEvery(whole: Uint8Array, size: number): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < whole.length; at += size) {
    steps.push({
      step: "bytes",
      bytes: whole.subarray(at, at + size),
      edge: true,
    });
  }
  return steps;
}

/** Segments whose edges lie inside the characters of several bytes, in turn after their first, second, third byte. */
export function cutCharacters(whole: Uint8Array): Step[] {
  const steps: Step[] = [];
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
