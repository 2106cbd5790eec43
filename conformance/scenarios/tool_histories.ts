/** Scenarios of the area `tools` that are about the turns after a call. */
import { toolCallsIn } from "../evidence/tool_calls.ts";
import { type Json, type JsonObject, objectOf } from "../replay/json.ts";
import {
  type Generation,
  plainAsk,
  streamed,
  toolsFor,
} from "../suite/asks.ts";
import type { Lab } from "../suite/lab.ts";
import { perRoute, type Route, type Scenario } from "../suite/scenario.ts";
import { onRoutes } from "./on_routes.ts";

/** A call and its answer, before they are put into a format. */
interface Answered {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly answer: string;
  readonly failed?: boolean;
}

const PARIS: Answered = {
  id: "toolu_01Paris",
  name: "get_weather",
  args: {
    city: "Paris",
    note: 'é "quoted" \\ 你好',
    deep: { list: [1, null] },
  },
  answer: "12 degrees in Paris",
};
const TIME: Answered = {
  id: "call_9Time",
  name: "get_time",
  args: {},
  answer: "The clock is broken",
  failed: true,
};

/** The assistant's turn with the calls. */
function callTurn(
  endpoint: Generation,
  text: string,
  calls: readonly Pick<Answered, "id" | "name" | "args">[],
): JsonObject {
  if (endpoint === "chat") {
    return {
      role: "assistant",
      content: text === "" ? null : text,
      tool_calls: calls.map(({ id, name, args }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(args) },
      })),
    };
  }
  return {
    role: "assistant",
    content: [
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...calls.map(({ id, name, args: input }) => ({
        type: "tool_use",
        id,
        name,
        input,
      })),
    ],
  };
}

/** The turns with the answers and, unless it is empty, a text after them. */
function answerTurns(
  endpoint: Generation,
  answers: readonly Pick<Answered, "id" | "answer" | "failed">[],
  text: string,
  asParts = false,
): Json[] {
  const content = (answer: string): Json =>
    asParts ? [{ type: "text", text: answer }] : answer;
  if (endpoint === "chat") {
    return [
      ...answers.map(({ id, answer }) => ({
        role: "tool",
        tool_call_id: id,
        content: content(answer),
      })),
      ...(text === "" ? [] : [{ role: "user", content: text }]),
    ];
  }
  return [{
    role: "user",
    content: [
      ...answers.map(({ id, answer, failed }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: content(answer),
        ...(failed === true ? { is_error: true } : {}),
      })),
      ...(text === "" ? [] : [{ type: "text", text }]),
    ],
  }];
}

/** Histories with calls; `words` holds the marker of the fixture. */
const HISTORIES: Readonly<
  Record<string, (endpoint: Generation, words: string) => Json[]>
> = {
  pair: (endpoint, words) => [
    callTurn(endpoint, "Let me look.", [PARIS, TIME]),
    ...answerTurns(endpoint, [PARIS, TIME], words),
  ],
  bare: (endpoint, words) => [
    callTurn(endpoint, "", [PARIS]),
    ...answerTurns(endpoint, [{ ...PARIS, answer: words }], ""),
  ],
  reversed: (endpoint, words) => [
    callTurn(endpoint, "", [PARIS, TIME]),
    ...answerTurns(endpoint, [TIME, PARIS], words),
  ],
  rounds: (endpoint, words) => [
    callTurn(endpoint, "First.", [PARIS]),
    ...answerTurns(endpoint, [PARIS], ""),
    callTurn(endpoint, "Second.", [{ ...TIME, id: "call_again" }]),
    ...answerTurns(
      endpoint,
      [{ id: "call_again", answer: "Noon" }],
      words,
    ),
  ],
  twins: (endpoint, words) => {
    const tokyo = { ...PARIS, id: "call_tokyo", args: { city: "Tokyo" } };
    return [
      callTurn(endpoint, "", [PARIS, tokyo]),
      ...answerTurns(
        endpoint,
        [PARIS, { id: "call_tokyo", answer: "30 degrees in Tokyo" }],
        words,
      ),
    ];
  },
  parts: (endpoint, words) => [
    callTurn(endpoint, "", [PARIS]),
    ...answerTurns(endpoint, [PARIS], words, true),
  ],
  silent: (endpoint, words) => [
    callTurn(endpoint, "", [PARIS]),
    ...answerTurns(endpoint, [{ id: PARIS.id, answer: "" }], words),
  ],
};

const TOOLS = ["get_weather", "get_time"];

/** Asks for calls, and answers them as a client does: with the ids that it was told. */
async function converse(
  lab: Lab,
  endpoint: Generation,
  route: Route,
  form: "whole" | "stream",
): Promise<void> {
  const tools = toolsFor(endpoint, TOOLS);
  const question = "What is the weather in Paris and in Tokyo?";
  const first = await lab.send(plainAsk(
    endpoint,
    route,
    `asked-${form}`,
    lab.prompt("tool-parallel", question),
    { ...tools, ...(form === "stream" ? streamed(endpoint) : {}) },
  ));
  const calls = toolCallsIn(first).map(({ id, name, args }, at) => ({
    id,
    name,
    args: objectOf(args),
    answer: `Answer number ${at}`,
  }));
  const words = lab.prompt("text", "Go on.");
  await lab.send(plainAsk(endpoint, route, `answered-${form}`, "", {
    ...tools,
    messages: [
      { role: "user", content: question },
      callTurn(endpoint, "", calls),
      ...answerTurns(endpoint, calls, words),
    ],
  }));
}

/** The scenarios. */
export const TOOL_HISTORY_SCENARIOS: readonly Scenario[] = [
  {
    name: "tool-histories",
    about: "Conversations with calls and their answers in many arrangements",
    mode: "replay",
    cost: perRoute(Object.keys(HISTORIES).length, 64),
    play: (lab) =>
      onRoutes(
        lab,
        (endpoint, route) =>
          Object.entries(HISTORIES).map(([form, history]) =>
            lab.send(plainAsk(endpoint, route, form, "", {
              ...toolsFor(endpoint, TOOLS),
              messages: [
                { role: "user", content: "How is it?" },
                ...history(endpoint, lab.prompt("text", "Go on.")),
              ],
            }))
          ),
      ),
  },
  {
    name: "tool-round-trip",
    about: "Calls of a reply are answered with the ids that the reply told",
    mode: "replay",
    cost: perRoute(4, 64),
    play: (lab) =>
      onRoutes(lab, (endpoint, route) => [
        converse(lab, endpoint, route, "whole"),
        converse(lab, endpoint, route, "stream"),
      ]),
  },
];
