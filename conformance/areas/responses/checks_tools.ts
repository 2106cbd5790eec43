/** Checks of the area `responses`: tools of every kind, and the choice among them. */
import { inTools } from "../../faults/change_request.ts";
import { demanded, factOf } from "../../suite/finding.ts";
import { type Json, objectOf } from "@model-gateway/replay/json";
import {
  askedItemsOf,
  askedTools,
  changeResponsesRequest,
  forgets,
  refuses,
  sent,
} from "./faults.ts";
import { inItems } from "../../faults/change_responses.ts";
import {
  allOf,
  type Check,
  checksWith,
  sharedFaults,
} from "../../suite/check.ts";
import {
  at,
  brief,
  listAt,
  sameJson,
  textAt,
} from "../../evidence/json_path.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  keepsSchema,
  offeredTools,
  toolChoiceIn,
} from "../../evidence/offered_tools.ts";
import { sentFor } from "./sent_request.ts";
import {
  callsOf,
  itemsOf,
  streamsOf,
  whereAccepted,
} from "../../endpoints/read_responses.ts";
import { WEATHER } from "./requests.ts";
import { RESPONSES_CUSTOM_TOOL_CHECKS } from "./checks_custom_tools.ts";

/** One finding for each reply with that name, about its first call. */
function firstCall(
  name: string,
  expected: Readonly<Record<string, Json>>,
): Check["judge"] {
  return (e) =>
    whereAccepted(e, name, (x) => {
      const [call] = callsOf(x);
      return demanded(e)(
        textAt(call, "type") === "function_call" &&
          Object.entries(expected).every(([key, value]) =>
            sameJson(at(call, key), value)
          ),
        "output",
        `a function_call with ${brief(expected)}`,
        itemsOf(x),
        x,
      );
    });
}

/** One finding for each request upstream with that name. */
function reaches(
  name: string,
  expected: string,
  test: (x: Exchange) => boolean,
): Check["judge"] {
  return (e) =>
    whereAccepted(
      e,
      name,
      (x) =>
        factOf("request upstream", sentFor(x).body.slice(0, 400), x).mustBe(
          expected,
          test(x),
        ),
    );
}

const namesSent = (x: Exchange): readonly string[] =>
  offeredTools(sentFor(x).dialect, sentFor(x).json).map(({ name }) => name);
const choiceSent = (x: Exchange): string =>
  toolChoiceIn(sentFor(x).dialect, sentFor(x).json).choice;

export const RESPONSES_TOOL_CHECKS: readonly Check[] = checksWith({
  section: "Responses requests",
  mode: "both",
  needs: "responses",
  reads: ["responses-choices"],
}, [
  {
    id: "responses.tool-choice",
    rule:
      "With `tool_choice` `required` or with a function in it the reply is a call, of that function.",
    judge: allOf(
      firstCall("required", { name: "get_weather" }),
      firstCall("named", { name: "get_weather" }),
    ),
    faults: { "responses-choice-ignored": forgets("tool_choice") },
    isSkillLive: true,
  },
  {
    id: "responses.tool-choice-none",
    rule: "With `tool_choice` `none` no tool is called.",
    judge: (e) =>
      whereAccepted(
        e,
        "none",
        (x) =>
          demanded(e)(callsOf(x).length === 0, "calls", "none", callsOf(x), x),
      ),
    faults: {
      "responses-none-calls": changeResponsesRequest((body) =>
        body["tool_choice"] === "none"
          ? { ...body, tool_choice: "required" }
          : body
      ),
    },
    isSkillLive: true,
  },
  {
    id: "responses.allowed-tools",
    rule: "With `allowed_tools` only a listed tool is called.",
    judge: firstCall("allowed", { name: "get_weather" }),
    faults: {
      "responses-allowed-ignored": changeResponsesRequest((body) =>
        textAt(body, "tool_choice.type") === "allowed_tools"
          ? { ...body, tool_choice: "required" }
          : body
      ),
    },
    isSkillLive: true,
  },
  {
    id: "responses.tools-sent",
    rule:
      "A function reaches the model with its name, its description and its schema.",
    mode: "replay",
    judge: reaches("required", "get_weather as declared", (x) => {
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
    faults: {
      "responses-schema-halved": askedTools({ parameters: { type: "object" } }),
      "responses-description-lost": askedTools({ description: undefined }),
    },
  },
  {
    id: "responses.not-strict",
    rule: "A function with `strict` `false` is not strict upstream.",
    mode: "replay",
    judge: reaches(
      "required",
      "no strict tool",
      (x) => !/"strict":true/.test(sentFor(x).body),
    ),
    faults: {
      "responses-always-strict": sent((body) => ({
        ...body,
        tools: listAt(body, "tools").map((tool) => ({
          ...objectOf(tool),
          strict: true,
        })),
      })),
    },
  },
  {
    id: "responses.one-call-at-most",
    rule:
      "With `parallel_tool_calls` `false` the model is told to call one tool at a time, where its vendor has a word for it.",
    mode: "replay",
    judge: reaches("single", "parallel calls off", (x) => {
      const { dialect, json } = sentFor(x);
      return dialect === "generate_content" ||
        toolChoiceIn(dialect, json).parallel === false;
    }),
    faults: { "responses-parallel-lost": forgets("parallel_tool_calls") },
  },
  ...RESPONSES_CUSTOM_TOOL_CHECKS,
  {
    id: "responses.call-ids-made-unique",
    rule:
      "Calls to which an upstream gave one id have different ones in the reply.",
    level: "contract",
    mode: "replay",
    reads: ["responses-odd-calls"],
    judge: (e) =>
      // Replies in the upstream's own format stay as they are.
      streamsOf(e, "same-ids").filter(({ via }) => via !== "responses").map(
        (x) => {
          const ids = callsOf(x).map((call) => textAt(call, "call_id"));
          return factOf("call_id", ids.join(", "), x).mustBe(
            "two different ones",
            ids.length === 2 && new Set(ids).size === 2,
          );
        },
      ),
    faults: {
      "responses-call-ids-equal": inItems("function_call", {
        call_id: "call_1",
      }),
    },
  },
  {
    id: "responses.groups",
    rule:
      "A call of a tool in a `namespace` has the tool's `name` and its `namespace`, also where two groups have a tool of that name.",
    level: "convention",
    judge: firstCall("group", {
      name: "get_weather",
      namespace: "south",
    }),
    faults: {
      "responses-namespace-lost": inItems(
        "function_call",
        { namespace: undefined },
      ),
      "responses-namespace-joined": inItems(
        "function_call",
        ({ namespace, ...item }) => ({
          ...item,
          name: `${namespace}__${item["name"]}`,
        }),
      ),
    },
    isSkillLive: true,
  },
  {
    id: "responses.group-names-differ",
    rule:
      "Tools of different groups have different names upstream, none longer than its vendor allows.",
    level: "convention",
    mode: "replay",
    judge: allOf(
      reaches(
        "group",
        "two names",
        (x) => new Set(namesSent(x)).size === 2 && namesSent(x).length === 2,
      ),
      reaches(
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
    faults: {
      "responses-groups-collide": inTools(({ name }) => ({
        name: name.replace(/^.*__/, ""),
      })),
      "responses-long-name-sent": inTools(({ name }) => ({
        name: name.padEnd(130, "x"),
      })),
    },
  },
  {
    id: "responses.long-names-return",
    rule: "A name that was shortened upstream is whole again in the reply.",
    level: "convention",
    judge: firstCall("long-name", {
      namespace: "a_group_of_tools_with_a_long_name",
      name: "get_weather_with_a_name_of_sixty_characters_and_some_more_xy",
    }),
    faults: {
      "responses-short-name-returned": inItems("function_call", (item) => ({
        ...item,
        name: textAt(item, "name").slice(0, 20),
      })),
    },
    isSkillLive: true,
  },
  {
    id: "responses.additional-tools",
    rule:
      "The tools of an `additional_tools` item are offered like those of `tools`.",
    level: "convention",
    judge: firstCall("as-item", { name: "get_weather" }),
    faults: {
      "responses-additional-tools-lost": askedItemsOf(
        "additional_tools",
        () => undefined,
      ),
    },
    isSkillLive: true,
  },
  {
    id: "responses.hosted-beside",
    rule:
      "A tool that the vendor would have to run prevents no call of the other tools.",
    level: "convention",
    judge: firstCall("hosted", { name: "get_weather" }),
    faults: { "responses-hosted-refused": refuses('"web_search"') },
    isSkillLive: true,
  },
  {
    id: "responses.choice-sent",
    rule: "Every tool choice reaches the model in the words of its vendor.",
    mode: "replay",
    judge: allOf(
      reaches("required", "any", (x) => choiceSent(x) === "any"),
      reaches(
        "named",
        "get_weather",
        (x) => choiceSent(x) === "tool:get_weather",
      ),
      reaches(
        "allowed",
        "a choice that excludes get_time",
        (x) =>
          ["allowed_tools", "tool:get_weather"].includes(choiceSent(x)) ||
          namesSent(x).join() === "get_weather",
      ),
    ),
    faults: sharedFaults(
      "responses-choice-ignored",
      "responses-allowed-ignored",
    ),
  },
]);
