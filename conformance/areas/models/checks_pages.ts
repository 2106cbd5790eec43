/**
 * Checks of the area `models` about optional features: pages, single entries, the message format's
 * own fields.
 */
import {
  equals,
  fact,
  factOf,
  type Finding,
  satisfies,
  some,
  valueAt,
} from "../../suite/finding.ts";
import { ALL, entry, entryField, idOf, pages } from "./faults.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { objectOf } from "@model-gateway/replay/json";
import { at, brief, listAt, sameJson } from "../../evidence/json_path.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import type { Evidence } from "../../suite/evidence.ts";

const PAGES = "https://docs.anthropic.com/en/api/models-list";
const LISTS = ["first", "message-library", "with-query"] as const;

/** Findings about the paging fields of a list; none when it has none. */
function pagingOf(x: Exchange): Finding[] {
  const data = listAt(x.json, "data");
  // A library continues a page that has more by these ids.
  const has = (name: string): boolean =>
    at(x.json, name) !== undefined || at(x.json, "has_more") === true;
  const id = (index: number) => at(data.at(index), "id") ?? null;
  return [
    factOf("has_more", at(x.json, "has_more"), x).mustBe(
      "true or false, or absent",
      !has("has_more") || typeof at(x.json, "has_more") === "boolean",
    ),
    ...(has("first_id") ? [equals(x, "first_id", id(0))] : []),
    ...(has("last_id") ? [equals(x, "last_id", id(-1))] : []),
  ];
}

/** The list of one entry; undefined when the target offers no pages. */
function pageOf(e: Evidence, name: string): Exchange | undefined {
  const [first] = e.replies("first");
  const page = e.exchange(name);
  return typeof at(first?.json, "has_more") === "boolean" ? page : undefined;
}

function idsOf(e: Evidence): readonly unknown[] {
  const [first] = e.replies("first");
  return listAt(first?.json, "data").map((entry) => at(entry, "id"));
}

export const MODEL_PAGE_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  reads: ["model-list"],
}, [
  {
    id: "models.paging-fields",
    source: PAGES,
    rule:
      "Where a list has `has_more`, `first_id` and `last_id`, they are right for its entries, and a list is complete unless `has_more` is true.",
    judge: (e) =>
      LISTS.flatMap((name) => e.replies(name)).flatMap((x) => [
        ...pagingOf(x),
        factOf("has_more", at(x.json, "has_more"), x).mustBe(
          "a list without a limit is complete",
          at(x.json, "has_more") !== true,
        ),
      ]),
    faults: {
      "has_more-text": pages((body) => ({ ...body, has_more: "false" })),
      "has_more-always": pages((body) => ({ ...body, has_more: true })),
      "first_id-wrong": pages((body) => ({
        ...body,
        first_id: body["last_id"] ?? null,
      })),
      "last_id-null": pages((body) => ({ ...body, last_id: null })),
    },
  },
  {
    id: "models.pages",
    source: PAGES,
    rule:
      "Where pages are offered, `limit` limits, `after_id` and `before_id` continue, and no entry is lost or repeated.",
    judge: (e) => {
      const ids = idsOf(e);
      const wanted = [
        ["page-one", ids[0], ids.length > 1],
        ["page-two", ids[1], ids.length > 2],
        ["page-before", ids[0], false],
      ] as const;
      const found = wanted.flatMap(([name, id, more]) => {
        const page = pageOf(e, name);
        if (page === undefined || ids.length < 2) return [];
        return [
          factOf("data", listAt(page.json, "data").length, page).mustBe(
            "one entry",
            listAt(page.json, "data").length === 1,
          ),
          satisfies(page, "data.0.id", `${id}`, (value) => value === id),
          ...pagingOf(page),
          ...(name === "page-before" ? [] : [equals(page, "has_more", more)]),
        ];
      });
      return found.length > 0
        ? found
        : [fact(true, "pages", "offered or not", "not offered")];
    },
    faults: {
      "page-limit-ignored": pages(
        (body) => body,
        (query) => query.delete("limit"),
      ),
      "page-after-ignored": pages(
        (body) => body,
        (query) => query.delete("after_id"),
      ),
      "page-last_id-lost": pages(({ last_id: _, ...body }) => body),
      "page-first_id-lost": pages(({ first_id: _, ...body }) => body),
      "page-has_more-wrong": pages((body) => ({ ...body, has_more: false })),
    },
  },
  {
    id: "models.message-library-fields",
    source: PAGES,
    rule:
      "Where entries have `type`, `display_name` and `created_at`, they are `model`, a string and a time.",
    judge: (e) =>
      some(
        LISTS.flatMap((name) => e.replies(name)).flatMap((x) =>
          listAt(x.json, "data").flatMap((_, n) => [
            valueAt(x, `data.${n}.type`).mustBe("model, or absent", (value) =>
              value === undefined || value === "model"),
            valueAt(x, `data.${n}.display_name`).mustBe(
              "a string, or absent",
              (value) =>
                value === undefined ||
                (typeof value === "string" && value !== ""),
            ),
            valueAt(x, `data.${n}.created_at`).mustBe(
              "a time as in RFC 3339, or absent",
              (value) =>
                value === undefined ||
                (typeof value === "string" &&
                  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
                    .test(value)),
            ),
          ])
        ),
        "a list with entries",
      ),
    faults: {
      "entry-type-engine": entryField("type", "engine"),
      "display_name-null": entryField("display_name", null),
      "created_at-number": entryField("created_at", 1_780_000_000),
    },
  },
  {
    id: "models.retrieve",
    source: "Both formats' libraries have `models.retrieve(id)`",
    rule:
      "Where single entries are offered, the requested one is returned as it is listed; an unlisted id gets a 4xx with a JSON error.",
    judge: (e) => {
      const entry = e.exchange("entry");
      const none = e.exchange("no-entry");
      const keyless = e.exchange("entry-without-key");
      const status = none.head?.status ?? 0;
      return [
        ...(entry.head?.status === 200
          ? [
            valueAt(entry, "id").mustBe(`${idsOf(e)[0]}`, (value) =>
              value === idsOf(e)[0]),
            equals(entry, "object", "model"),
            ...Object.entries(objectOf(at(e.exchange("first").json, "data.0")))
              .map(([name, value = null]) =>
                valueAt(entry, name).mustBe(
                  `${brief(value)}, as listed`,
                  (found) =>
                    sameJson(found ?? null, value),
                )
              ),
          ]
          : [
            factOf(
              "status of one entry",
              entry.head?.status ?? entry.ending,
              entry,
            ).mustBe(
              "200, or 404 where it is not offered",
              [404, 405].includes(entry.head?.status ?? 0),
            ),
          ]),
        factOf(
          "status without a key",
          keyless.head?.status ?? keyless.ending,
          keyless,
        ).mustBe(
          "401, or 404 where it is not offered",
          [401, 404, 405].includes(keyless.head?.status ?? 0),
        ),
        factOf("status of an unlisted id", status, none).mustBe(
          "4xx",
          status >= 400 && status < 500,
        ),
        valueAt(none, "error.message").mustBe(
          "a string that is not empty",
          (value) => typeof value === "string" && value !== "",
        ),
      ];
    },
    faults: {
      "retrieve-wrong-id": entry(() => ({
        status: 200,
        body: { id: idOf(ALL.at(-1)), object: "model", owned_by: "vendora" },
      })),
      "retrieve-other-owner": entry(({ path }) => ({
        status: path.endsWith("no-such-model-1") ? 404 : 200,
        body: path.endsWith("no-such-model-1")
          ? { error: { message: "There is no such model" } }
          : { ...objectOf(ALL[0]), owned_by: "nobody" },
      })),
      "retrieve-owner-lost": entry(({ path }) => {
        const { owned_by: _, ...bare } = objectOf(ALL[0]);
        return path.endsWith("no-such-model-1")
          ? {
            status: 404,
            body: { error: { message: "There is no such model" } },
          }
          : { status: 200, body: bare };
      }),
      "retrieve-unknown-200": entry(({ path }) => ({
        status: 200,
        body: {
          id: path.split("/").at(-1) ?? "",
          object: "model",
          owned_by: "vendora",
        },
      })),
      "retrieve-500": entry(() => ({
        status: 500,
        body: {
          type: "error",
          error: { type: "api_error", message: "failed" },
        },
      })),
      "retrieve-without-key": entry(({ path }) => {
        const id = path.split("/").at(-1) ?? "";
        return id.startsWith("no-such")
          ? {
            status: 404,
            body: {
              type: "error",
              error: { type: "not_found_error", message: "no such model" },
            },
          }
          : { status: 200, body: { id, object: "model", owned_by: "vendora" } };
      }),
    },
  },
]);
