/** Checks of the area `responses`: tools of every kind, and the choice among them. */
import { at, brief, sameJson, textAt } from "../../evidence/json_path.ts";
import { fixtureContent } from "../../evidence/content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  keepsSchema,
  offeredTools,
  toolChoiceIn,
} from "../../evidence/offered_tools.ts";
import type { Json } from "../../../replay/json.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { demanded, fact, type Finding } from "../../suite/finding.ts";
import { sentFor } from "./checks_requests.ts";
import { callsOf, itemsOf, streamsOf, whereAccepted } from "./reply.ts";
import { WEATHER } from "./requests.ts";

const says = (text: string) => ({ section: "Responses requests", text });

/** One finding for each reply with that name, about its first call. */
function firstCall(
  name: string,
  type: string,
  expected: Readonly<Record<string, Json>>,
): Check["judge"] {
  return (e) =>
    whereAccepted(e, name, (x) => {
      const [call] = callsOf(x);
      return demanded(e)(
        textAt(call, "type") === type &&
          Object.entries(expected).every(([key, value]) =>
            sameJson(at(call, key), value)
          ),
        "output",
        `a ${type} with ${brief(expected)}`,
        itemsOf(x),
        x,
      );
    });
}

/** One finding for each request upstream with that name. */
function sent(
  name: string,
  expected: string,
  test: (x: Exchange) => boolean,
): Check["judge"] {
  return (e) =>
    whereAccepted(e, name, (x) =>
      fact(
        test(x),
        "request upstream",
        expected,
        sentFor(x).body.slice(0, 400),
        x,
      ));
}

const namesSent = (x: Exchange): readonly string[] =>
  offeredTools(sentFor(x).dialect, sentFor(x).json).map(({ name }) => name);
const choiceSent = (x: Exchange): string =>
  toolChoiceIn(sentFor(x).dialect, sentFor(x).json).choice;

/** The joined deltas of free text. */
function toldInput(x: Exchange): string {
  return x.frames.map(({ json }) =>
    textAt(json, "type") === "response.custom_tool_call_input.delta"
      ? textAt(json, "delta")
      : ""
  ).join("");
}

const all =
  (...judges: readonly Check["judge"][]): Check["judge"] => (e): Finding[] =>
    judges.flatMap((judge) => [...judge(e)]);

/** Part of `RESPONSES_CHECKS`. */
export const RESPONSES_TOOL_CHECKS: readonly Check[] = checksWith({
  mode: "both",
  needs: "responses",
  reads: ["responses-choices"],
}, [
  {
    id: "responses.tool-choice",
    rule: says(
      "With `tool_choice` `required` or with a function in it the reply is a call, of that function.",
    ),
    judge: all(
      firstCall("required", "function_call", { name: "get_weather" }),
      firstCall("named", "function_call", { name: "get_weather" }),
    ),
    mutants: ["responses-choice-ignored"],
    isSkillLive: true,
  },
  {
    id: "responses.tool-choice-none",
    rule: says("With `tool_choice` `none` no tool is called."),
    judge: (e) =>
      whereAccepted(
        e,
        "none",
        (x) =>
          demanded(e)(callsOf(x).length === 0, "calls", "none", callsOf(x), x),
      ),
    mutants: ["responses-none-calls"],
    isSkillLive: true,
  },
  {
    id: "responses.allowed-tools",
    rule: says("With `allowed_tools` only a listed tool is called."),
    judge: firstCall("allowed", "function_call", { name: "get_weather" }),
    mutants: ["responses-allowed-ignored"],
    isSkillLive: true,
  },
  {
    id: "responses.tools-sent",
    rule: says(
      "A function reaches the model with its name, its description and its schema.",
    ),
    mode: "replay",
    judge: sent("required", "get_weather as declared", (x) => {
      const { dialect, json } = sentFor(x);
      const [tool] = offeredTools(dialect, json);
      return tool?.name === WEATHER["name"] &&
        tool?.description === WEATHER["description"] &&
        keepsSchema(
          WEATHER["parameters"],
          tool?.schema,
          dialect === "generate_content",
        );
    }),
    mutants: ["responses-schema-halved", "responses-description-lost"],
  },
  {
    id: "responses.not-strict",
    rule: says("A function with `strict` `false` is not strict upstream."),
    mode: "replay",
    judge: sent(
      "required",
      "no strict tool",
      (x) => !/"strict":true/.test(sentFor(x).body),
    ),
    mutants: ["responses-always-strict"],
  },
  {
    id: "responses.one-call-at-most",
    rule: says(
      "With `parallel_tool_calls` `false` the model is told to call one tool at a time, where its vendor has a word for it.",
    ),
    mode: "replay",
    judge: sent("single", "parallel calls off", (x) => {
      const { dialect, json } = sentFor(x);
      return dialect === "generate_content" ||
        toolChoiceIn(dialect, json).parallel === false;
    }),
    mutants: ["responses-parallel-lost"],
  },
  {
    id: "responses.custom-tool",
    rule: says(
      "A `custom` tool is answered by a `custom_tool_call` with free text in `input`.",
    ),
    level: "convention",
    judge: (e) =>
      whereAccepted(e, "custom", (x) => {
        const [call] = callsOf(x);
        return demanded(e)(
          textAt(call, "type") === "custom_tool_call" &&
            textAt(call, "name") === "apply_patch" &&
            !textAt(call, "input").startsWith("{"),
          "output",
          "a custom_tool_call of apply_patch with text",
          itemsOf(x),
          x,
        );
      }),
    mutants: ["responses-custom-as-function", "responses-custom-wrapped"],
    isSkillLive: true,
  },
  {
    id: "responses.custom-tool-stream",
    rule: {
      section: "Responses stream",
      text:
        "The input of a custom call is told in `custom_tool_call_input` frames.",
    },
    level: "convention",
    mode: "replay",
    judge: (e) =>
      e.streams("responses/*/stream/custom").map((x) => {
        const told = toldInput(x);
        const input = textAt(callsOf(x)[0], "input");
        return fact(
          told === input && told !== "",
          "joined deltas",
          input,
          told,
          x,
        );
      }),
    mutants: ["responses-custom-stream-arguments"],
  },
  {
    id: "responses.custom-tool-exact",
    rule: says(
      "The free text of a call is the model's, character for character, also where its parts split escape sequences.",
    ),
    level: "convention",
    mode: "replay",
    reads: ["responses-odd-calls"],
    judge: (e) =>
      // A vendor with free-text tools of its own sends no arguments in JSON.
      streamsOf(e, "free-text").filter(({ via }) => via !== "responses").map(
        (x) => {
          const [tool] = fixtureContent("tool-free-text", x.via).tools;
          const input = textAt(tool?.args, "input");
          const found = textAt(callsOf(x)[0], "input");
          return fact(
            found === input && toldInput(x) === input,
            "input",
            brief(input),
            brief([found, toldInput(x)]),
            x,
          );
        },
      ),
    mutants: ["responses-custom-wrapped", "responses-custom-escaped"],
  },
  {
    id: "responses.call-ids-made-unique",
    rule: says(
      "Calls to which an upstream gave one id have different ones in the reply.",
    ),
    level: "contract",
    mode: "replay",
    reads: ["responses-odd-calls"],
    judge: (e) =>
      // Replies in the upstream's own format stay as they are.
      streamsOf(e, "same-ids").filter(({ via }) => via !== "responses").map(
        (x) => {
          const ids = callsOf(x).map((call) => textAt(call, "call_id"));
          return fact(
            ids.length === 2 && new Set(ids).size === 2,
            "call_id",
            "two different ones",
            ids.join(", "),
            x,
          );
        },
      ),
    mutants: ["responses-call-ids-equal"],
  },
  {
    id: "responses.groups",
    rule: says(
      "A call of a tool in a `namespace` has the tool's `name` and its `namespace`, also where two groups have a tool of that name.",
    ),
    level: "convention",
    judge: firstCall("group", "function_call", {
      name: "get_weather",
      namespace: "south",
    }),
    mutants: ["responses-namespace-lost", "responses-namespace-joined"],
    isSkillLive: true,
  },
  {
    id: "responses.group-names-differ",
    rule: says(
      "Tools of different groups have different names upstream, none longer than its vendor allows.",
    ),
    level: "convention",
    mode: "replay",
    judge: all(
      sent(
        "group",
        "two names",
        (x) => new Set(namesSent(x)).size === 2 && namesSent(x).length === 2,
      ),
      sent(
        "long-name",
        "a name that the vendor allows",
        (x) =>
          // This dialect has groups of its own.
          x.via === "responses" ||
          namesSent(x).every((name) =>
            name.length <= (x.via === "messages" ? 128 : 64)
          ),
      ),
    ),
    mutants: ["responses-groups-collide", "responses-long-name-sent"],
  },
  {
    id: "responses.long-names-return",
    rule: says(
      "A name that was shortened upstream is whole again in the reply.",
    ),
    level: "convention",
    judge: firstCall("long-name", "function_call", {
      namespace: "a_group_of_tools_with_a_long_name",
      name: "get_weather_with_a_name_of_sixty_characters_and_some_more_xy",
    }),
    mutants: ["responses-short-name-returned"],
    isSkillLive: true,
  },
  {
    id: "responses.additional-tools",
    rule: says(
      "The tools of an `additional_tools` item are offered like those of `tools`.",
    ),
    level: "convention",
    judge: firstCall("as-item", "function_call", { name: "get_weather" }),
    mutants: ["responses-additional-tools-lost"],
    isSkillLive: true,
  },
  {
    id: "responses.hosted-beside",
    rule: says(
      "A tool that the vendor would have to run prevents no call of the other tools.",
    ),
    level: "convention",
    judge: firstCall("hosted", "function_call", { name: "get_weather" }),
    mutants: ["responses-hosted-refused"],
    isSkillLive: true,
  },
  {
    id: "responses.choice-sent",
    rule: says(
      "Every tool choice reaches the model in the words of its vendor.",
    ),
    mode: "replay",
    judge: all(
      sent("required", "any", (x) => choiceSent(x) === "any"),
      sent("named", "get_weather", (x) => choiceSent(x) === "tool:get_weather"),
      sent(
        "allowed",
        "a choice that excludes get_time",
        (x) =>
          ["allowed_tools", "tool:get_weather"].includes(choiceSent(x)) ||
          namesSent(x).join() === "get_weather",
      ),
    ),
    mutants: ["responses-choice-ignored", "responses-allowed-ignored"],
  },
]);
