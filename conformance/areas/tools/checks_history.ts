/** Checks of the area `tools`: how calls and their results reach the upstream in later turns. */
import { fact, factOf, type Finding, offered } from "../../suite/finding.ts";
import {
  changeRequest,
  inParts,
  inTurns,
} from "../../faults/change_request.ts";
import { withAt } from "../../faults/change_reply.ts";
import {
  ARGS,
  ascii,
  callSignatures,
  chatCall,
  resultIds,
  results,
  resultsLast,
} from "./faults.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import type { UpstreamCall } from "../../evidence/exchange.ts";
import {
  at,
  brief,
  listAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import { type HistoryStep, historySteps } from "../../evidence/tool_history.ts";
import { type Json, parseJson } from "@model-gateway/replay/json";
import type { Evidence } from "../../suite/evidence.ts";
import { SIGNATURE_OF } from "../generate_content/signatures.ts";
import { callOf, ownDialect } from "./checks_upstream.ts";

const RESULTS =
  "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, handling tool results";

function histories(
  e: Evidence,
  pattern: string,
  view: (steps: readonly HistoryStep[], call: UpstreamCall) => Json,
): Finding[] {
  return e.matching(pattern).map((x) => {
    const call = callOf(x);
    const sent = view(
      historySteps(ownDialect(x), parseJson(x.request.body)),
      call,
    );
    const found = view(historySteps(call.dialect, call.json), call);
    return factOf("turns sent upstream", brief(found, 600), x).mustBe(
      brief(sent, 600),
      sameJson(sent, found),
    );
  });
}

/** Text without whitespace: turns may be joined in more than one way. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

const shape = (steps: readonly HistoryStep[]): Json =>
  steps.map(({ kind }) => kind);
const answers = (steps: readonly HistoryStep[]): Json =>
  steps.flatMap((step): Json[] =>
    step.kind === "result" ? [[step.of, plain(step.text)]] : []
  );

/** True when the results are the same; a failed result may be marked as failed in words. */
function sameAnswers(
  sent: readonly HistoryStep[],
  found: readonly HistoryStep[],
): boolean {
  const answered = found.filter(({ kind }) => kind === "result");
  const results = sent.filter(({ kind }) => kind === "result");
  return results.length === answered.length && results.every((step, at) => {
    const other = answered[at];
    if (step.kind !== "result" || other?.kind !== "result") return false;
    const [text, seen] = [plain(step.text), plain(other.text)];
    return step.of === other.of &&
      (step.failed ? seen.includes(text) : seen === text);
  });
}

const called = (steps: readonly HistoryStep[]): Json =>
  steps.flatMap((step): Json[] =>
    step.kind === "call" ? [{ name: step.name, args: step.args }] : []
  );
const texts = (steps: readonly HistoryStep[]): Json =>
  steps.flatMap((step): Json[] =>
    step.kind === "user" || step.kind === "assistant"
      ? [[step.kind, plain(step.text)]]
      : []
  );

export const TOOL_HISTORY_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: ["tool-histories"],
}, [
  {
    id: "tools.results-paired",
    source: RESULTS,
    rule:
      "Each result reaches the upstream with its text, and with the id of its call.",
    matching: "*/*/*",
    each: (x) => {
      const call = callOf(x);
      const sent = historySteps(ownDialect(x), parseJson(x.request.body));
      const found = historySteps(call.dialect, call.json);
      return factOf(
        "results sent upstream: number of the call, and text",
        brief(answers(found), 600),
      ).mustBe(brief(answers(sent), 600), sameAnswers(sent, found));
    },
    faults: {
      "tool-results-swapped": resultIds((ids) => ids.toReversed()),
      "tool-results-one-id": resultIds((ids) => ids.map(() => ids[0] ?? "")),
      "tool-results-other-ids": resultIds((ids) => ids.map((id) => `${id}x`)),
      "tool-results-text-lost": inParts(
        "result",
        (part) => part.text.includes("[[fx:") ? part : { ...part, text: "" },
      ),
      "tool-second-result-lost": inTurns((all) => {
        const [first] = all.filter(results);
        return all.filter((part) => !results(part) || part === first);
      }),
      "tool-result-parts-lost": changeRequest((modelRequest, { request }) =>
        request.body.includes('[{"type":"text","text":"12 degrees')
          ? {
            turns: modelRequest.turns.map((turn) => ({
              ...turn,
              parts: turn.parts.map((part) =>
                part.type === "result" ? { ...part, text: "" } : part
              ),
            })),
          }
          : {}
      ),
      "tool-results-as-text": inParts("result", ({ text }) => ({
        type: "text",
        text,
      })),
    },
  },
  {
    id: "tools.results-placed",
    source: RESULTS,
    rule:
      "Results follow their calls directly; text of the same turn comes after them.",
    judge: (e) => histories(e, "*/*/*", shape),
    faults: {
      "tool-results-after-text": {
        upstream: (call) => ({ ...call, body: resultsLast(call.body) }),
      },
      "tool-empty-result-lost": inParts(
        "result",
        (part) => part.text === "" ? undefined : part,
      ),
      "tool-rounds-merged": changeRequest((request) => {
        const all = request.turns.flatMap(({ parts }) => parts);
        const calls = all.filter(({ type }) => type === "call");
        if (calls.length === 0) return {};
        const [first, ...rest] = all.filter(({ type }) => type === "text");
        return {
          turns: [
            { role: "user", parts: first === undefined ? [] : [first] },
            { role: "assistant", parts: calls },
            { role: "user", parts: [...all.filter(results), ...rest] },
          ],
        };
      }),
      ...sharedFaults("tool-results-as-text"),
    },
  },
  {
    id: "tools.calls-resent",
    source: RESULTS,
    rule:
      "The calls of earlier turns reach the upstream with their names and arguments, in order.",
    judge: (e) => histories(e, "*/*/*", called),
    faults: {
      "tool-history-args-lost": inParts(
        "call",
        (part) => ({ ...part, args: {} }),
      ),
      "tool-history-calls-lost": inParts("call", () => undefined),
      "tool-history-calls-turned": inTurns((all) => {
        const calls = all.filter(({ type }) => type === "call").toReversed();
        return [...all.filter(({ type }) => type !== "call"), ...calls];
      }),
      "tool-history-args-ascii": inParts("call", (part) => ({
        ...part,
        args: JSON.parse(ascii(JSON.stringify(part.args))),
      })),
      "tool-history-renamed": inParts("call", (part) => ({
        ...part,
        name: `${part.name}_1`,
      })),
    },
  },
  {
    id: "tools.text-beside-history",
    source: RESULTS,
    rule: "Text beside calls and results reaches the upstream in its own turn.",
    judge: (e) => histories(e, "*/*/*", texts),
    faults: {
      "tool-text-of-call-turn-lost": inTurns((all) =>
        all.some(({ type }) => type === "call")
          ? all.filter(({ type }) => type !== "text")
          : all
      ),
      "tool-text-after-results-lost": inTurns((all) =>
        all.some(results)
          ? all.map((part) =>
            part.type === "text"
              ? { ...part, text: part.text.replace("Go on.", "") }
              : part
          )
          : all
      ),
    },
  },
  {
    id: "tools.result-failed",
    source: `${RESULTS}, is_error`,
    rule: "`is_error` of a result reaches an upstream whose format has it.",
    judge: (e) => {
      const found = ["pair", "reversed"].flatMap((form) =>
        e.matching(`messages/*/${form}`)
      ).filter(({ via }) => via === "messages");
      if (found.length === 0) {
        const nothing = "no model has an upstream of the message dialect";
        return [fact(true, "is_error", nothing, nothing)];
      }
      return found.map((x) => {
        const { dialect, json } = callOf(x);
        const failed = historySteps(dialect, json).flatMap((step) =>
          step.kind === "result" ? [step.failed] : []
        );
        return factOf(
          "is_error of the results sent upstream",
          brief(failed),
          x,
        )
          .mustBe("false, true", sameJson(failed, [false, true]));
      });
    },
    faults: {
      "tool-is_error-lost": inParts(
        "result",
        (part) => ({ ...part, failed: false }),
      ),
      "tool-is_error-always": inParts(
        "result",
        (part) => ({ ...part, failed: true }),
      ),
    },
  },
  {
    id: "tools.unsigned-call",
    source:
      "https://ai.google.dev/gemini-api/docs/thought-signatures, calls of other models",
    rule:
      "The first call of a step of the running turn has a `thoughtSignature`; a call that another model made has the documented word.",
    judge: (e) =>
      offered(
        e.matching("*/*/bare").filter((x) =>
          callOf(x).dialect === "generate_content"
        ),
        "has the generate-content format",
      ).map((x) => {
        const part = listAt(callOf(x).json, "contents").flatMap((turn) =>
          listAt(turn, "parts")
        ).find((part) => at(part, "functionCall") !== undefined);
        const signature = textAt(part ?? null, "thoughtSignature");
        return factOf("thoughtSignature of the call", signature, x)
          .mustBe("a signature", signature !== "");
      }),
    faults: {
      "tool-call-unsigned": callSignatures(""),
      "tool-call-signature-empty": callSignatures(',"thoughtSignature":""'),
    },
  },
  {
    id: "tools.moved-calls",
    source: RESULTS,
    rule:
      "A conversation may go on with another model amid its calls: call and result reach it, paired.",
    reads: ["tool-moved"],
    judge: (e) =>
      histories(e, "*/*/moved", (steps) => [called(steps), answers(steps)]),
    faults: {
      ...sharedFaults("tool-results-other-ids"),
    },
  },
  {
    id: "tools.moved-signature",
    source:
      "https://platform.claude.com/docs/en/build-with-claude/extended-thinking, signatures are verified",
    rule:
      "What one model signed does not reach a model of another upstream, which would refuse it.",
    reads: ["tool-moved"],
    matching: "*/*/moved",
    each: (x) => {
      const signature = SIGNATURE_OF["messages"] ?? "";
      const { body } = callOf(x);
      return factOf("request upstream", body.slice(0, 600))
        .mustBe(
          "no signature of another model",
          signature !== "" && !body.includes(signature),
        );
    },
    faults: {
      "tool-moved-signature-sent": {
        upstream: (call, { request }) => ({
          ...call,
          body: {
            ...call.body,
            ...(request.body.includes(SIGNATURE_OF["messages"] ?? "")
              ? { note: SIGNATURE_OF["messages"] ?? "" }
              : {}),
          },
        }),
      },
    },
  },
  {
    id: "tools.round-trip",
    source: RESULTS,
    rule:
      "A call in a reply can be answered by its id: whole and streamed, call and result are paired upstream.",
    reads: ["tool-round-trip"],
    judge: (e) =>
      ["whole", "stream"].flatMap((form) =>
        e.matching(`*/*/answered-${form}`).map((x) => {
          const call = callOf(x);
          const steps = historySteps(call.dialect, call.json);
          const found = [called(steps), answers(steps)];
          const expected: Json = [
            [
              { name: "get_weather", args: { city: "Paris" } },
              { name: "get_weather", args: { city: "Tokyo" } },
            ],
            [[0, "Answer number 0"], [1, "Answer number 1"]],
          ];
          return factOf(
            "calls and results sent upstream",
            brief(found, 400),
            x,
          )
            .mustBe(brief(expected, 400), sameJson(found, expected));
        })
      ),
    faults: {
      "tool-chat-args-lost": chatCall((call) => withAt(call, ARGS, "")),
      ...sharedFaults("tool-results-other-ids"),
    },
  },
]);
