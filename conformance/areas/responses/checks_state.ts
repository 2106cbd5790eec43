/** Checks of the area `responses`: replies that the target keeps. */
import { equals, fact, factOf, statusIs } from "../../suite/finding.ts";
import { objectOf } from "@model-gateway/replay/json";
import {
  below,
  changeRequestItems,
  forgets,
  isAfterAnother,
  ITEMS,
  ONE,
  refuses,
  sent,
} from "./faults.ts";
import { changeReplies } from "../../faults/change_hooks.ts";
import { put } from "../../faults/change_responses.ts";
import {
  at,
  brief,
  listAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { historySteps } from "../../evidence/tool_history.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { some } from "../replies/on_every.ts";
import { refusalMembers } from "../replies/refusals.ts";
import { sentFor } from "./sent_request.ts";
import { responseOf } from "../../endpoints/read_responses.ts";
import { ONCE, TURNS } from "./scenarios_state.ts";

/** The replies that are read, by the name of the request for them. */
const READ: Readonly<Record<string, string>> = {
  stored: "whole/third",
  streamed: "stream/second",
};

const GONE = refusalMembers("responses", ({ path }) => ITEMS.test(path));

export const RESPONSES_STATE_CHECKS: readonly Check[] = checksWith({
  section: "Stored responses",
  mode: "both",
  needs: "stored-responses",
  reads: ["responses-state"],
}, [
  {
    id: "responses.chain",
    rule:
      "A request with `previous_response_id` is accepted as soon as that reply has ended, and its reply repeats the id.",
    replies: "responses/*/whole/first",
    each: (first, e) => {
      const [, route] = first.label.split("/");
      const second = e.streams(`responses/${route}/stream/second`);
      const third = e.replies(`responses/${route}/whole/third`);
      const chain = [first, ...second, ...third];
      return chain.slice(1).map((x, index) => {
        const before = chain[index];
        const id = textAt(before && responseOf(before), "id");
        const found = at(responseOf(x), "previous_response_id");
        const holds = found === id && id !== "";
        return fact(holds, "previous_response_id", id, found, x);
      });
    },
    faults: {
      "responses-chain-refused": refuses('"previous_response_id"'),
      "responses-previous-not-echoed": put("previous_response_id", null),
    },
  },
  {
    id: "responses.chain-upstream",
    rule:
      "The model receives the whole conversation: the input and the output of every earlier reply, then the new input.",
    mode: "replay",
    replies: "responses/*/whole/third",
    each: (x) => {
      const { dialect, json, body } = sentFor(x);
      const kinds = historySteps(dialect, json).map(({ kind }) => kind);
      return [
        factOf("turns upstream", kinds.join()).mustBe(
          "user and assistant in turn, five in all",
          kinds.join() === "user,assistant,user,assistant,user",
        ),
        factOf("words upstream", body.slice(0, 400)).mustBe(
          TURNS.join(" "),
          TURNS.every((words) => body.includes(words)),
        ),
      ];
    },
    faults: {
      "responses-chain-of-one": sent((body) => ({
        ...body,
        messages: listAt(body, "messages").slice(-3),
      })),
      "responses-chain-without-output": sent((body) => ({
        ...body,
        messages: listAt(body, "messages").filter((turn) =>
          at(turn, "role") !== "assistant"
        ),
      })),
    },
  },
  {
    id: "responses.instructions-once",
    rule: "The `instructions` of an earlier request are not carried over.",
    mode: "replay",
    replies: "responses/*/whole/third",
    each: (x) =>
      factOf("request upstream", sentFor(x).body.slice(0, 400)).mustBe(
        "without the first turn's instructions",
        !sentFor(x).body.includes(ONCE),
      ),
    faults: {
      "responses-instructions-carried": sent((body, x) =>
        isAfterAnother(x.request.body) ? { ...body, system: ONCE } : body
      ),
    },
  },
  {
    id: "responses.references",
    rule: "An `item_reference` stands for the item of an earlier reply.",
    level: "convention",
    matching: "responses/*/whole/reference",
    each: (x, e) => {
      if (e.mode === "live") return [statusIs(x, 200)];
      const { dialect, json } = sentFor(x);
      const kinds = historySteps(dialect, json).map(({ kind }) => kind);
      return [
        factOf("turns upstream", kinds.join()).mustBe(
          "user, assistant, user",
          kinds.join() === "user,assistant,user",
        ),
      ];
    },
    faults: {
      "responses-references-refused": refuses('"item_reference"'),
      "responses-references-dropped": changeRequestItems((item) =>
        item["type"] === "item_reference" ? undefined : item
      ),
    },
  },
  {
    id: "responses.read",
    rule: "`GET` of a kept reply answers with that reply.",
    of: (e) =>
      Object.keys(READ).flatMap((name) =>
        e.matching(`responses/*/GET/${name}`)
      ),
    each: (x, e) => {
      const [, route, , name = ""] = x.label.split("/");
      const reply = responseOf(
        e.exchange(`responses/${route}/${READ[name]}`),
      );
      return [
        statusIs(x, 200),
        ...Object.keys(objectOf(reply)).map((name) => {
          const expected = at(reply, name);
          const found = at(x.json, name);
          const holds = sameJson(found, expected);
          return fact(holds, name, brief(expected), found, x);
        }),
      ];
    },
    faults: {
      "responses-read-empty": below("GET", ONE, (body) => ({
        ...body,
        output: [],
      })),
      "responses-read-other-model": below("GET", ONE, (body) => ({
        ...body,
        ...(body["model"] === undefined ? {} : { model: "another" }),
      })),
      "responses-read-404": below("GET", ONE, (body) => body, 404),
    },
  },
  {
    id: "responses.input-items",
    rule:
      "`GET` of its `input_items` answers with a list of the input's items, each with an id.",
    matching: "responses/*/GET/items",
    each: (x) => {
      const data = listAt(x.json, "data");
      const asked = data.filter((item) => textAt(item, "role") === "user");
      return [
        statusIs(x, 200),
        factOf("data", data).mustBe(
          "typed items, messages with roles and typed parts",
          data.every((item) =>
            textAt(item, "type") !== "" &&
            (textAt(item, "type") !== "message" ||
              (textAt(item, "role") !== "" &&
                (textAt(item, "content") !== "" ||
                  listAt(item, "content").length > 0) &&
                listAt(item, "content").every((part) =>
                  textAt(part, "type") !== "" && textAt(part, "text") !== ""
                )))
          ),
        ),
        factOf("first_id, last_id and has_more", x.text.slice(-120)).mustBe(
          "the ids at both ends, and a flag",
          at(x.json, "first_id") === at(data[0], "id") &&
            at(x.json, "last_id") === at(data.at(-1), "id") &&
            typeof at(x.json, "has_more") === "boolean",
        ),
        factOf("data", data).mustBe(
          "items with different ids, the last turn among them",
          at(x.json, "object") === "list" && data.length > 0 &&
            data.every((item) => textAt(item, "id") !== "") &&
            // The replay upstream gives one id to all its replies.
            new Set(asked.map((item) => textAt(item, "id"))).size ===
              asked.length &&
            JSON.stringify(data).includes(TURNS[2]),
        ),
      ];
    },
    faults: {
      "responses-items-empty": below("GET", ITEMS, (body) => ({
        ...body,
        data: [],
      })),
      "responses-items-ends-lost": below(
        "GET",
        ITEMS,
        ({ first_id: _, ...body }) => body,
      ),
      "responses-items-roles-lost": below("GET", ITEMS, (body) => ({
        ...body,
        data: listAt(body, "data").map((item) => {
          const { role: _, ...rest } = objectOf(item);
          return rest;
        }),
      })),
      "responses-items-with-one-id": below("GET", ITEMS, (body) => ({
        ...body,
        first_id: "item_1",
        last_id: "item_1",
        data: [...listAt(body, "data"), ...listAt(body, "data")].map((
          item,
        ) => ({
          ...objectOf(item),
          id: "item_1",
        })),
      })),
      "responses-items-without-ids": below("GET", ITEMS, (body) => ({
        ...body,
        data: listAt(body, "data").map((item) => {
          const { id: _, ...rest } = objectOf(item);
          return rest;
        }),
      })),
    },
  },
  {
    id: "responses.delete",
    rule:
      "`DELETE` answers `{id, object, deleted}`, and afterwards the reply is gone: 404, and 400 for a request that continues it.",
    judge: (e) => [
      ...e.matching("responses/*/DELETE/stored").flatMap((x) => [
        statusIs(x, 200),
        factOf("body", x.json, x).mustBe(
          "id, object response, deleted true",
          at(x.json, "deleted") === true &&
            x.request.path.endsWith(`/${textAt(x.json, "id") || "?"}`) &&
            textAt(x.json, "object").startsWith("response"),
        ),
      ]),
      ...["GET/deleted", "GET/deleted-items", "DELETE/deleted"].flatMap((
        label,
      ) => e.matching(`responses/*/${label}`).map((x) => statusIs(x, 404))),
      ...e.matching("responses/*/whole/after-delete").map((x) =>
        statusIs(x, 400)
      ),
    ],
    faults: {
      "responses-delete-keeps": {
        request: (request) =>
          request.method === "DELETE"
            ? {
              ...request,
              method: "GET",
              headers: { ...request.headers, "x-was": "DELETE" },
            }
            : request,
        reply: (reply, x) =>
          x.request.headers["x-was"] === "DELETE"
            ? {
              ...reply,
              body: {
                id: textAt(reply.body, "id"),
                object: "response",
                deleted: true,
              },
            }
            : reply,
      },
      "responses-deleted-items-kept": changeReplies({ status: 404 }, (
        reply,
        { path },
      ) =>
        path.endsWith("/input_items")
          ? { status: 200, body: { object: "list", data: [] } }
          : reply),
      "responses-delete-bare": below("DELETE", ONE, () => ({})),
    },
  },
  {
    id: "responses.gone-error-body",
    source:
      "A refusal is a JSON object with `error` (section Responses errors)",
    rule:
      "A refusal to read a reply that is gone, or its items, has the members of every refusal.",
    judge: GONE.judge,
    misses: some(
      GONE.misses,
      "error-absent",
      "error.message-empty",
      "error.type-absent",
      "error.code-absent",
    ),
  },
  {
    id: "responses.not-stored",
    rule: "A reply with `store` `false` is not kept.",
    judge: (e) => [
      ...e.replies("responses/*/whole/unstored").map((x) =>
        equals(x, "store", false)
      ),
      ...e.matching("responses/*/GET/unstored").map((x) => statusIs(x, 404)),
      ...e.matching("responses/*/whole/after-unstored").map((x) =>
        statusIs(x, 400)
      ),
    ],
    faults: { "responses-store-always": forgets("store") },
  },
  {
    id: "responses.other-key",
    rule:
      "For every other key, also of the same account, a kept reply is unknown: 404 to `GET` and `DELETE`, and 400 to a request that continues it or refers to its items.",
    level: "contract",
    needs: "second-key",
    reads: ["responses-other-key"],
    judge: (e) => [
      ...e.matching("responses/*/GET/own").map((x) => statusIs(x, 200)),
      ...["GET/foreign", "GET/foreign-items", "DELETE/foreign"].flatMap((
        label,
      ) => e.matching(`responses/*/${label}`).map((x) => statusIs(x, 404))),
      ...["foreign-continued", "foreign-item"].flatMap((name) =>
        e.matching(`responses/*/whole/${name}`).map((x) => statusIs(x, 400))
      ),
      ...e.matching("responses/*/GET/kept").map((x) => statusIs(x, 200)),
    ],
    faults: {
      "responses-keys-share-replies": { owner: () => "all" },
      "responses-other-key-reads": {
        owner: (key, first, x) => x.request.method === "GET" ? first : key,
      },
      "responses-other-key-continues": {
        owner: (key, first, x) =>
          /previous_response_id|item_reference/.test(x.request.body)
            ? first
            : key,
      },
    },
  },
  {
    id: "responses.other-key-learns-nothing",
    rule:
      "The refusal of another key's reply is that of an unknown one, word for word.",
    level: "contract",
    needs: "second-key",
    reads: ["responses-other-key"],
    matching: "responses/*/GET/foreign",
    each: (x, e) => {
      const [, route] = x.label.split("/");
      const [unknown] = e.matching(`responses/${route}/GET/unknown`);
      const words = (found: Exchange | undefined): string =>
        textAt(found?.json, "error.message").replaceAll(
          found?.request.path.split("/").at(-1) ?? "",
          "ID",
        );
      const holds = x.head?.status === 404 && words(x) !== "" &&
        words(x) === words(unknown);
      return fact(holds, "error.message", words(unknown), words(x), x);
    },
    faults: {
      "responses-other-key-is-told": {
        reply: (reply, x) =>
          reply.status === 404 && x.path.endsWith("_")
            ? {
              ...reply,
              body: {
                error: {
                  ...objectOf(reply.body["error"]),
                  message: "Never heard of it",
                },
              },
            }
            : reply,
      },
    },
  },
]);
