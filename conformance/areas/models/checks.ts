/** Checks of the area `models`. */
import {
  fieldOf,
  fieldsOf,
  IS_STRING,
  literal,
  objects,
  optional,
  type Right,
  right,
} from "../../faults/field.ts";
import { factOf } from "../../suite/finding.ts";
import { SERVED_CHECKS, SERVICE, unlisted } from "./checks_served.ts";
import {
  ENTRIES,
  entries as faultEntries,
  fewer,
  LIST,
  list,
  modelsChange,
  pages,
} from "./faults.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { arrayOf, type Json } from "@model-gateway/replay/json";
import type { Exchange } from "../../evidence/exchange.ts";
import { at, listAt, sameJson } from "../../evidence/json_path.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { MODEL_PAGE_CHECKS } from "./checks_pages.ts";

const SECTION = "Model list (from `GET /v1/models`)";

const ENTRY_ROW =
  "Entries: `id` (string), `object` (`model`), `owned_by` (string;";

/** The labels of the unpaged lists. */
const LISTS = ["first", "second", "message-library", "with-query"] as const;

function lists(e: Evidence): readonly Exchange[] {
  return LISTS.flatMap((name) => e.replies(name));
}

/** These lists, and the pages with entries where the target has pages. */
function allLists(e: Evidence): readonly Exchange[] {
  const pages = e.exchanges.filter(({ label, head, json }) =>
    label.startsWith("page-") && head?.status === 200 &&
    listAt(json, "data").length > 0
  );
  return [...lists(e), ...pages];
}

/** A name without blanks around it. */
const IS_NAME: Right = right(
  "a name",
  (value) =>
    typeof value === "string" && value !== "" && value.trim() === value,
  { "empty": "", "blank-after": "name " },
);

/** Seconds since 1970, or absent; one vendor has 0 for its oldest models. */
const CREATED: Right = optional(right(
  "whole seconds",
  (value) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) < 1e10,
  { milliseconds: 1_780_000_000_000, text: "2026-01-01" },
));

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
    of: allLists,
    ...fieldOf(LIST, "object", literal("list")),
  },
  {
    id: "models.data",
    section: SECTION,
    rule: "| data | array | Entries:",
    of: allLists,
    ...fieldOf(LIST, "data", objects(0)),
  },
  {
    id: "models.names",
    source: "Clients offer the ids of the list to users",
    rule:
      "The list has an entry, and no id or owner is empty or has whitespace around it.",
    of: allLists,
    ...fieldsOf(ENTRIES, { id: IS_NAME, owned_by: IS_NAME }),
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
    rule: ENTRY_ROW,
    of: allLists,
    ...fieldsOf(ENTRIES, { id: IS_STRING, object: literal("model") }),
    faults: {
      "model-page-entry-bare": pages((body, query) => ({
        ...body,
        data: listAt(body, "data").map((entry) =>
          query.get("limit") === "1" ? { id: at(entry, "id") ?? null } : entry
        ),
      })),
      "model-last-entry-broken": list((body) => ({
        ...body,
        data: [...arrayOf(body["data"]), { object: "model", owned_by: "x" }],
      })),
    },
  },
  {
    id: "models.owner",
    section: SECTION,
    rule: ENTRY_ROW,
    of: allLists,
    ...fieldOf(ENTRIES, "owned_by", IS_STRING),
  },
  {
    id: "models.created",
    source: "The chat format's libraries type `created` as seconds",
    rule: "Where entries have `created`, it is a whole number of seconds.",
    of: allLists,
    ...fieldOf(ENTRIES, "created", CREATED),
  },
  {
    id: "models.unique",
    source: "A list widget cannot select one of two equal ids",
    rule: "No id is listed twice.",
    judge: (e) =>
      lists(e).map((x) => {
        const ids = idsOf(x);
        return factOf("data.*.id", ids, x).mustBe(
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
      return lists(e).map((x) =>
        factOf("data.*.id", idsOf(x), x).mustBe(
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
