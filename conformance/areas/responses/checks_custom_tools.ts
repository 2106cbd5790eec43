/** Checks of the area `responses`: tools with free text. */
import { demanded, factOf } from "../../suite/finding.ts";
import { frameOf, inFrames } from "./faults.ts";
import { inItems } from "../../faults/change_responses.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { brief, textAt } from "../../evidence/json_path.ts";
import { fixtureContent } from "../../evidence/content.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  callsOf,
  itemsOf,
  repliesOf,
  whereAccepted,
} from "../../endpoints/read_responses.ts";

function toldInput(x: Exchange): string {
  return x.frames.map(({ json }) =>
    textAt(json, "type") === "response.custom_tool_call_input.delta"
      ? textAt(json, "delta")
      : ""
  ).join("");
}

export const RESPONSES_CUSTOM_TOOL_CHECKS: readonly Check[] = checksWith({
  section: "Responses requests",
  mode: "both",
  needs: "responses",
  reads: ["responses-choices"],
}, [
  {
    id: "responses.custom-tool",
    rule:
      "A `custom` tool is answered by a `custom_tool_call` with free text in `input`.",
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
    faults: {
      "responses-custom-as-function": inItems("custom_tool_call", (item) => ({
        ...item,
        type: "function_call",
        arguments: JSON.stringify({ input: item["input"] ?? "" }),
      })),
      "responses-custom-wrapped": inItems("custom_tool_call", (item) => ({
        ...item,
        input: JSON.stringify({ input: item["input"] ?? "" }),
      })),
    },
    isSkillLive: true,
  },
  {
    id: "responses.custom-tool-stream",
    section: "Responses stream",
    rule:
      "The input of a custom call is told in `custom_tool_call_input` frames.",
    level: "convention",
    mode: "replay",
    streams: "responses/*/stream/custom",
    each: (x) => {
      const text = toldInput(x);
      const input = textAt(callsOf(x)[0], "input");
      return factOf("joined deltas", text).mustBe(
        input,
        text === input && text !== "",
      );
    },
    faults: {
      "responses-custom-stream-arguments": inFrames(
        /^custom_tool_call_input\.delta$/,
        (data) => [
          frameOf({ ...data, type: "response.function_call_arguments.delta" }),
        ],
      ),
    },
  },
  {
    id: "responses.custom-tool-exact",
    rule:
      "The free text of a call is the model's, character for character, also where its parts split escape sequences.",
    level: "convention",
    mode: "replay",
    reads: ["responses-odd-calls"],
    judge: (e) =>
      repliesOf(e, "free-text").map((x) => {
        const [tool] = fixtureContent("tool-free-text", x.via).tools;
        const input = textAt(tool?.args, "input");
        const found = textAt(callsOf(x)[0], "input");
        const joined = x.frames.length === 0 ? found : toldInput(x);
        return factOf("input", brief([found, joined]), x).mustBe(
          brief(input),
          // A vendor with free-text tools of its own sends no arguments in JSON.
          x.via === "responses" || found === input && joined === input,
        );
      }),
    faults: {
      "responses-custom-escaped": inFrames(
        /^custom_tool_call_input\.delta$/,
        (data) => ({
          ...data,
          delta: JSON.stringify(textAt(data, "delta")).slice(1, -1),
        }),
      ),
      ...sharedFaults("responses-custom-wrapped"),
    },
  },
]);
