/** Mutants for the checks of the area `tools` about earlier turns in requests upstream. */
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { Turn, TurnPart } from "../../reference_gateway/part.ts";
import {
  isObject,
  type Json,
  type JsonObject,
} from "@model-gateway/replay/json";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { ascii, changeRequest } from "./faults_upstream.ts";

/** Changes the parts of each turn. */
function turns(
  change: (parts: readonly TurnPart[], turn: Turn) => readonly TurnPart[],
): Hooks {
  return changeRequest((request) => ({
    turns: request.turns.map((turn) => ({
      ...turn,
      parts: change(turn.parts, turn),
    })),
  }));
}

function parts(change: (part: TurnPart) => TurnPart | undefined): Hooks {
  return turns((all) => all.flatMap((part) => change(part) ?? []));
}

/** Changes the ids of results, in order; names follow the ids where an upstream requires names. */
function resultIds(
  change: (ids: readonly string[]) => readonly string[],
): Hooks {
  return turns((all) => {
    const ids = all.flatMap((part) => part.type === "result" ? [part.id] : []);
    const changed = [...change(ids)];
    return all.map((part) =>
      part.type === "result"
        ? { ...part, id: changed.shift() ?? part.id }
        : part
    );
  });
}

function results(part: TurnPart): boolean {
  return part.type === "result";
}

/** Part of `TOOLS_MUTANTS`. */
export const TOOL_HISTORY_MUTANTS: readonly Mutant[] = [
  {
    name: "tool-results-swapped",
    about: "Results are swapped",
    hooks: resultIds((ids) => ids.toReversed()),
  },
  {
    name: "tool-results-one-id",
    about: "All results refer to the first call",
    hooks: resultIds((ids) => ids.map(() => ids[0] ?? "")),
  },
  {
    name: "tool-results-other-ids",
    about: "Results have ids that belong to no call",
    hooks: resultIds((ids) => ids.map((id) => `${id}x`)),
  },
  {
    name: "tool-results-text-lost",
    about: "Results are empty",
    hooks: parts((part) =>
      part.type === "result" && !part.text.includes("[[fx:")
        ? { ...part, text: "" }
        : part
    ),
  },
  {
    name: "tool-second-result-lost",
    about: "Of several results only the first is sent",
    hooks: turns((all) => {
      const [first] = all.filter(results);
      return all.filter((part) => !results(part) || part === first);
    }),
  },
  {
    name: "tool-empty-result-lost",
    about: "An empty result is not sent",
    hooks: parts((part) =>
      part.type === "result" && part.text === "" ? undefined : part
    ),
  },
  {
    name: "tool-result-parts-lost",
    about: "Results that consist of parts are empty",
    hooks: {
      modelRequest: (modelRequest, { request }) =>
        request.body.includes('[{"type":"text","text":"12 degrees')
          ? {
            ...modelRequest,
            turns: modelRequest.turns.map((turn) => ({
              ...turn,
              parts: turn.parts.map((part) =>
                part.type === "result" ? { ...part, text: "" } : part
              ),
            })),
          }
          : modelRequest,
    },
  },
  {
    name: "tool-results-as-text",
    about: "Results are sent as text",
    hooks: parts((part) =>
      part.type === "result" ? { type: "text", text: part.text } : part
    ),
  },
  {
    name: "tool-results-after-text",
    about: "Results are sent after the text of their turn",
    hooks: {
      upstream: (call) => ({ ...call, body: resultsLast(call.body) }),
    },
  },
  {
    name: "tool-rounds-merged",
    about: "All calls are sent in one turn, and all results in the next",
    hooks: changeRequest((request) => {
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
  },
  {
    name: "tool-history-args-lost",
    about: "Earlier calls have no arguments",
    hooks: parts((part) => part.type === "call" ? { ...part, args: {} } : part),
  },
  {
    name: "tool-history-args-ascii",
    about: "Arguments of earlier calls lose non-ASCII characters",
    hooks: parts((part) =>
      part.type === "call"
        ? { ...part, args: JSON.parse(ascii(JSON.stringify(part.args))) }
        : part
    ),
  },
  {
    name: "tool-history-renamed",
    about: "Earlier calls have another name",
    hooks: parts((part) =>
      part.type === "call" ? { ...part, name: `${part.name}_1` } : part
    ),
  },
  {
    name: "tool-history-calls-lost",
    about: "Earlier calls are not sent",
    hooks: parts((part) => part.type === "call" ? undefined : part),
  },
  {
    name: "tool-history-calls-turned",
    about: "Earlier calls are sent in another order",
    hooks: turns((all) => {
      const calls = all.filter(({ type }) => type === "call").toReversed();
      return [...all.filter(({ type }) => type !== "call"), ...calls];
    }),
  },
  {
    name: "tool-text-of-call-turn-lost",
    about: "Text beside earlier calls is not sent",
    hooks: turns((all) =>
      all.some(({ type }) => type === "call")
        ? all.filter(({ type }) => type !== "text")
        : all
    ),
  },
  {
    name: "tool-text-after-results-lost",
    about: "Text beside results is dropped, except for the marker",
    hooks: turns((all) =>
      all.some(results)
        ? all.map((part) =>
          part.type === "text"
            ? { ...part, text: part.text.replace("Go on.", "") }
            : part
        )
        : all
    ),
  },
  {
    name: "tool-is_error-lost",
    about: "Failed results are sent as successful ones",
    hooks: parts((part) =>
      part.type === "result" ? { ...part, failed: false } : part
    ),
  },
  {
    name: "tool-is_error-always",
    about: "All results are sent as failed ones",
    hooks: parts((part) =>
      part.type === "result" ? { ...part, failed: true } : part
    ),
  },
];

/** The body with the results moved after the text of their turn. */
function resultsLast(body: JsonObject): JsonObject {
  const moved = (entry: Json): Json => {
    if (!isObject(entry)) return entry;
    const isAnswer = (part: Json): boolean =>
      isObject(part) &&
      (part["type"] === "tool_result" ||
        part["functionResponse"] !== undefined);
    return Object.fromEntries(
      Object.entries(entry).map(([key, value]) => [
        key,
        Array.isArray(value)
          ? [
            ...value.filter((part: Json) => !isAnswer(part)),
            ...value.filter(isAnswer),
          ]
          : value,
      ]),
    );
  };
  const { messages, contents } = body;
  return {
    ...body,
    ...(Array.isArray(messages) ? { messages: messages.map(moved) } : {}),
    ...(Array.isArray(contents) ? { contents: contents.map(moved) } : {}),
  };
}
