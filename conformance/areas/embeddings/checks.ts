/** Checks of the area `embeddings`. */
import type { Exchange, UpstreamCall } from "../../evidence/exchange.ts";
import { headerOf } from "../../evidence/exchange.ts";
import {
  at,
  brief,
  listAt,
  numberAt,
  textAt,
} from "../../evidence/json_path.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import { embeddings } from "@model-gateway/replay/embeddings";
import { parseRequest } from "@model-gateway/replay/parse_request";
import { withAt } from "../../reference_gateway/change_reply.ts";
import {
  fieldsOf,
  literal,
  objects,
  type Place,
  valueOf,
  whole,
  words,
} from "../../reference_gateway/field.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { fact, NotTestable, observed, statusIs } from "../../suite/finding.ts";
import { contentType } from "../transport/checks_request_ids.ts";
import { DIMENSIONS, WRONG } from "./scenarios.ts";

const BOTH = ["embeddings"];

/** Changes the replies with vectors. */
function inReply(change: (body: JsonObject, x: Vectors) => JsonObject): Hooks {
  return {
    reply: (reply, { endpoint, request }) =>
      endpoint === "embeddings" && reply.status === 200
        ? {
          ...reply,
          body: change(reply.body, { asked: parseJson(request.body) }),
        }
        : reply,
  };
}

/** What a fault may look at. */
interface Vectors {
  /** The body of the request. */
  readonly asked: Json | undefined;
}

/** Changes each entry of a reply; undefined removes one. */
function inEntries(
  change: (entry: JsonObject, index: number) => JsonObject | undefined,
): Hooks {
  return inReply((body) => ({
    ...body,
    data: listAt(body, "data").flatMap((entry, index): Json[] => {
      const changed = change(objectOf(entry), index);
      return changed === undefined ? [] : [changed];
    }),
  }));
}

const BODY: Place = {
  objects: ({ json }) => [{ json }],
  put: (path, value) =>
    inReply((body) => withAt(body, path, valueOf(value, body))),
};
const ENTRIES: Place = {
  objects: ({ json }) => listAt(json, "data").map((entry) => ({ json: entry })),
  put: (path, value) =>
    inEntries((entry) => withAt(entry, path, valueOf(value, entry))),
};

const MEMBERS = fieldsOf(BODY, {
  object: literal("list"),
  data: objects(1),
  model: words("a model id"),
});
const ENTRY = fieldsOf(ENTRIES, {
  object: literal("embedding"),
  index: whole(0),
});
const USAGE = fieldsOf(BODY, {
  "usage.prompt_tokens": whole(1),
  "usage.total_tokens": whole(1),
});

/** The 32-bit floats of a vector, whatever its encoding; none where it has neither. */
function vectorOf(entry: Json): readonly number[] {
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
function vectorsOf(x: Exchange): readonly (readonly number[])[] {
  return listAt(x.json, "data").toSorted((a, b) =>
    (numberAt(a, "index") ?? 0) - (numberAt(b, "index") ?? 0)
  ).map(vectorOf);
}

/** The inputs of a request; tokens of one input are one. */
function inputsOf({ request }: Exchange): readonly Json[] {
  const input = at(parseJson(request.body), "input") ?? null;
  return Array.isArray(input) && typeof input[0] !== "number" ? input : [input];
}

function first(vectors: readonly (readonly number[])[]): string {
  return brief(vectors.map((vector) => vector.slice(0, 3)), 300);
}

/** The inputs of a request upstream. */
function sentInputs({ json }: UpstreamCall): readonly Json[] {
  const input = at(json, "input");
  return input === undefined
    ? listAt(json, "requests").map((each) =>
      textAt(each, "content.parts.0.text")
    )
    : Array.isArray(input)
    ? input
    : [input];
}

/** The request upstream of an exchange. */
function sentFor(x: Exchange): UpstreamCall {
  // Requests with the same texts share their marker.
  const call = x.upstream.find((each) =>
    each.dialect === x.via && sentInputs(each).length === inputsOf(x).length
  );
  if (call !== undefined) return call;
  throw new NotTestable("no request upstream", x);
}

/** The vectors that the upstream made. */
function expectedVectors(x: Exchange): readonly (readonly number[])[] {
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

const sameVectors = (
  one: readonly (readonly number[])[],
  other: readonly (readonly number[])[] | undefined,
): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Refusals of one status get another. */
function status(from: number, to: number): Hooks {
  return {
    reply: (reply, { endpoint }) =>
      endpoint === "embeddings" && reply.status === from
        ? { ...reply, status: to }
        : reply,
  };
}

/** All checks of the area. */
export const EMBEDDINGS_CHECKS: readonly Check[] = checksWith({
  section: "Embeddings (beyond the base specification)",
  mode: "both",
  needs: "embeddings",
  reads: BOTH,
  of: (e: Evidence) => e.replies("embeddings/*/*"),
}, [
  {
    id: "embeddings.members",
    rule: "A reply has `object` (`list`), `data`, `model` and `usage`.",
    each: (x) =>
      [...MEMBERS.each(x), contentType(x, "application/json")].flat(),
    misses: MEMBERS.misses,
  },
  {
    id: "embeddings.entries",
    rule:
      "An entry of `data` has `object` (`embedding`), `index` and `embedding`.",
    each: (x) => [
      ...ENTRY.each(x),
      observed("embedding", first(vectorsOf(x)), x).mustBe(
        "numbers, in each entry",
        vectorsOf(x).every((vector) =>
          vector.length > 0 && vector.every(Number.isFinite)
        ),
      ),
    ],
    misses: {
      ...ENTRY.misses,
      "embedding-absent": inEntries(({ embedding: _, ...entry }) => entry),
      "embedding-empty": inEntries((entry) => ({ ...entry, embedding: [] })),
      "embedding-texts": inEntries((entry) => ({
        ...entry,
        embedding: ["a", "b"],
      })),
    },
  },
  {
    id: "embeddings.model",
    rule: "`model` is the id that the request named.",
    level: "contract",
    each: (x) => {
      const asked = textAt(parseJson(x.request.body), "model");
      return fact(
        textAt(x.json, "model") === asked,
        "model",
        asked,
        at(x.json, "model"),
        x,
      );
    },
    misses: {
      dated: BODY.put("model", (body) => `${textAt(body, "model")}-20260101`),
      vendors: BODY.put("model", "text-embedding-3-small"),
    },
  },
  {
    id: "embeddings.usage",
    rule:
      "`usage` counts the tokens of all inputs, in `prompt_tokens` and `total_tokens` alike.",
    each: (x) => [
      ...USAGE.each(x),
      fact(
        at(x.json, "usage.total_tokens") === at(x.json, "usage.prompt_tokens"),
        "total_tokens",
        `${at(x.json, "usage.prompt_tokens")}`,
        at(x.json, "usage.total_tokens"),
        x,
      ),
    ],
    misses: {
      ...USAGE.misses,
      "total-more": BODY.put(
        "usage.total_tokens",
        (body) => (numberAt(body, "usage.prompt_tokens") ?? 0) + 1,
      ),
    },
  },
  {
    id: "embeddings.usage-grows",
    rule: "More inputs count more tokens.",
    judge: (e) =>
      e.replies("embeddings/*/texts").map((x) => {
        const [one] = e.replies(x.label.replace("/texts", "/text"));
        const [few, many] = [one, x].map((each) =>
          numberAt(each?.json, "usage.prompt_tokens") ?? 0
        );
        return fact(
          (many ?? 0) > (few ?? 0),
          "prompt_tokens",
          `more than ${few}`,
          many,
          x,
        );
      }),
    misses: {
      fixed: inReply((body) => ({
        ...body,
        usage: { prompt_tokens: 4, total_tokens: 4 },
      })),
    },
  },
  {
    id: "embeddings.one-each",
    rule: "Each input has one vector, at its place.",
    each: (x) =>
      observed("indexes", listAt(x.json, "data").map((e) => at(e, "index")), x)
        .mustBe(
          `0 to ${inputsOf(x).length - 1}, in order`,
          listAt(x.json, "data").map((entry) => at(entry, "index")).join() ===
            inputsOf(x).map((_, index) => index).join(),
        ),
    misses: {
      "first-only": inEntries((entry, index) =>
        index === 0 ? entry : undefined
      ),
      "last-lost": inReply((body) => ({
        ...body,
        data: listAt(body, "data").slice(0, -1),
      })),
      "index-fixed": inEntries((entry) => ({ ...entry, index: 0 })),
      "from-one": inEntries((entry, index) => ({ ...entry, index: index + 1 })),
    },
  },
  {
    id: "embeddings.one-length",
    rule: "All vectors of a model have one length.",
    judge: (e) =>
      e.replies("embeddings/*/*").map((x) => {
        const lengths = new Set(vectorsOf(x).map(({ length }) => length));
        return observed("lengths", [...lengths], x).mustBe(
          "one",
          lengths.size === 1 && !lengths.has(0),
        );
      }),
    misses: {
      "second-short": inEntries((entry, index) =>
        index === 1 && Array.isArray(entry["embedding"])
          ? { ...entry, embedding: entry["embedding"].slice(1) }
          : entry
      ),
    },
  },
  {
    id: "embeddings.differ",
    rule: "Different texts have different vectors.",
    judge: (e) =>
      e.replies("embeddings/*/texts").map((x) => {
        const vectors = vectorsOf(x).map((vector) => brief(vector, 4000));
        return observed("vectors", first(vectorsOf(x)), x).mustBe(
          "no two of them equal",
          new Set(vectors).size === vectors.length && vectors.length > 1,
        );
      }),
    misses: {
      same: inReply((body) => {
        const [one] = listAt(body, "data");
        return {
          ...body,
          data: listAt(body, "data").map((entry) => ({
            ...objectOf(entry),
            embedding: at(one, "embedding") ?? [],
          })),
        };
      }),
    },
  },
  {
    id: "embeddings.floats",
    rule:
      "Without `encoding_format`, and with `float`, a vector is a list of numbers.",
    judge: (e) =>
      ["text", "texts", "float"].flatMap((name) =>
        e.replies(`embeddings/*/${name}`).map((x) =>
          observed("embedding", brief(at(x.json, "data.0.embedding")), x)
            .mustBe(
              "lists of numbers",
              listAt(x.json, "data").every((entry) =>
                listAt(entry, "embedding").length > 0 &&
                listAt(entry, "embedding").every((each) =>
                  typeof each === "number"
                )
              ),
            )
        )
      ),
    misses: {
      "base64-always": {
        request: (request, { endpoint }) =>
          endpoint === "embeddings"
            ? {
              ...request,
              body: request.body.replace(
                /^\{/,
                '{"encoding_format":"base64",',
              ).replace(/,"encoding_format":"float"/, ""),
            }
            : request,
      },
      "texts": inEntries((entry) =>
        Array.isArray(entry["embedding"])
          ? { ...entry, embedding: entry["embedding"].map(String) }
          : entry
      ),
    },
  },
  {
    id: "embeddings.base64",
    rule:
      "With `base64` a vector is the base64 of its little-endian 32-bit floats, the same as with `float`.",
    judge: (e) =>
      e.replies("embeddings/*/base64").map((x) => {
        const [plain] = e.replies(x.label.replace("/base64", "/float"));
        const expected = plain === undefined ? [] : vectorsOf(plain);
        return fact(
          typeof at(x.json, "data.0.embedding") === "string" &&
            close(vectorsOf(x), expected),
          "vectors",
          first(expected),
          first(vectorsOf(x)),
          x,
        );
      }),
    misses: {
      "as-list": {
        request: (request, { endpoint }) =>
          endpoint === "embeddings"
            ? { ...request, body: request.body.replace(/"base64"/, '"float"') }
            : request,
      },
      "big-endian": encodedAs((view, at, value) =>
        view.setFloat32(at * 4, value)
      ),
      "halves": encodedAs((view, at, value) =>
        view.setFloat32(at * 4, value / 2, true)
      ),
    },
  },
  {
    id: "embeddings.dimensions",
    rule: "`dimensions` is the length of the vectors.",
    mode: "replay",
    reads: ["embeddings-length"],
    judge: (e) =>
      e.replies("embeddings/*/*").map((x) => {
        const lengths = vectorsOf(x).map(({ length }) => length);
        return observed("lengths", lengths, x).mustBe(
          `${DIMENSIONS} each`,
          lengths.length > 0 && lengths.every((each) => each === DIMENSIONS),
        );
      }),
    misses: {
      ignored: {
        request: (request, { endpoint }) =>
          endpoint === "embeddings"
            ? {
              ...request,
              body: request.body.replace(/,"dimensions":\d+/, ""),
            }
            : request,
      },
    },
  },
  {
    id: "embeddings.inputs",
    rule: "All inputs reach the vendor, unchanged and in order.",
    mode: "replay",
    reads: BOTH,
    each: (x) => {
      const sent = sentInputs(sentFor(x));
      return observed("inputs upstream", brief(sent, 400), x).mustBe(
        brief(inputsOf(x), 400),
        JSON.stringify(sent) === JSON.stringify(inputsOf(x)),
      );
    },
    misses: {
      "trimmed": inUpstream((text) => text.replace(/\.$/, "")),
      "lower-case": inUpstream((text) => text.toLowerCase()),
      "reversed": {
        upstream: (call, { endpoint }) =>
          endpoint === "embeddings"
            ? {
              ...call,
              body: Object.fromEntries(
                Object.entries(call.body).map(([name, value]) => [
                  name,
                  Array.isArray(value) ? value.toReversed() : value,
                ]),
              ),
            }
            : call,
      },
    },
  },
  {
    id: "embeddings.vectors",
    rule: "The vectors are those that the vendor made.",
    mode: "replay",
    reads: [...BOTH, "embeddings-length"],
    each: (x) =>
      fact(
        sameVectors(vectorsOf(x), expectedVectors(x)),
        "vectors",
        first(expectedVectors(x)),
        first(vectorsOf(x)),
        x,
      ),
    misses: {
      rounded: inEntries((entry) =>
        Array.isArray(entry["embedding"])
          ? {
            ...entry,
            embedding: entry["embedding"].map((each: Json) =>
              Number(Number(each).toFixed(3))
            ),
          }
          : entry
      ),
      swapped: inReply((body) => {
        const all = listAt(body, "data");
        return {
          ...body,
          data: all.map((entry, index) => ({
            ...objectOf(entry),
            embedding: at(all.at(-1 - index), "embedding") ?? [],
          })),
        };
      }),
    },
  },
  {
    id: "embeddings.tokens",
    rule: "An input may be its tokens.",
    mode: "replay",
    reads: ["embeddings-tokens"],
    judge: (e) =>
      e.replies("embeddings/*/*").map((x) => {
        const expected = x.label.endsWith("/several-tokens") ? 2 : 1;
        return observed("vectors", first(vectorsOf(x)), x).mustBe(
          `${expected}`,
          vectorsOf(x).length === expected,
        );
      }),
    misses: {
      "one-each": inReply((body, { asked }) =>
        typeof at(asked, "input.0") === "number"
          ? {
            ...body,
            data: listAt(asked, "input").map((_, index) => ({
              ...objectOf(listAt(body, "data")[0]),
              index,
            })),
          }
          : body
      ),
      "refused": {
        accept: (problem, body, { endpoint }) =>
          endpoint === "embeddings" && Array.isArray(at(body, "input.0"))
            ? { status: 400, type: "invalid_request_error", message: "input" }
            : problem,
      },
    },
  },
  {
    id: "embeddings.wrong",
    rule:
      "A wrong request is refused with 400, and `error.param` is the member with the mistake.",
    reads: ["embeddings-refused"],
    judge: (e) =>
      Object.entries(WRONG).flatMap(([name, { param }]) =>
        e.matching(`embeddings/*/${name}`).flatMap((x) => [
          statusIs(x, 400),
          observed("error.param", at(x.json, "error.param"), x).mustBe(
            `${param}`,
            param.test(textAt(x.json, "error.param")),
          ),
        ])
      ),
    misses: {
      "as-500": status(400, 500),
      "unnamed": {
        problem: ({ param: _, ...problem }) => problem,
      },
      "empty-accepted": {
        accept: (problem, body, { endpoint }) =>
          endpoint === "embeddings" && body["input"] === ""
            ? undefined
            : problem,
      },
      "none-accepted": {
        accept: (problem, body, { endpoint }) =>
          endpoint === "embeddings" && brief(body["input"]) === "[]"
            ? undefined
            : problem,
      },
    },
  },
  {
    id: "embeddings.unknown-model",
    rule: "An unknown model is refused with 404.",
    reads: ["embeddings-refused"],
    judge: (e) =>
      e.matching("embeddings/*/unknown-model").map((x) =>
        statusIs(x, 404, 400)
      ),
    misses: {
      "as-500": status(404, 500),
      "as-200": status(404, 200),
    },
  },
  {
    id: "embeddings.generating-model",
    rule:
      "A model that generates makes no vectors: it is refused with 400 or 404.",
    reads: ["embeddings-refused"],
    judge: (e) =>
      e.matching("embeddings/*/generating").map((x) => statusIs(x, 400, 404)),
    misses: { "as-500": status(404, 500), "as-200": status(404, 200) },
  },
  {
    id: "embeddings.key-needed",
    rule: "The endpoint needs a key.",
    reads: ["embeddings-refused"],
    judge: (e) =>
      e.matching("embeddings/*/no-key").map((x) => statusIs(x, 401)),
    misses: {
      open: {
        admit: (problem, { endpoint }) =>
          endpoint === "embeddings" ? undefined : problem,
      },
    },
  },
  {
    id: "embeddings.limited",
    rule: "A vendor's limit is 429, with `retry-after`.",
    mode: "replay",
    reads: ["embeddings-failures"],
    judge: (e) =>
      e.matching("embeddings/*/limited").flatMap((x) => [
        statusIs(x, 429),
        observed("retry-after", headerOf(x, "retry-after") ?? "none", x).mustBe(
          "7",
          headerOf(x, "retry-after") === "7",
        ),
      ]),
    misses: {
      "as-500": status(429, 500),
      "no-delay": {
        problem: ({ retryAfter: _, ...problem }) => problem,
      },
    },
  },
  {
    id: "embeddings.failing",
    rule: "A vendor's failure is an HTTP error, never an empty list.",
    mode: "replay",
    reads: ["embeddings-failures"],
    judge: (e) =>
      e.matching("embeddings/*/failing").map((x) =>
        observed("status", `${x.head?.status}: ${x.text.slice(0, 160)}`, x)
          .mustBe(
            "500 to 599 with an error",
            (x.head?.status ?? 0) >= 500 && isObject(at(x.json, "error")),
          )
      ),
    misses: {
      "empty-list": {
        reply: (reply, { endpoint }) =>
          endpoint === "embeddings" && reply.status >= 500
            ? { ...reply, status: 200, body: { object: "list", data: [] } }
            : reply,
      },
      "as-400": status(500, 400),
    },
  },
]);

/** Vectors are equal up to the precision of 32 bits; a real vendor computes them anew. */
function close(
  one: readonly (readonly number[])[],
  other: readonly (readonly number[])[],
): boolean {
  return one.length > 0 && one.length === other.length &&
    one.every((vector, index) => {
      const against = other[index] ?? [];
      return vector.length === against.length &&
        vector.every((value, at) =>
          Math.abs(value - (against[at] ?? 9)) < 0.01
        );
    });
}

/** Writes the floats of base64 vectors in another way. */
function encodedAs(
  write: (view: DataView, at: number, value: number) => void,
): Hooks {
  return inEntries((entry) => {
    if (typeof entry["embedding"] !== "string") return entry;
    const vector = vectorOf(entry);
    const view = new DataView(new ArrayBuffer(vector.length * 4));
    vector.forEach((value, at) => write(view, at, value));
    return {
      ...entry,
      embedding: new Uint8Array(view.buffer).toBase64(),
    };
  });
}

/** Changes the texts of a request upstream. */
function inUpstream(change: (text: string) => string): Hooks {
  const texts = (value: Json): Json =>
    typeof value === "string"
      ? change(value)
      : Array.isArray(value)
      ? value.map(texts)
      : isObject(value)
      ? Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [
          name,
          name === "text" || typeof inner !== "string"
            ? texts(inner ?? null)
            : inner,
        ]),
      )
      : value;
  return {
    upstream: (call, { endpoint }) =>
      endpoint === "embeddings"
        ? {
          ...call,
          body: {
            ...call.body,
            ...(call.body["input"] === undefined
              ? {}
              : { input: texts(call.body["input"]) }),
            ...(call.body["requests"] === undefined
              ? {}
              : { requests: texts(call.body["requests"]) }),
          },
        }
        : call,
  };
}
