/** Scenarios of the area `tools` about the turns after a call. */
import { at } from "../../evidence/json_path.ts";
import { toolCallsIn } from "../../evidence/tool_calls.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import {
  type Generation,
  plainRequest,
  streamed,
  toolsFor,
} from "../../suite/requests.ts";
import type { Session } from "../../suite/session.ts";
import { perRoute, type Scenario } from "../../suite/scenario.ts";
import type { Route } from "../../suite/route.ts";
import { onRoutes } from "../../suite/on_routes.ts";

/** A call and its result, in no format yet. */
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

/** The turns with the results and, unless it is empty, a text after them. */
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

/** Histories with calls; `words` contains the marker of the fixture. */
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
    ...answerTurns(endpoint, [{ id: "call_again", answer: "Noon" }], words),
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

/** Requests calls, and answers them as a client does: with the ids of the reply. */
async function converse(
  session: Session,
  endpoint: Generation,
  route: Route,
  form: "whole" | "stream",
): Promise<void> {
  const tools = toolsFor(endpoint, TOOLS);
  const question = "What is the weather in Paris and in Tokyo?";
  const first = await session.send(plainRequest(
    endpoint,
    route,
    `asked-${form}`,
    session.prompt("tool-parallel", question),
    { ...tools, ...(form === "stream" ? streamed(endpoint) : {}) },
  ));
  const calls = toolCallsIn(first).map(({ id, name, args }, at) => ({
    id,
    name,
    args: objectOf(args),
    answer: `Answer number ${at}`,
  }));
  const words = session.prompt("text", "Go on.");
  await session.send(plainRequest(endpoint, route, `answered-${form}`, "", {
    ...tools,
    messages: [
      { role: "user", content: question },
      callTurn(endpoint, "", calls),
      ...answerTurns(endpoint, calls, words),
    ],
  }));
}

/** Asks one model, keeps its reply as it is, and asks each other model to go on. */
async function move(
  session: Session,
  endpoint: Generation,
  from: Route,
): Promise<void> {
  const tools = toolsFor(endpoint, TOOLS);
  const question = session.prompt("thinking-tool", "The weather in Lima.");
  const first = await session.send(
    plainRequest(endpoint, from, "asked", question, tools),
  );
  const turn: Json = endpoint === "chat"
    ? at(first.json, "choices.0.message") ?? null
    : { role: "assistant", content: at(first.json, "content") ?? null };
  const answers = toolCallsIn(first).map(({ id }) => ({
    id,
    answer: "12 degrees in Lima",
  }));
  for (const to of session.routes(endpoint)) {
    if (to === from) continue;
    await session.send(plainRequest(endpoint, to, "moved", "", {
      ...tools,
      messages: [
        { role: "user", content: question },
        turn,
        ...answerTurns(endpoint, answers, session.prompt("text", "Go on.")),
      ],
    }));
  }
}

export const TOOL_HISTORY_SCENARIOS: readonly Scenario[] = [
  {
    name: "tool-histories",
    about: "Conversations with calls and results in many arrangements",
    mode: "replay",
    cost: perRoute(Object.keys(HISTORIES).length, 64),
    play: (session) =>
      onRoutes(
        session,
        (endpoint, route) =>
          Object.entries(HISTORIES).map(([form, history]) =>
            session.send(plainRequest(endpoint, route, form, "", {
              ...toolsFor(endpoint, TOOLS),
              messages: [
                { role: "user", content: "How is it?" },
                ...history(endpoint, session.prompt("text", "Go on.")),
              ],
            }))
          ),
      ),
  },
  {
    name: "tool-round-trip",
    about: "Calls of a reply are answered with the ids in the reply",
    mode: "replay",
    cost: perRoute(4, 64),
    play: (session) =>
      onRoutes(session, (endpoint, route) => [
        converse(session, endpoint, route, "whole"),
        converse(session, endpoint, route, "stream"),
      ]),
  },
  {
    name: "tool-moved",
    about: "A conversation that goes on with another model amid its calls",
    mode: "replay",
    cost: perRoute(4, 64),
    play: (session) =>
      onRoutes(session, (endpoint, route) => [
        move(session, endpoint, route),
      ]),
  },
];
