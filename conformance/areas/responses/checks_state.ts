/** Checks of the area `responses`: replies that the target keeps. */
import {
  at,
  brief,
  listAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import { historySteps } from "../../evidence/tool_history.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { fact, type Finding, statusIs } from "../../suite/finding.ts";
import { sentFor } from "./checks_requests.ts";
import { responseOf } from "./reply.ts";
import { ONCE, TURNS } from "./scenarios_state.ts";

const says = (text: string) => ({ section: "Stored responses", text });

/** Part of `RESPONSES_CHECKS`. */
export const RESPONSES_STATE_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  needs: "stored-responses",
  reads: ["responses-state"],
}, [
  {
    id: "responses.chain",
    rule: says(
      "A request with `previous_response_id` is accepted as soon as that reply has ended, and its reply repeats the id.",
    ),
    judge: (e) =>
      e.replies("responses/*/whole/first").flatMap((first) => {
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
      }),
    mutants: ["responses-chain-refused", "responses-previous-not-echoed"],
  },
  {
    id: "responses.chain-upstream",
    rule: says(
      "The model receives the whole conversation: the input and the output of every earlier reply, then the new input.",
    ),
    mode: "replay",
    judge: (e) =>
      e.replies("responses/*/whole/third").flatMap((x) => {
        const { dialect, json, body } = sentFor(x);
        const kinds = historySteps(dialect, json).map(({ kind }) => kind);
        return [
          fact(
            kinds.join() === "user,assistant,user,assistant,user",
            "turns upstream",
            "user and assistant in turn, five in all",
            kinds.join(),
            x,
          ),
          fact(
            TURNS.every((words) => body.includes(words)),
            "words upstream",
            TURNS.join(" "),
            body.slice(0, 400),
            x,
          ),
        ];
      }),
    mutants: ["responses-chain-of-one", "responses-chain-without-output"],
  },
  {
    id: "responses.instructions-once",
    rule: says(
      "The `instructions` of an earlier request are not carried over.",
    ),
    mode: "replay",
    judge: (e) =>
      e.replies("responses/*/whole/third").map((x) =>
        fact(
          !sentFor(x).body.includes(ONCE),
          "request upstream",
          "without the first turn's instructions",
          sentFor(x).body.slice(0, 400),
          x,
        )
      ),
    mutants: ["responses-instructions-carried"],
  },
  {
    id: "responses.references",
    rule: says("An `item_reference` stands for the item of an earlier reply."),
    level: "convention",
    judge: (e) =>
      e.matching("responses/*/whole/reference").flatMap((x): Finding[] => {
        if (e.mode === "live") return [statusIs(x, 200)];
        const { dialect, json } = sentFor(x);
        const kinds = historySteps(dialect, json).map(({ kind }) => kind);
        return [
          fact(
            kinds.join() === "user,assistant,user",
            "turns upstream",
            "user, assistant, user",
            kinds.join(),
            x,
          ),
        ];
      }),
    mutants: ["responses-references-refused", "responses-references-dropped"],
  },
  {
    id: "responses.read",
    rule: says("`GET` of a kept reply answers with that reply."),
    judge: (e) =>
      e.matching("responses/*/GET/stored").flatMap((x) => {
        const [, route] = x.label.split("/");
        const [made] = e.replies(`responses/${route}/whole/third`);
        return [
          statusIs(x, 200),
          ...["id", "status", "output", "usage"].map((name) => {
            const expected = at(made?.json, name);
            const found = at(x.json, name);
            const holds = sameJson(found, expected);
            return fact(holds, name, brief(expected), found, x);
          }),
        ];
      }),
    mutants: ["responses-read-empty", "responses-read-404"],
  },
  {
    id: "responses.input-items",
    rule: says(
      "`GET` of its `input_items` answers with a list of the input's items, each with an id.",
    ),
    judge: (e) =>
      e.matching("responses/*/GET/items").flatMap((x) => {
        const data = listAt(x.json, "data");
        return [
          statusIs(x, 200),
          fact(
            at(x.json, "object") === "list" && data.length > 0 &&
              data.every((item) => textAt(item, "id") !== "") &&
              JSON.stringify(data).includes(TURNS[2]),
            "data",
            "items with ids, the last turn among them",
            data,
            x,
          ),
        ];
      }),
    mutants: ["responses-items-empty", "responses-items-without-ids"],
  },
  {
    id: "responses.delete",
    rule: says(
      "`DELETE` answers `{id, object, deleted}`, and afterwards the reply is gone: 404, and 400 for a request that continues it.",
    ),
    judge: (e) => [
      ...e.matching("responses/*/DELETE/stored").flatMap((x) => [
        statusIs(x, 200),
        fact(
          at(x.json, "deleted") === true && textAt(x.json, "id") !== "" &&
            textAt(x.json, "object").startsWith("response"),
          "body",
          "id, object response, deleted true",
          x.json,
          x,
        ),
      ]),
      ...e.matching("responses/*/GET/deleted").map((x) => statusIs(x, 404)),
      ...e.matching("responses/*/whole/after-delete").map((x) =>
        statusIs(x, 400)
      ),
    ],
    mutants: ["responses-delete-keeps", "responses-delete-bare"],
  },
  {
    id: "responses.not-stored",
    rule: says("A reply with `store` `false` is not kept."),
    judge: (e) => [
      ...e.replies("responses/*/whole/unstored").map((x) =>
        fact(
          at(x.json, "store") === false,
          "store",
          "false",
          at(x.json, "store"),
          x,
        )
      ),
      ...e.matching("responses/*/GET/unstored").map((x) => statusIs(x, 404)),
      ...e.matching("responses/*/whole/after-unstored").map((x) =>
        statusIs(x, 400)
      ),
    ],
    mutants: ["responses-store-always"],
  },
]);
