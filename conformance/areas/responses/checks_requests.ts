/** Checks of the area `responses`: what a request means upstream. */
import { PIXEL } from "../upstream/scenarios_request.ts";
import { RESPONSES_HISTORY_CHECKS } from "./checks_history.ts";
import { sentFor, upstream } from "./sent_request.ts";
import {
  compare,
  demanded,
  factOf,
  type Finding,
  statusIs,
} from "../../suite/finding.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { isObject, type Json, parseJson } from "@model-gateway/replay/json";
import {
  changeResponsesRequest,
  droppedHeader,
  forgets,
  FORMAT_LOST,
  isInstruction,
  NO_INSTRUCTIONS,
  refuses,
  withoutParts,
} from "./faults.ts";
import { headerOf, type UpstreamCall } from "../../evidence/exchange.ts";
import { readUpstreamRequest } from "../../evidence/upstream_request.ts";
import { textOf, whereAccepted } from "../../endpoints/read_responses.ts";
import { changeRequest } from "../../faults/change_request.ts";
import { withAt } from "../../faults/change_reply.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { ModelRequest } from "../../reference_gateway/part.ts";
import { sentWhereTaken, tuningChecks } from "../replies/sent_settings.ts";
import { MORE_SETTINGS, PLACED, SETTINGS, TUNING } from "./scenarios.ts";
import { DOCUMENT, FILE_TEXT, PICTURE_URL } from "./scenarios_history.ts";

/** True when the body contains these texts in this order. */
function inOrder(body: string, ...texts: readonly string[]): boolean {
  let from = 0;
  return texts.every((text) => {
    const found = body.indexOf(text, from);
    from = found + 1;
    return found >= 0;
  });
}

const system = (call: UpstreamCall): string =>
  readUpstreamRequest(call).system.join("\n");

function understood(settings: Partial<ModelRequest>): Hooks {
  return changeRequest((_, { endpoint }) =>
    endpoint === "responses" ? settings : {}
  );
}

const TUNING_CHECKS: readonly Check[] = tuningChecks(
  {
    section: "Responses requests",
    needs: "responses",
    reads: "responses-more-settings",
    label: "responses/*/*/more-settings",
    put: (path, value) =>
      changeResponsesRequest((body) => withAt(body, path, value)),
  },
  ([
    ["effort", "effort", "reasoning.effort"],
    ["verbosity", "verbosity", "text.verbosity"],
    ["presence-penalty", "presencePenalty", "presence_penalty"],
    ["frequency-penalty", "frequencyPenalty", "frequency_penalty"],
  ] as const).map(([id, setting, path]) => ({
    id: `responses.${id}`,
    name: path,
    path,
    setting,
    value: TUNING[setting],
  })),
);

export const RESPONSES_REQUEST_CHECKS: readonly Check[] = checksWith({
  section: "Responses requests",
  mode: "replay",
  needs: "responses",
  reads: ["responses-forms"],
}, [
  {
    id: "responses.request-forms",
    rule:
      "`input` is a string, or a list of items, where `{role, content}` without a type is a message.",
    mode: "both",
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
    judge: upstream(
      "turns",
      "both turns and the last one",
      ({ body }) => inOrder(body, PLACED.first, PLACED.answer, "[[fx:text"),
    ),
    faults: {
      "responses-turns-lost": changeResponsesRequest((body) =>
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
    id: "responses.cap",
    rule: "`max_output_tokens` is the upper bound on the model's output.",
    reads: ["responses-settings"],
    matching: "responses/*/*/settings",
    each: (x) => {
      const { maxTokens } = readUpstreamRequest(sentFor(x));
      const expected = SETTINGS["max_output_tokens"];
      return compare("the bound upstream", maxTokens, expected, x);
    },
    misses: {
      lost: understood({ maxTokens: undefined }),
      fixed: understood({ maxTokens: 4096 }),
    },
  },
  {
    id: "responses.temperature",
    rule: "`temperature` reaches the model, where it takes it.",
    reads: ["responses-settings"],
    judge: sentWhereTaken(
      "responses/*/*/settings",
      ({ temperature }) => temperature,
      Number(SETTINGS["temperature"]),
    ),
    misses: {
      lost: understood({ temperature: undefined }),
      halved: understood({ temperature: 0.5 }),
    },
  },
  {
    id: "responses.top-p",
    rule: "`top_p` reaches the model, where it takes it.",
    reads: ["responses-more-settings"],
    judge: sentWhereTaken(
      "responses/*/*/more-settings",
      ({ topP }) => topP,
      Number(MORE_SETTINGS["top_p"]),
    ),
    misses: {
      lost: understood({ topP: undefined }),
      whole: understood({ topP: 1 }),
    },
  },
  {
    id: "responses.developer-in-place",
    rule: "A developer message inside the conversation keeps its place.",
    level: "convention",
    judge: upstream(
      "later",
      "the later message between the answer and the last turn",
      ({ body }) => inOrder(body, PLACED.answer, PLACED.later, "[[fx:text"),
    ),
    faults: {
      "responses-developer-moved": changeResponsesRequest((body) =>
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
        // A quote ends the data in JSON.
        "image-data": `${PIXEL}"`,
        pdf: `${DOCUMENT}"`,
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
  ...RESPONSES_HISTORY_CHECKS,
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
    faults: sharedFaults("responses-format-lost"),
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
        factOf(
          "x-gateway-dropped",
          headerOf(x, "x-gateway-dropped") ?? "none",
          x,
        ).mustBe(
          "tools[0]",
          /\btools\[0\]/.test(headerOf(x, "x-gateway-dropped") ?? ""),
        )
      ),
      ...e.matching("responses/*/whole/string").map((x): Finding =>
        factOf(
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
  ...TUNING_CHECKS,
]);
