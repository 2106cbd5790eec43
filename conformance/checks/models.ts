/** Checks of the area `models`. */
import { type Exchange, isStream } from "../evidence/exchange.ts";
import { at, listAt, sameJson, textAt } from "../evidence/json_path.ts";
import { isObject, type Json } from "../replay/json.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import {
  equals,
  fact,
  type Finding,
  NotTestable,
  satisfies,
  statusIs,
} from "../suite/finding.ts";
import { unbilled } from "./unbilled.ts";
import { MODEL_PAGE_CHECKS } from "./models_pages.ts";

const SECTION = "Model list (from `GET /v1/models`)";
const SERVICE = "What the service does";
const ENTRIES =
  "Entries: `id` (string), `object` (`model`), `owned_by` (string;";

/** The lists that were asked for whole. */
const LISTS = ["first", "second", "message-library", "with-query"] as const;

const isText = (value: Json | undefined): boolean =>
  typeof value === "string" && value.trim() === value && value !== "";

/** A fact of each entry of each list. */
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

/** The exchanges with ids that are not listed, when the listed one is served. */
function unlisted(e: Evidence): readonly Exchange[] {
  e.replies("*/*/control");
  return e.exchanges.filter(({ label }) => !label.endsWith("/control"));
}

/** The checks. */
export const MODELS_CHECKS: readonly Check[] = [
  {
    id: "models.object",
    rule: { section: SECTION, text: "| object | string | `list` |" },
    level: "documented",
    mode: "both",
    reads: ["model-list"],
    judge: (e) =>
      LISTS.flatMap((name) => e.replies(name)).map((x) =>
        equals(x, "object", "list")
      ),
    mutants: ["models-without-object", "models-object-models"],
  },
  {
    id: "models.data",
    rule: { section: SECTION, text: "| data | array | Entries:" },
    level: "documented",
    mode: "both",
    reads: ["model-list"],
    judge: (e) =>
      LISTS.flatMap((name) => e.replies(name)).map((x) =>
        satisfies(
          x,
          "data",
          "an array of objects with at least one entry",
          (data) =>
            Array.isArray(data) && data.length > 0 &&
            data.every((entry: Json) => isObject(entry)),
        )
      ),
    mutants: ["models-empty", "models-as-map", "models-as-ids", "models-null"],
  },
  {
    id: "models.entries",
    rule: { section: SECTION, text: ENTRIES },
    level: "documented",
    mode: "both",
    reads: ["model-list"],
    judge: (e) => [
      ...entries(e, (x, n) => satisfies(x, `data.${n}.id`, "a string", isText)),
      ...entries(e, (x, n) => equals(x, `data.${n}.object`, "model")),
    ],
    mutants: [
      "model-entry-object",
      "model-entry-without-object",
      "model-id-number",
      "model-last-entry-broken",
    ],
  },
  {
    id: "models.owner",
    rule: { section: SECTION, text: ENTRIES },
    level: "documented",
    mode: "both",
    reads: ["model-list"],
    judge: (e) =>
      entries(
        e,
        (x, n) => satisfies(x, `data.${n}.owned_by`, "a string", isText),
      ),
    mutants: [
      "model-owner-null",
      "model-owner-missing",
      "model-owner-object",
      "model-owner-empty",
    ],
  },
  {
    id: "models.created",
    rule: {
      source: "The chat format's libraries type `created` as seconds",
      text: "Where entries have `created`, it is a whole number of seconds.",
    },
    level: "convention",
    mode: "both",
    reads: ["model-list"],
    judge: (e) =>
      entries(e, (x, n) =>
        satisfies(
          x,
          `data.${n}.created`,
          "a whole number of seconds, or nothing",
          (value) =>
            value === undefined ||
            (typeof value === "number" && Number.isInteger(value) &&
              value >= 0 && value < 1e10),
        )),
    mutants: ["model-created-ms", "model-created-text"],
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
      LISTS.flatMap((name) => e.replies(name)).map((x) => {
        const ids = idsOf(x);
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
  {
    id: "models.same-for-the-key",
    rule: {
      section: SERVICE,
      text:
        "`GET /v1/models` returns the list of model ids the calling key can use.",
    },
    level: "documented",
    mode: "both",
    reads: ["model-list"],
    judge: (e) => {
      const [first] = e.replies("first");
      const wanted = first === undefined ? [] : idsOf(first);
      return LISTS.flatMap((name) => e.replies(name)).map((x) =>
        fact(
          sameJson([...wanted].map(String), [...idsOf(x)].map(String)),
          "data.*.id",
          "the same ids for the same key, whichever library asks",
          idsOf(x),
          x,
        )
      );
    },
    mutants: [
      "models-change",
      "models-fewer-for-x-api-key",
      "models-fewer-with-query",
    ],
  },
  {
    id: "models.listed-are-served",
    rule: {
      section: SERVICE,
      text: "Both endpoints accept the same set of model ids",
    },
    level: "documented",
    mode: "both",
    reads: ["listed-models"],
    judge: (e) =>
      e.matching("messages/*/whole").map((x) => served(x)).concat(
        ["messages/*/stream"].flatMap((form) =>
          e.mode === "live" ? [] : e.matching(form).map((x) => served(x))
        ),
      ),
    mutants: ["models-list-more", "vendorb-not-on-messages", "streams-for-one"],
  },
  {
    id: "models.listed-on-chat",
    rule: {
      section: SERVICE,
      text:
        "The chat-completion endpoint accepts every id returned by `GET /v1/models`.",
    },
    level: "documented",
    mode: "both",
    reads: ["listed-models"],
    judge: (e) =>
      e.matching("chat/*/whole").map((x) => served(x)).concat(
        ["chat/*/stream"].flatMap((form) =>
          e.mode === "live" ? [] : e.matching(form).map((x) => served(x))
        ),
      ),
    mutants: ["models-list-more", "vendora-not-on-chat"],
  },
  {
    id: "models.unlisted-refused",
    rule: {
      section: SERVICE,
      text: "An id absent from the list cannot be called with that key.",
    },
    level: "documented",
    mode: "both",
    reads: ["unlisted-models"],
    judge: (e) => unlisted(e).map((x) => statusIs(x, 400, 403, 404)),
    mutants: [
      "unknown-model-falls-back",
      "model-id-trimmed",
      "model-id-any-case",
      "model-id-by-prefix",
      "model-id-vendor-dropped",
    ],
  },
  {
    id: "models.exactly-as-listed",
    rule: {
      section: "POST /v1/messages (operation `createMessage`)",
      text: "One of the model ids; exactly as listed by `/v1/models`",
    },
    level: "documented",
    mode: "both",
    reads: ["unlisted-models"],
    judge: (e) =>
      unlisted(e).filter(({ endpoint }) => endpoint === "messages").map((x) =>
        statusIs(x, 400, 403, 404)
      ),
    mutants: ["model-id-trimmed", "model-id-any-case"],
  },
  {
    id: "models.unlisted-error",
    rule: {
      source: "Both formats' libraries read `error.message`",
      text:
        "The refusal of an unlisted model is a JSON error with a message, also where a stream was asked for.",
    },
    level: "convention",
    mode: "both",
    reads: ["unlisted-models"],
    judge: (e) =>
      unlisted(e).flatMap((x) => [
        satisfies(
          x,
          "error.message",
          "a string that is not empty",
          (value) => typeof value === "string" && value !== "",
        ),
        fact(
          !isStream(x) && x.frames.length === 0,
          "reply",
          "no event stream",
          x.text.slice(0, 80),
          x,
        ),
      ]),
    mutants: ["unlisted-error-empty", "unlisted-error-as-stream"],
  },
  {
    id: "models.unlisted-no-call",
    rule: {
      section: SERVICE,
      text: "An id absent from the list cannot be called with that key.",
    },
    level: "documented",
    mode: "replay",
    reads: ["unlisted-models"],
    judge: (e) => unlisted(e).map(unbilled),
    mutants: ["unknown-model-falls-back", "unlisted-refused-after-call"],
  },
  ...MODEL_PAGE_CHECKS,
];

/** A listed model answers: with a reply, or with a stream. */
function served(x: Exchange): Finding {
  const good = x.head?.status === 200 &&
    (x.label.endsWith("/stream")
      ? isStream(x) && x.frames.length > 0
      : textAt(x.json, "model") !== "");
  return fact(
    good,
    "reply of a listed model",
    "200",
    `${x.head?.status ?? x.ending}: ${x.text.slice(0, 160)}`,
    x,
  );
}
