/** Checks of the area `tools` about requests upstream: tool definitions and tool choices. */
import {
  fact,
  factOf,
  type Finding,
  NotTestable,
} from "../../suite/finding.ts";
import { changeRequest, inTools } from "../../faults/change_request.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import type { Exchange, UpstreamCall } from "../../evidence/exchange.ts";
import { brief, sameJson } from "../../evidence/json_path.ts";
import {
  keepsSchema,
  type OfferedTool,
  offeredTools,
  toolChoiceIn,
} from "../../evidence/offered_tools.ts";
import type { DialectName } from "@model-gateway/replay/parse_request";
import type { Evidence } from "../../suite/evidence.ts";
import { mapValues } from "@model-gateway/replay/map_values";
import { isObject, parseJson } from "@model-gateway/replay/json";
import { ascii, choice, schemas, toolDescriptionsLost } from "./faults.ts";

const OFFER = {
  section: "POST /v1/chat/completions (operation `createChatCompletion`)",
  text:
    "| tools | array | no | Function-calling shape of the chat-completion convention |",
} as const;
const CHOICE =
  "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, and https://platform.openai.com/docs/guides/function-calling, tool choice";
/** The last upstream call of a successful exchange. */
export function callOf(x: Exchange): UpstreamCall {
  const call = x.upstream.at(-1);
  if (x.head?.status === 200 && call !== undefined) return call;
  throw new NotTestable(
    `"${x.label}" was to reach the upstream, and was answered ${x.head?.status}: ${
      x.text.slice(0, 200)
    }`,
    x,
  );
}

/** The dialect of the exchange itself. */
export function ownDialect(x: Exchange): DialectName {
  return x.endpoint === "chat" ? "chat_completions" : "messages";
}

/** The tools in the client's request and in the request upstream. */
function offers(
  e: Evidence,
): readonly {
  x: Exchange;
  call: UpstreamCall;
  sent: readonly OfferedTool[];
  found: readonly OfferedTool[];
}[] {
  return e.matching("*/*/definitions").map((x) => {
    const call = callOf(x);
    return {
      x,
      call,
      sent: offeredTools(ownDialect(x), parseJson(x.request.body)),
      found: offeredTools(call.dialect, call.json),
    };
  });
}

/**
 * The tool choices upstream that are right for each form; more than one where formats express it in
 * several ways.
 */
const DEMANDED: Readonly<Record<string, readonly string[]>> = {
  auto: ["auto", "unset"],
  any: ["any"],
  named: ["tool:get_time"],
  none: ["none"],
  single: ["auto", "unset"],
  "any-single": ["any"],
  many: ["auto", "unset"],
  unset: ["auto", "unset"],
};

function demands(e: Evidence, forms: readonly string[]): Finding[] {
  return forms.flatMap((form) =>
    e.matching(`*/*/${form}`).map((x) => {
      const call = callOf(x);
      const offered = offeredTools(call.dialect, call.json);
      const { choice } = toolChoiceIn(call.dialect, call.json);
      const expected = DEMANDED[form] ?? [];
      // Offering no tool equals a ban; offering one tool and forcing any equals forcing it by name.
      const holds = expected.includes(choice) ||
        (form === "none" && offered.length === 0) ||
        (form === "named" && choice === "any" && offered.length === 1 &&
          offered[0]?.name === "get_time");
      return factOf("tool choice sent upstream", choice, x).mustBe(
        expected.join(" or "),
        holds,
      );
    })
  );
}

export const TOOL_REQUEST_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: ["tool-choices"],
  of: offers,
}, [
  {
    id: "tools.definitions-names",
    rule: OFFER,
    level: "documented",
    reads: ["tool-definitions"],
    each: ({ x, sent, found }) => {
      const [expected, actual] = [sent, found].map((tools) =>
        tools.map(({ name }) => name)
      );
      return factOf(
        "names of the tools sent upstream",
        brief(actual, 400),
        x,
      )
        .mustBe(brief(expected, 400), sameJson(expected ?? [], actual ?? []));
    },
    faults: {
      "tool-definitions-lost": changeRequest({ tools: [] }),
      "tool-definitions-capped": changeRequest((request) => ({
        tools: request.tools.slice(0, 16),
      })),
      "tool-definitions-turned": changeRequest((request) => ({
        tools: request.tools.toReversed(),
      })),
      "tool-definitions-renamed": inTools(({ name }) => ({
        name: name.replaceAll("-", "_"),
      })),
    },
  },
  {
    id: "tools.definitions-descriptions",
    rule: OFFER,
    level: "documented",
    reads: ["tool-definitions"],
    each: ({ x, sent, found }) => {
      const bad = sent.find(({ description }, at) =>
        description !== "" && found[at]?.description !== description
      );
      return factOf(
        "descriptions of the tools sent upstream",
        found[sent.findIndex((tool) => tool === bad)]?.description ?? "all",
        x,
      ).mustBe(bad?.description ?? "all", bad === undefined);
    },
    faults: {
      "tool-descriptions-lost": toolDescriptionsLost,
      "tool-descriptions-ascii": inTools(({ about }) => ({
        about: about === undefined ? undefined : ascii(about),
      })),
      ...sharedFaults("tool-definitions-lost"),
    },
  },
  {
    id: "tools.definitions-schemas",
    rule: OFFER,
    level: "documented",
    reads: ["tool-definitions"],
    each: ({ x, call, sent, found }) => {
      const ownKind = call.dialect === "generate_content";
      const bad = sent.findIndex((tool, at) =>
        // A schema without properties may be left out where the dialect wants it so.
        !(ownKind && tool.description === "") &&
        !keepsSchema(tool.schema, found[at]?.schema, ownKind)
      );
      return factOf(
        "schemas of the tools sent upstream",
        brief(found[bad]?.schema ?? "all", 600),
        x,
      ).mustBe(brief(sent[bad]?.schema ?? "all", 600), bad === -1);
    },
    faults: {
      "tool-schemas-emptied": inTools(() => ({
        schema: { type: "object", properties: {} },
      })),
      "tool-schema-required-lost": schemas(({ required: _, ...rest }) => rest),
      "tool-schema-enum-lost": schemas(({ enum: _, ...rest }) => rest),
      "tool-schema-nested-lost": inTools(({ schema }) => ({
        schema: isObject(schema) && isObject(schema["properties"])
          ? {
            ...schema,
            properties: mapValues(schema["properties"], (value) =>
              isObject(value) ? { ...value, properties: undefined } : value),
          }
          : schema,
      })),
      "tool-schema-keywords-as-properties-lost": inTools(({ schema }) => ({
        schema: isObject(schema) && isObject(schema["properties"])
          ? {
            ...schema,
            properties: { ...schema["properties"], title: undefined },
          }
          : schema,
      })),
      "tool-schema-types-changed": schemas((schema) =>
        schema["type"] === "integer" ? { ...schema, type: "number" } : schema
      ),
      "tool-schema-additional-lost": schemas((
        { additionalProperties: _, ...rest },
      ) => rest),
      "tool-schema-items-lost": schemas(({ items: _, ...rest }) => rest),
    },
  },
  {
    id: "tools.choice-forced",
    source: CHOICE,
    rule:
      "A tool that is forced by name, and the demand for any tool, reach the upstream as such.",
    judge: (e) => demands(e, ["named", "any", "any-single"]),
    faults: {
      "tool-choice-lost": choice(() => undefined),
      "tool-choice-named-as-any": choice((wanted) =>
        wanted?.startsWith("tool:") ? "any" : wanted
      ),
      "tool-choice-any-as-auto": choice((wanted) =>
        wanted === "any" ? "auto" : wanted
      ),
      "tool-choice-wrong-name": choice((wanted) =>
        wanted?.startsWith("tool:") ? "tool:get_weather" : wanted
      ),
    },
  },
  {
    id: "tools.choice-none",
    source: CHOICE,
    rule: "Where calls are forbidden, the upstream may not call.",
    judge: (e) => demands(e, ["none"]),
    faults: {
      "tool-choice-none-as-auto": choice((wanted) =>
        wanted === "none" ? "auto" : wanted
      ),
      ...sharedFaults("tool-choice-lost"),
    },
  },
  {
    id: "tools.choice-free",
    source: CHOICE,
    rule: "Where the model may choose, nothing is forced upstream.",
    judge: (e) => demands(e, ["auto", "unset", "single", "many"]),
    faults: {
      "tool-choice-auto-as-any": choice((wanted) =>
        wanted === "auto" ? "any" : wanted
      ),
      "tool-choice-unset-as-none": choice((wanted) => wanted ?? "none"),
    },
  },
  {
    id: "tools.choice-keeps-tools",
    rule: OFFER,
    level: "documented",
    judge: (e) =>
      ["auto", "unset", "any", "single", "many"].flatMap((form) =>
        e.matching(`*/*/${form}`).map((x) => {
          const call = callOf(x);
          const found = offeredTools(call.dialect, call.json).map(({ name }) =>
            name
          );
          return factOf("tools sent upstream", brief(found), x).mustBe(
            "get_weather, get_time",
            sameJson(found, ["get_weather", "get_time"]),
          );
        })
      ),
    faults: sharedFaults("tool-definitions-lost", "tool-definitions-turned"),
  },
  {
    id: "tools.parallel-off",
    source: CHOICE,
    rule:
      "`disable_parallel_tool_use` and `parallel_tool_calls` = false reach an upstream whose format has them.",
    judge: (e) =>
      ["single", "any-single"].flatMap((form) => e.matching(`*/*/${form}`))
        .flatMap((x) => {
          const call = callOf(x);
          if (call.dialect === "generate_content") {
            const nothing = "this dialect cannot express it";
            return [fact(true, "parallel calls", nothing, nothing, x)];
          }
          const { parallel } = toolChoiceIn(call.dialect, call.json);
          return [
            factOf("parallel calls sent upstream", parallel, x).mustBe(
              "forbidden",
              parallel === false,
            ),
          ];
        }),
    faults: {
      "tool-parallel-flag-lost": changeRequest({ parallel: true }),
      "tool-parallel-flag-turned": changeRequest((request) => ({
        parallel: !request.parallel,
      })),
    },
  },
  {
    id: "tools.parallel-on",
    source: CHOICE,
    rule: "Parallel calls are forbidden only where the client forbids them.",
    judge: (e) =>
      ["auto", "any", "named", "many", "unset"].flatMap((form) =>
        e.matching(`*/*/${form}`)
      ).map((x) => {
        const call = callOf(x);
        const { parallel } = toolChoiceIn(call.dialect, call.json);
        return factOf("parallel calls sent upstream", parallel, x).mustBe(
          "not forbidden",
          parallel !== false,
        );
      }),
    faults: {
      "tool-parallel-never": changeRequest({ parallel: false }),
      ...sharedFaults("tool-parallel-flag-turned"),
    },
  },
]);
