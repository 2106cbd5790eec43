/** Checks of the area `responses`: what a request means upstream. */
import {
  demanded,
  type Finding,
  NotTestable,
  observed,
  statusIs,
} from "../../suite/finding.ts";
import { type Check, checksWith, shared } from "../../suite/check.ts";
import {
  isObject,
  type Json,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import {
  asked,
  askedItems,
  askedItemsOf,
  droppedHeader,
  forgets,
  FORMAT_LOST,
  isInstruction,
  NO_INSTRUCTIONS,
  refuses,
  sent,
  withoutParts,
} from "./faults.ts";
import { listAt, textAt } from "../../evidence/json_path.ts";
import {
  type Exchange,
  headerOf,
  type UpstreamCall,
} from "../../evidence/exchange.ts";
import { historySteps } from "../../evidence/tool_history.ts";
import { offeredTools } from "../../evidence/offered_tools.ts";
import { readUpstreamRequest } from "../../evidence/upstream_request.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import { textOf, whereAccepted } from "./reply.ts";
import { PLACED } from "./scenarios.ts";
import {
  DOCUMENT,
  FILE_TEXT,
  PATCH,
  PICTURE,
  PICTURE_URL,
} from "./scenarios_history.ts";

/**
 * The request upstream of an exchange.
 * @throws {NotTestable} when there is none
 */
export function sentFor(x: Exchange): UpstreamCall {
  // The nonces of earlier turns find their requests, too.
  const call = x.upstream.at(-1);
  if (call === undefined) throw new NotTestable("no request upstream", x);
  return call;
}

/** One finding for each request with that name. */
function upstream(
  name: string,
  expected: string,
  test: (call: UpstreamCall, x: Exchange) => boolean,
): Check["judge"] {
  return (e) =>
    e.replies(`responses/*/*/${name}`).map((x) => {
      const call = sentFor(x);
      return observed("request upstream", call.body.slice(0, 400), x).mustBe(
        expected,
        test(call, x),
      );
    });
}

/** True when the body contains these texts in this order. */
function inOrder(body: string, ...texts: readonly string[]): boolean {
  let from = 0;
  return texts.every((text) => {
    const found = body.indexOf(text, from);
    from = found + 1;
    return found >= 0;
  });
}

/** The steps of the conversation as `user`, `call NAME`, `result of N`, … */
function steps(call: UpstreamCall): string {
  return historySteps(call.dialect, call.json).map((step) =>
    step.kind === "call"
      ? `call ${JSON.stringify(step.args)}`
      : step.kind === "result"
      ? `result of ${step.of}: ${step.text}`
      : step.kind
  ).join("; ");
}

const system = (call: UpstreamCall): string =>
  readUpstreamRequest(call).system.join("\n");

/** Part of `RESPONSES_CHECKS`. */
export const RESPONSES_REQUEST_CHECKS: readonly Check[] = checksWith({
  section: "Responses requests",
  mode: "replay",
  needs: "responses",
}, [
  {
    id: "responses.request-forms",
    rule:
      "`input` is a string, or a list of items, where `{role, content}` without a type is a message.",
    mode: "both",
    reads: ["responses-forms"],
    matching: "responses/*/whole/*",
    each: (x) => statusIs(x, 200),
    faults: {
      "responses-untyped-refused": refuses('[{"role"'),
      "responses-developer-refused": refuses('"developer"'),
    },
  },
  {
    id: "responses.input-reaches-model",
    rule: "All turns reach the model, in order.",
    reads: ["responses-forms"],
    judge: upstream(
      "turns",
      "both turns and the last one",
      ({ body }) => inOrder(body, PLACED.first, PLACED.answer, "[[fx:text"),
    ),
    faults: {
      "responses-turns-lost": asked((body) =>
        Array.isArray(body["input"])
          ? { ...body, input: body["input"].slice(-1) }
          : body
      ),
    },
  },
  {
    id: "responses.instructions",
    rule:
      "`instructions`, and after them the system and developer messages at the beginning of `input`, are the model's instructions.",
    reads: ["responses-forms"],
    judge: (e) => [
      ...upstream(
        "developer",
        "instructions, then the opening",
        (call) => inOrder(system(call), PLACED.instructions, PLACED.opening),
      )(e),
      ...upstream(
        "system",
        "the opening",
        (call) => system(call).includes(PLACED.opening),
      )(e),
    ],
    faults: {
      "responses-instructions-lost": forgets("instructions"),
      "responses-opening-lost": NO_INSTRUCTIONS,
    },
  },
  {
    id: "responses.developer-in-place",
    rule: "A developer message inside the conversation keeps its place.",
    level: "convention",
    reads: ["responses-forms"],
    judge: upstream(
      "later",
      "the later message between the answer and the last turn",
      ({ body }) => inOrder(body, PLACED.answer, PLACED.later, "[[fx:text"),
    ),
    faults: {
      "responses-developer-moved": asked((body) =>
        Array.isArray(body["input"])
          ? {
            ...body,
            input: [
              ...body["input"].filter(isInstruction),
              ...body["input"].filter((item: Json) => !isInstruction(item)),
            ],
          }
          : body
      ),
      "responses-developer-lost": NO_INSTRUCTIONS,
    },
  },
  {
    id: "responses.media",
    rule:
      "Pictures by address or as data, documents and text files reach the model.",
    reads: ["responses-media"],
    judge: (e) =>
      Object.entries({
        "image-data": PICTURE,
        pdf: DOCUMENT,
        "text-file": FILE_TEXT,
      }).flatMap(([name, content]) =>
        upstream(
          name,
          "the content of the file",
          ({ body }) => body.includes(content) || body.includes(btoa(content)),
        )(e)
      ).concat(
        upstream(
          "image-url",
          "the address",
          ({ body }) => body.includes(PICTURE_URL),
        )(e),
      ),
    faults: {
      "responses-picture-lost": withoutParts("input_image"),
      "responses-file-lost": withoutParts("input_file"),
    },
  },
  {
    id: "responses.history",
    rule:
      "`call_id` pairs a call with its output, whatever the order and the item ids.",
    reads: ["responses-history"],
    judge: upstream(
      "calls",
      "both calls with their own results",
      (call) =>
        steps(call) ===
          'user; call {"city":"Paris"}; call {"city":"Tokyo"}; result of 0: 12 degrees in Paris; result of 1: 20 degrees in Tokyo; user',
    ),
    faults: {
      "responses-results-swapped": askedItemsOf(
        "function_call_output",
        (item) => ({
          ...item,
          call_id: item["call_id"] === "call_1" ? "call_2" : "call_1",
        }),
      ),
      "responses-item-id-pairs": askedItemsOf(
        "function_call",
        (item) => ({ ...item, call_id: item["id"] }),
      ),
    },
  },
  {
    id: "responses.history-text-between",
    rule:
      "A message between a call and its output separates them for no upstream.",
    level: "convention",
    reads: ["responses-history"],
    judge: upstream(
      "between",
      "the result directly behind the call's turn",
      (call) =>
        /call [^;]*; (assistant; )?result of 0: 12 degrees in Paris; (assistant; )?user$/
          .test(steps(call)) &&
        (call.dialect === "generate_content" ||
          followsCall(
            listAt(call.json, "messages").map((entry) => JSON.stringify(entry)),
          )),
    ),
    faults: {
      "responses-results-late": askedItems((item) =>
        item["content"] === "I am looking it up."
          ? { ...item, role: "user" }
          : item
      ),
    },
  },
  {
    id: "responses.empty-arguments",
    rule:
      "A replayed call without arguments reaches the model with an empty object.",
    level: "convention",
    reads: ["responses-history"],
    judge: upstream(
      "empty-arguments",
      "a call with {}",
      (call) =>
        call.dialect === "responses" ||
        steps(call) === "user; call {}; result of 0: done; user",
    ),
    faults: {
      "responses-empty-arguments-null": askedItemsOf(
        "function_call",
        (item) =>
          item["arguments"] === ""
            ? { ...item, arguments: '{"input":null}' }
            : item,
      ),
    },
  },
  {
    id: "responses.picture-result",
    rule: "A picture in the output of a call reaches the model as a picture.",
    level: "convention",
    reads: ["responses-history"],
    judge: upstream(
      "picture-result",
      "the text and the picture",
      (call) =>
        call.body.includes("the map") &&
          call.body.includes(`"${PICTURE}"`) || imageIn(call),
    ),
    faults: {
      "responses-result-picture-lost": askedItemsOf(
        "function_call_output",
        (item) =>
          Array.isArray(item["output"])
            ? { ...item, output: item["output"].slice(0, 1) }
            : item,
      ),
      "responses-result-picture-text": askedItemsOf(
        "function_call_output",
        (item) =>
          Array.isArray(item["output"])
            ? { ...item, output: JSON.stringify(item["output"]) }
            : item,
      ),
    },
  },
  {
    id: "responses.custom-history",
    rule: "A replayed call with free text and its output reach the model.",
    level: "convention",
    reads: ["responses-history"],
    judge: upstream(
      "custom",
      "the call with its text, and its result",
      (call) => {
        const [, step, result] = historySteps(call.dialect, call.json);
        return step?.kind === "call" && isObject(step.args) &&
          Object.values(step.args).includes(PATCH) &&
          result?.kind === "result" && result.of === 0 &&
          result.text === "applied";
      },
    ),
    faults: {
      "responses-free-text-lost": askedItemsOf(
        "custom_tool_call",
        (item) => ({ ...item, input: "" }),
      ),
    },
  },
  {
    id: "responses.group-history",
    rule:
      "A replayed call of a tool in a group names the tool that the request offers for it.",
    level: "convention",
    reads: ["responses-history"],
    judge: upstream("group", "the name of an offered tool", (call) => {
      const [, step] = historySteps(call.dialect, call.json);
      const names = offeredTools(call.dialect, call.json).map(({ name }) =>
        name
      );
      return step?.kind === "call" && names.includes(step.name) &&
        step.name !== "get_weather";
    }),
    faults: {
      "responses-group-history-flat": askedItemsOf(
        "function_call",
        ({ namespace: _, ...item }) => item,
      ),
    },
  },
  {
    id: "responses.foreign-reasoning",
    rule:
      "Sealed reasoning of another vendor goes to no upstream that did not make it.",
    level: "contract",
    reads: ["responses-history"],
    judge: upstream(
      "foreign-reasoning",
      "without the sealed value",
      ({ body, dialect }) =>
        dialect === "responses" || !body.includes("c2VhbGVkIGVsc2V3aGVyZQ"),
    ),
    faults: {
      "responses-foreign-reasoning-sent": askedItemsOf("reasoning", (item) => ({
        role: "assistant",
        content: textAt(item, "encrypted_content"),
      })),
    },
  },
  {
    id: "responses.reasoning-returns",
    rule:
      "Sealed reasoning that a reply contained returns to its upstream unchanged.",
    level: "contract",
    reads: ["responses-replayed"],
    judge: (e) =>
      e.replies("responses/*/whole/second").filter(({ via }) =>
        via === "messages"
      ).map((x) => {
        const made = WRITTEN.get("thinking-tool")?.replies.messages.whole ?? "";
        const signature = textAt(parseJson(made), "content.0.signature");
        const sent = listAt(sentFor(x).json, "messages").flatMap((turn) =>
          listAt(turn, "content")
        ).map((block) => textAt(block, "signature")).filter(Boolean);
        return observed("signatures upstream", sent.join() || "none", x).mustBe(
          signature,
          sent.join() === signature,
        );
      }),
    faults: {
      "responses-reasoning-not-returned": askedItemsOf(
        "reasoning",
        () => undefined,
      ),
      "responses-seal-kept": sent((body) =>
        objectOf(
          JSON.parse(
            JSON.stringify(body).replaceAll(
              '"signature":"',
              '"signature":"ref:',
            ),
          ),
        )
      ),
    },
  },
  {
    id: "responses.formats",
    rule:
      "With `text.format` of the type `json_schema` the reply is JSON in that schema.",
    mode: "both",
    reads: ["responses-formats"],
    judge: (e) =>
      whereAccepted(e, "schema", (x) => {
        const reply = parseJson(textOf(x));
        return demanded(e)(
          isObject(reply) && typeof reply["city"] === "string" &&
            Number.isInteger(reply["days"]),
          "output",
          "JSON with city and days",
          textOf(x),
          x,
        );
      }),
    faults: { "responses-format-lost": FORMAT_LOST },
    isSkillLive: true,
  },
  {
    id: "responses.json-object",
    rule: "With the type `json_object` the model is told to answer in JSON.",
    reads: ["responses-formats"],
    judge: upstream(
      "object",
      "a JSON format, or instructions about it",
      ({ body }) =>
        /json object|json_object|application\/json|output_(config|format)|valid JSON/i
          .test(
            body,
          ),
    ),
    faults: shared("responses-format-lost"),
  },
  {
    id: "responses.dropped-named",
    rule:
      "A tool that the vendor would have to run is left out beside others, and `x-gateway-dropped` names it.",
    level: "contract",
    reads: ["responses-choices", "responses-forms"],
    judge: (e) => [
      ...e.matching("responses/*/*/hosted").filter(({ via }) =>
        via !== "responses"
      ).map((x): Finding =>
        observed(
          "x-gateway-dropped",
          headerOf(x, "x-gateway-dropped") ?? "none",
          x,
        ).mustBe(
          "tools[0]",
          /\btools\[0\]/.test(headerOf(x, "x-gateway-dropped") ?? ""),
        )
      ),
      ...e.matching("responses/*/whole/string").map((x): Finding =>
        observed(
          "x-gateway-dropped",
          headerOf(x, "x-gateway-dropped") ?? "none",
          x,
        ).mustBe(
          "none where nothing is left out",
          headerOf(x, "x-gateway-dropped") === undefined,
        )
      ),
    ],
    faults: {
      "responses-dropped-silently": droppedHeader(undefined),
      "responses-dropped-always": droppedHeader("store"),
    },
  },
]);

/** True when each entry with a result follows one with a call or another result. */
function followsCall(entries: readonly string[]): boolean {
  const isResult = (entry: string): boolean =>
    /"(tool_result|tool_call_id)"/.test(entry);
  return entries.every((entry, index) =>
    !isResult(entry) || isResult(entries[index - 1] ?? "") ||
    /"tool_(use|calls)"/.test(entries[index - 1] ?? "")
  );
}

/** True when a picture is part of the conversation. */
function imageIn(call: UpstreamCall): boolean {
  return readUpstreamRequest(call).turns.some(({ parts }) =>
    parts.some((part) => part.kind === "image" && part.source.includes(PICTURE))
  );
}
