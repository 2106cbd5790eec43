/** Checks of the area `embeddings`: the vectors. */
import { replaceInBody } from "../../faults/change_hooks.ts";
import { at, brief, listAt } from "../../evidence/json_path.ts";
import { type Json, objectOf } from "@model-gateway/replay/json";
import { type Check, checksWith } from "../../suite/check.ts";
import { fact, factOf } from "../../suite/finding.ts";
import { DIMENSIONS } from "./scenarios.ts";
import {
  COMMON,
  expectedVectors,
  first,
  inputsOf,
  vectorsOf,
} from "./vectors.ts";
import { encodedAs, inEntries, inReply } from "./faults.ts";

const sameVectors = (
  one: readonly (readonly number[])[],
  other: readonly (readonly number[])[] | undefined,
): boolean => JSON.stringify(one) === JSON.stringify(other);

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

export const EMBEDDINGS_VECTOR_CHECKS: readonly Check[] = checksWith(COMMON, [
  {
    id: "embeddings.one-each",
    rule: "Each input has one vector, at its place.",
    each: (x) =>
      factOf(
        "indexes",
        listAt(x.json, "data").map((e) => at(e, "index")),
        x,
      )
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
    replies: "embeddings/*/*",
    each: (x) => {
      const lengths = new Set(vectorsOf(x).map(({ length }) => length));
      return factOf("lengths", [...lengths], x).mustBe(
        "one",
        lengths.size === 1 && !lengths.has(0),
      );
    },
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
    replies: "embeddings/*/texts",
    each: (x) => {
      const vectors = vectorsOf(x).map((vector) => brief(vector, 4000));
      return factOf("vectors", first(vectorsOf(x)), x).mustBe(
        "no two of them equal",
        new Set(vectors).size === vectors.length && vectors.length > 1,
      );
    },
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
          factOf("embedding", brief(at(x.json, "data.0.embedding")), x)
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
    replies: "embeddings/*/base64",
    each: (x, e) => {
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
    },
    misses: {
      "as-list": replaceInBody(/"base64"/, '"float"', {
        endpoint: "embeddings",
      }),
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
    replies: "embeddings/*/*",
    each: (x) => {
      const lengths = vectorsOf(x).map(({ length }) => length);
      return factOf("lengths", lengths, x).mustBe(
        `${DIMENSIONS} each`,
        lengths.length > 0 && lengths.every((each) => each === DIMENSIONS),
      );
    },
    misses: {
      ignored: replaceInBody(/,"dimensions":\d+/, "", {
        endpoint: "embeddings",
      }),
    },
  },
  {
    id: "embeddings.vectors",
    rule: "The vectors are those that the vendor made.",
    mode: "replay",
    reads: ["embeddings", "embeddings-length"],
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
]);
