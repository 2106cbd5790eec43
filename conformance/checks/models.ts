/** Checks of the area `models`. */
import { at, listAt } from "../evidence/json_path.ts";
import type { Check } from "../suite/check.ts";
import { equals, fact, NotTestable, satisfies } from "../suite/finding.ts";

const SECTION = "Model list (from `GET /v1/models`)";

/** The checks. */
export const MODELS_CHECKS: readonly Check[] = [
  {
    id: "models.object",
    rule: { section: SECTION, text: "| object | string | `list` |" },
    level: "documented",
    mode: "both",
    reads: ["model-list"],
    judge: (e) => e.replies("first").map((x) => equals(x, "object", "list")),
    mutants: ["models-without-object"],
  },
  {
    id: "models.entries",
    rule: {
      section: SECTION,
      text: "Entries: `id` (string), `object` (`model`), `owned_by` (string;",
    },
    level: "documented",
    mode: "both",
    reads: ["model-list"],
    judge: (e) =>
      e.replies("first").flatMap((x) => {
        const entries = listAt(x.json, "data");
        if (entries.length === 0) throw new NotTestable("data is empty", x);
        const isText = (value: unknown): boolean =>
          typeof value === "string" && value !== "";
        return entries.flatMap((_, index) => [
          satisfies(x, `data.${index}.id`, "a string", isText),
          equals(x, `data.${index}.object`, "model"),
          satisfies(x, `data.${index}.owned_by`, "a string", isText),
        ]);
      }),
    mutants: ["model-entry-object", "model-owner-null", "models-empty"],
  },
  {
    id: "models.unique",
    rule: {
      source: "An id that is listed twice cannot be chosen by a list widget",
      text: "No id is listed twice.",
    },
    level: "convention",
    mode: "both",
    reads: ["model-list"],
    judge: (e) =>
      e.replies("first").map((x) => {
        const ids = listAt(x.json, "data").map((entry) => at(entry, "id"));
        return fact(
          new Set(ids).size === ids.length,
          "data.*.id",
          "ids that differ",
          ids,
          x,
        );
      }),
    mutants: ["model-listed-twice"],
  },
];
