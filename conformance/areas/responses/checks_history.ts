/** Checks of the area `responses`: calls, results and reasoning that a request replays. */
import { PIXEL } from "../upstream/scenarios_request.ts";
import { sentFor, upstream } from "./sent_request.ts";
import { factOf } from "../../suite/finding.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { isObject, objectOf, parseJson } from "@model-gateway/replay/json";
import { askedItemsOf, changeRequestItems, sent } from "./faults.ts";
import { listAt, textAt } from "../../evidence/json_path.ts";
import type { UpstreamCall } from "../../evidence/exchange.ts";
import { historySteps, stepsText } from "../../evidence/tool_history.ts";
import { offeredTools } from "../../evidence/offered_tools.ts";
import { readUpstreamRequest } from "../../evidence/upstream_request.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import { PATCH } from "./scenarios_history.ts";

/** True when each entry with a result follows one with a call or another result. */
function followsCall(entries: readonly string[]): boolean {
  const isResult = (entry: string): boolean =>
    /"(tool_result|tool_call_id)"/.test(entry);
  return entries.every((entry, index) =>
    !isResult(entry) || isResult(entries[index - 1] ?? "") ||
    /"tool_(use|calls)"/.test(entries[index - 1] ?? "")
  );
}

function imageIn(call: UpstreamCall): boolean {
  return readUpstreamRequest(call).turns.some(({ parts }) =>
    parts.some((part) => part.kind === "image" && part.source.includes(PIXEL))
  );
}

export const RESPONSES_HISTORY_CHECKS: readonly Check[] = checksWith({
  section: "Responses requests",
  mode: "replay",
  needs: "responses",
  reads: ["responses-history"],
}, [
  {
    id: "responses.history",
    rule:
      "`call_id` pairs a call with its output, whatever the order and the item ids.",
    judge: upstream(
      "calls",
      "both calls with their own results",
      (call) =>
        stepsText(call) ===
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
    judge: upstream(
      "between",
      "the result directly behind the call's turn",
      (call) =>
        /call [^;]*; (assistant; )?result of 0: 12 degrees in Paris; (assistant; )?user$/
          .test(stepsText(call)) &&
        (call.dialect === "generate_content" ||
          followsCall(
            listAt(call.json, "messages").map((entry) => JSON.stringify(entry)),
          )),
    ),
    faults: {
      "responses-results-late": changeRequestItems((item) =>
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
    judge: upstream(
      "empty-arguments",
      "a call with {}",
      (call) =>
        call.dialect === "responses" ||
        stepsText(call) === "user; call {}; result of 0: done; user",
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
    judge: upstream(
      "picture-result",
      "the text and the picture",
      (call) =>
        call.body.includes("the map") &&
          call.body.includes(`"${PIXEL}"`) || imageIn(call),
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
        return factOf("signatures upstream", sent.join() || "none", x)
          .mustBe(
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
]);
