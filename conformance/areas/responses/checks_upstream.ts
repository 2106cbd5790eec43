/** Checks of the area `responses` that depend on the upstream: its bytes, pauses and words. */
import { changeReplies } from "../../faults/change_hooks.ts";
import {
  fact,
  factOf,
  type Finding,
  offered,
  some,
  statusIs,
} from "../../suite/finding.ts";
import { objectOf, parseJson } from "@model-gateway/replay/json";
import { PASSED_ID, passedReply } from "@model-gateway/replay/passed";
import {
  askedTools,
  count,
  droppedHeader,
  inFrames,
  sent,
  without,
} from "./faults.ts";
import { at, brief, listAt, textAt } from "../../evidence/json_path.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { type Check, checksWith } from "../../suite/check.ts";
import { faultsIn } from "./grammar.ts";
import { responseOf, typeOf } from "../../endpoints/read_responses.ts";
import { HOSTED_AT } from "./scenarios_upstream.ts";
import { sentFor } from "./sent_request.ts";

/** Changes the text of a reply that passes through. */
function passed(change: (text: string, x: Context) => string): Hooks {
  return {
    wire: (text, x) =>
      x.endpoint === "responses" && x.request.body.includes("[[fx:passed")
        ? change(text, x)
        : text,
  };
}

/** The reply's text as the upstream sent it, with the members that a gateway replaces. */
function expectedText(x: Exchange): string {
  const { stream, whole } = passedReply({
    id: textAt(responseOf(x), "id"),
    model: textAt(parseJson(x.request.body), "model"),
    store: true,
    previousId: null,
  });
  return x.frames.length === 0 ? whole : stream.join("");
}

/** The first place where two texts differ, with what is around it. */
function difference(expected: string, actual: string): readonly string[] {
  const length = [...expected].findIndex((_, n) => expected[n] !== actual[n]);
  const from = Math.max(0, length - 20);
  return [expected, actual].map((text) => text.slice(from, from + 120));
}

/** True where the dialect of a request has strict functions. */
const hasStrict = ({ via }: Exchange): boolean =>
  via === "chat_completions" || via === "responses";

/** The strictness of the first function upstream; one vendor has a mode for all functions. */
function strictSent(x: Exchange): unknown {
  const { json } = sentFor(x);
  const [tool] = listAt(json, "tools");
  const mode = at(json, "toolConfig.functionCallingConfig.mode");
  return at(tool, "strict") ?? at(tool, "function.strict") ??
    (mode === "VALIDATED" ? true : undefined);
}

const dropped = (x: Exchange): string =>
  headerOf(x, "x-gateway-dropped") ?? "none";

export const RESPONSES_UPSTREAM_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  needs: "responses",
  section: "Responses requests",
  reads: ["responses-strict"],
}, [
  {
    id: "responses.signs-of-life",
    section: "Responses stream",
    rule:
      "While its upstream pauses, a stream goes on with numbered `keepalive` frames; the frames after the pause are numbered on.",
    level: "convention",
    needs: "signs-of-life",
    reads: ["responses-pause"],
    streams: "responses/*/stream/pause",
    each: (x): Finding[] => {
      const [fault] = faultsIn(x.frames);
      const signs = x.frames.filter((frame) => typeOf(frame) === "keepalive");
      return [
        factOf("frames", x.frames.map(typeOf).slice(0, 9).join(), x).mustBe(
          "with a keepalive frame",
          signs.length > 0,
        ),
        factOf("frame", fault?.frame?.data ?? "all frames", x, fault?.frame)
          .mustBe(fault?.expected ?? "as the format has it", !fault),
      ];
    },
    faults: {
      "responses-signs-as-comments": {
        wire: (text) =>
          text.startsWith("event: keepalive\n") ? ": keepalive\n\n" : text,
      },
      "responses-signs-never": without(/^keepalive$/),
      "responses-signs-number-repeated": inFrames(/^keepalive$/, (data) => ({
        ...data,
        sequence_number: count(data, "sequence_number") - 1,
      })),
      "responses-signs-not-counted": inFrames(/./, (data, { state }) => {
        const skipped = count({ n: state.get("signs") ?? 0 }, "n");
        if (data["type"] === "keepalive") state.set("signs", skipped + 1);
        return {
          ...data,
          sequence_number: count(data, "sequence_number") - skipped,
        };
      }),
    },
  },
  {
    id: "responses.passed-through",
    section: "Responses reply",
    rule:
      "A reply of an upstream in the same format keeps its bytes, except for `id`, `model`, `store` and `previous_response_id`.",
    level: "contract",
    reads: ["responses-passed"],
    judge: (e) =>
      offered(
        e.exchanges.flatMap((x) => {
          const [expected = "", actual = ""] = difference(
            expectedText(x),
            x.text,
          );
          return [
            factOf("bytes", actual, x).mustBe(
              expected,
              x.text === expectedText(x),
            ),
            factOf("id", textAt(responseOf(x), "id"), x).mustBe(
              "not the upstream's",
              textAt(responseOf(x), "id") !== PASSED_ID,
            ),
          ];
        }),
        "has this format",
      ),
    faults: {
      "responses-passed-written-anew": passed((text) =>
        text.replaceAll(
          /^(data: )?(\{.*)$/gm,
          (_, field = "", data) => `${field}${JSON.stringify(parseJson(data))}`,
        )
      ),
      "responses-passed-member-lost": passed((text) =>
        text.replaceAll(/"x_cost":[^}]*/g, '"x_cost":0')
      ),
      "responses-passed-every-model": passed((text, { model }) =>
        text.replaceAll('"model":"deeper"', `"model":${JSON.stringify(model)}`)
      ),
      "responses-passed-id": passed((text) =>
        text.replaceAll(/"resp_[^"]*"/g, JSON.stringify(PASSED_ID))
      ),
      "responses-passed-store": passed((text) =>
        text.replaceAll(/"store":true/g, '"store":false')
      ),
      "responses-passed-padding-lost": passed((text) =>
        text.replaceAll(/,"obfuscation":"x*"/g, "")
      ),
    },
  },
  {
    id: "responses.strict",
    rule:
      "A function with `strict` `true` is strict upstream, where its vendor has a word for it.",
    judge: (e) =>
      offered(
        e.replies("responses/*/whole/strict").filter(hasStrict).map((x) =>
          fact(strictSent(x) === true, "strict", "true", strictSent(x), x)
        ),
        "has strict functions",
      ),
    faults: {
      "responses-strict-lost": askedTools({ strict: undefined }),
    },
  },
  {
    id: "responses.strict-unspecified",
    rule:
      "A function without `strict` is strict in this format: its own vendor never receives `false`.",
    judge: (e) =>
      offered(
        e.replies("responses/*/whole/unspecified").filter(({ via }) =>
          via === "responses"
        ).map((x) =>
          fact(
            strictSent(x) !== false,
            "strict",
            "absent, null or true",
            strictSent(x),
            x,
          )
        ),
        "has this format",
      ),
    faults: {
      "responses-unspecified-is-loose": sent((body) => ({
        ...body,
        tools: listAt(body, "tools").map((tool) => ({
          ...objectOf(tool),
          strict: at(tool, "strict") ?? false,
        })),
      })),
    },
  },
  {
    id: "responses.strict-named",
    rule:
      "Where a vendor has no strict functions, `x-gateway-dropped` names the `strict` that is lost.",
    level: "contract",
    judge: (e) =>
      some(
        e.replies("responses/*/whole/strict").map((x) =>
          factOf("x-gateway-dropped", dropped(x), x).mustBe(
            strictSent(x) === true ? "no strict" : "strict",
            (strictSent(x) === true) !== /strict/.test(dropped(x)),
          )
        ),
        "there",
      ),
    faults: { "responses-strict-lost-silently": droppedHeader(undefined) },
  },
  {
    id: "responses.agent-loses-nothing",
    rule:
      "Of what agents send with every request nothing is left out but the tools that a vendor runs.",
    level: "contract",
    reads: ["responses-agent"],
    judge: (e) =>
      some(
        e.replies("responses/*/whole/agent").map((x) => {
          const expected = x.via === "responses" ? "none" : HOSTED_AT;
          return fact(
            // The name of a tool may follow its place.
            dropped(x).replace(/(?<=\]):\w+$/, "") === expected,
            "x-gateway-dropped",
            expected,
            dropped(x),
            x,
          );
        }),
        "there",
      ),
    faults: {
      "responses-agent-metadata-dropped": droppedHeader("client_metadata"),
    },
  },
  {
    id: "responses.strict-mode",
    section: "Responses errors",
    rule:
      "With `x-gateway-strict: true` a request of which a part would be left out is refused with 400, and `error.param` is that part; every other one is answered.",
    level: "contract",
    reads: ["responses-agent"],
    judge: (e) => [
      ...e.matching("responses/*/whole/strictly").map((x) => statusIs(x, 200)),
      ...some(
        e.matching("responses/*/whole/strictly-searching").flatMap((x) =>
          x.via === "responses" ? [statusIs(x, 200)] : [
            statusIs(x, 400),
            fact(
              textAt(x.json, "error.param") === HOSTED_AT,
              "error.param",
              HOSTED_AT,
              brief(at(x.json, "error.param")),
              x,
            ),
          ]
        ),
        "there",
      ),
    ],
    faults: {
      "responses-strict-mode-ignored": { strictMode: () => false },
      "responses-strict-mode-refuses-all": {
        accept: (problem, _, x) =>
          x.request.headers["x-gateway-strict"] === "true"
            ? { status: 400, type: "invalid_request_error", message: "No." }
            : problem,
      },
      "responses-strict-mode-unnamed": changeReplies(
        { status: 400 },
        (reply) => ({
          body: {
            ...reply.body,
            error: { ...objectOf(reply.body["error"]), param: null },
          },
        }),
      ),
    },
  },
]);
