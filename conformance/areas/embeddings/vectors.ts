/** What a reply with vectors, its request and the request upstream contain. */
import type { Exchange, UpstreamCall } from "../../evidence/exchange.ts";
import {
  at,
  brief,
  listAt,
  numberAt,
  textAt,
} from "../../evidence/json_path.ts";
import { isObject, type Json, parseJson } from "@model-gateway/replay/json";
import { embeddings } from "@model-gateway/replay/embeddings";
import { parseRequest } from "@model-gateway/replay/parse_request";
import { NotTestable } from "../../suite/finding.ts";
import type { Evidence } from "../../suite/evidence.ts";

export const COMMON = {
  section: "Embeddings (beyond the base specification)",
  mode: "both",
  needs: "embeddings",
  reads: ["embeddings"],
  of: (e: Evidence): readonly Exchange[] => e.replies("embeddings/*/*"),
} as const;

/** The 32-bit floats of a vector, whatever its encoding; none where it has neither. */
export function vectorOf(entry: Json): readonly number[] {
  const value = at(entry, "embedding");
  if (Array.isArray(value)) {
    return value.map((each: Json) => Math.fround(Number(each)));
  }
  if (typeof value !== "string") return [];
  try {
    const bytes = Uint8Array.fromBase64(value);
    const view = new DataView(bytes.buffer);
    return Array.from(
      { length: Math.floor(bytes.length / 4) },
      (_, at) => view.getFloat32(at * 4, true),
    );
  } catch {
    return [];
  }
}

/** The vectors of a reply, in the order of their indexes. */
export function vectorsOf(x: Exchange): readonly (readonly number[])[] {
  return listAt(x.json, "data").toSorted((a, b) =>
    (numberAt(a, "index") ?? 0) - (numberAt(b, "index") ?? 0)
  ).map(vectorOf);
}

/** The inputs of a request; tokens of one input are one. */
export function inputsOf({ request }: Exchange): readonly Json[] {
  const input = at(parseJson(request.body), "input") ?? null;
  return Array.isArray(input) && typeof input[0] !== "number" ? input : [input];
}

export function first(vectors: readonly (readonly number[])[]): string {
  return brief(vectors.map((vector) => vector.slice(0, 3)), 300);
}

export function sentInputs({ json }: UpstreamCall): readonly Json[] {
  const input = at(json, "input");
  return input === undefined
    ? listAt(json, "requests").map((each) =>
      textAt(each, "content.parts.0.text")
    )
    : Array.isArray(input)
    ? input
    : [input];
}

export function sentFor(x: Exchange): UpstreamCall {
  // Requests with the same texts share their marker.
  const call = x.upstream.find((each) =>
    each.dialect === x.via && sentInputs(each).length === inputsOf(x).length
  );
  if (call !== undefined) return call;
  throw new NotTestable("no request upstream", x);
}

/** The vectors that the upstream made. */
export function expectedVectors(x: Exchange): readonly (readonly number[])[] {
  const { steps } = embeddings(parseRequest(sentFor(x)));
  const text = steps.flatMap((step) =>
    step.step === "bytes" ? [new TextDecoder().decode(step.bytes)] : []
  ).join("");
  const reply = parseJson(text);
  return isObject(reply) && reply["embeddings"] !== undefined
    ? listAt(reply, "embeddings").map((one) =>
      listAt(one, "values").map((value) => Math.fround(Number(value)))
    )
    : listAt(reply, "data").map(vectorOf);
}
