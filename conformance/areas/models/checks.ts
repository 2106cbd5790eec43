/** Checks of the area `models`. */
import {
  equals,
  fact,
  type Finding,
  NotTestable,
  observed,
  satisfies,
  valueAt,
} from "../../suite/finding.ts";
import { SERVED_CHECKS, SERVICE, unlisted } from "./checks_served.ts";
import {
  entries as faultEntries,
  fewer,
  list,
  modelsChange,
} from "./faults.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { arrayOf, isObject, type Json } from "@model-gateway/replay/json";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, listAt, sameJson } from "../../evidence/json_path.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { MODEL_PAGE_CHECKS } from "./checks_pages.ts";

const SECTION = "Model list (from `GET /v1/models`)";

const ENTRIES =
  "Entries: `id` (string), `object` (`model`), `owned_by` (string;";

/** The labels of the unpaged lists. */
const LISTS = ["first", "second", "message-library", "with-query"] as const;

const isText = (value: Json | undefined): boolean => typeof value === "string";

/** Findings about each entry of each list. */
function entries(
  e: Evidence,
  judge: (list: Exchange, index: number) => Finding,
): Finding[] {
  return LISTS.flatMap((name) => e.replies(name)).flatMap((x) => {
    const data = listAt(x.json, "data");
    if (data.length === 0) throw new NotTestable("data is empty", x);
    return data.map((_, index) => judge(x, index));
  });
}

function idsOf(x: Exchange): readonly (Json | undefined)[] {
  return listAt(x.json, "data").map((entry) => at(entry, "id"));
}

export const MODELS_CHECKS: readonly Check[] = checksWith({
  section: SERVICE,
  mode: "both",
  reads: ["model-list"],
  of: unlisted,
}, [
  {
    id: "models.object",
    section: SECTION,
    rule: "| object | string | `list` |",
    judge: (e) =>
      LISTS.flatMap((name) => e.replies(name)).map((x) =>
        equals(x, "object", "list")
      ),
    faults: {
      "models-without-object": list(({ data }) => ({ data })),
      "models-object-models": list((body) => ({ ...body, object: "models" })),
    },
  },
  {
    id: "models.data",
    section: SECTION,
    rule: "| data | array | Entries:",
    judge: (e) =>
      LISTS.flatMap((name) => e.replies(name)).map((x) =>
        valueAt(x, "data").mustBe(
          "an array of objects",
          (data) =>
            Array.isArray(data) && data.every((entry: Json) => isObject(entry)),
        )
      ),
    faults: {
      "models-as-map": list((body) => ({
        ...body,
        data: Object.fromEntries(
          arrayOf(body["data"]).map((entry, at) => [`model${at}`, entry]),
        ),
      })),
      "models-as-ids": faultEntries((entry) => entry["id"] ?? null),
      "models-null": list((body) => ({ ...body, data: null })),
    },
  },
  {
    id: "models.names",
    source: "Clients offer the ids of the list to users",
    rule:
      "The list has an entry, and no id or owner is empty or has whitespace around it.",
    judge: (e) => [
      ...LISTS.flatMap((name) => e.replies(name)).map((x) =>
        fact(idsOf(x).length > 0, "data", "an entry", at(x.json, "data"), x)
      ),
      ...["id", "owned_by"].flatMap((name) =>
        entries(
          e,
          (x, n) =>
            valueAt(x, `data.${n}.${name}`).mustBe("a name", (value) =>
              typeof value === "string" && value !== "" &&
              value.trim() === value),
        )
      ),
    ],
    faults: {
      "models-empty": list((body) => ({ ...body, data: [] })),
      "model-owner-empty": faultEntries((entry, at) =>
        at === 1 ? { ...entry, owned_by: "" } : entry
      ),
    },
  },
  {
    id: "models.entries",
    section: SECTION,
    rule: ENTRIES,
    judge: (e) => [
      ...entries(e, (x, n) => satisfies(x, `data.${n}.id`, "a string", isText)),
      ...entries(e, (x, n) => equals(x, `data.${n}.object`, "model")),
    ],
    faults: {
      "model-entry-object": faultEntries((entry) => ({
        ...entry,
        object: "engine",
      })),
      "model-entry-without-object": faultEntries(({ object: _, ...entry }) =>
        entry
      ),
      "model-id-number": faultEntries((entry, at) => ({ ...entry, id: at })),
      "model-last-entry-broken": list((body) => ({
        ...body,
        data: [...arrayOf(body["data"]), { object: "model", owned_by: "x" }],
      })),
    },
  },
  {
    id: "models.owner",
    section: SECTION,
    rule: ENTRIES,
    judge: (e) =>
      entries(
        e,
        (x, n) => satisfies(x, `data.${n}.owned_by`, "a string", isText),
      ),
    faults: {
      "model-owner-null": faultEntries((entry) => ({
        ...entry,
        owned_by: null,
      })),
      "model-owner-missing": faultEntries(({ owned_by: _, ...entry }) => entry),
      "model-owner-object": faultEntries((entry) => ({
        ...entry,
        owned_by: { name: "vendora" },
      })),
    },
  },
  {
    id: "models.created",
    source: "The chat format's libraries type `created` as seconds",
    rule: "Where entries have `created`, it is a whole number of seconds.",
    judge: (e) =>
      entries(
        e,
        (x, n) =>
          valueAt(x, `data.${n}.created`).mustBe(
            "a whole number of seconds, or absent",
            (value) =>
              value === undefined ||
              (typeof value === "number" && Number.isInteger(value) &&
                value >= 0 && value < 1e10),
          ),
      ),
    faults: {
      "model-created-ms": faultEntries((entry) => ({
        ...entry,
        created: 1_780_000_000_000,
      })),
      "model-created-text": faultEntries((entry) => ({
        ...entry,
        created: "2026-01-01",
      })),
    },
  },
  {
    id: "models.unique",
    source: "A list widget cannot select one of two equal ids",
    rule: "No id is listed twice.",
    judge: (e) =>
      LISTS.flatMap((name) => e.replies(name)).map((x) => {
        const ids = idsOf(x);
        return observed("data.*.id", ids, x).mustBe(
          "different ids",
          new Set(ids).size === ids.length,
        );
      }),
    faults: {
      "model-listed-twice": list((body) => {
        const data = arrayOf(body["data"]);
        return { ...body, data: [...data, ...data.slice(0, 1)] };
      }),
    },
  },
  {
    id: "models.same-for-the-key",
    rule:
      "`GET /v1/models` returns the list of model ids the calling key can use.",
    judge: (e) => {
      const [first] = e.replies("first");
      const wanted = first === undefined ? [] : idsOf(first);
      return LISTS.flatMap((name) => e.replies(name)).map((x) =>
        observed("data.*.id", idsOf(x), x).mustBe(
          "the same ids for the same key, whichever library requests the list",
          sameJson([...wanted].map(String), [...idsOf(x)].map(String)),
        )
      );
    },
    faults: {
      "models-change": modelsChange,
      "models-fewer-for-x-api-key": fewer(({ request }) =>
        request.headers["x-api-key"] !== undefined
      ),
      "models-fewer-with-query": fewer(({ request }) =>
        request.path.includes("limit=1000")
      ),
    },
  },
  ...SERVED_CHECKS,
  ...MODEL_PAGE_CHECKS,
]);
