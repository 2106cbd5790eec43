/**
 * Requests in each documented form that must be accepted: values at the ends of their ranges, every
 * form of content, histories with turns and with tools. Several forms hold the same number of words
 * in different places, so that a lost part shows in the count of input tokens.
 */
import type { JsonObject } from "@model-gateway/replay/json";
import {
  firstRoute,
  GENERATION,
  type Generation,
  plainRequest,
  streamed,
} from "../../suite/requests.ts";
import { runConcurrently } from "../../suite/all_routes.ts";
import {
  RepeatAllowance,
  sendUntilAccepted,
} from "../../suite/other_models.ts";
import { calls, type Scenario, together } from "../../suite/scenario.ts";
import { PIXEL } from "../upstream/scenarios_request.ts";

/** Common words; no tokenizer merges two of them into one token. */
const WORDS = (
  "the old road leads past the mill and over the low hills to a small town by the sea where people sell fish and bread " +
  "each morning and sit in the sun each evening while children play near the harbor and ships come in from the north "
).repeat(8).trim().split(" ");

/** Number of words in each form with words, wherever they are placed. */
export const PLACED_WORDS = 280;

const ASKED = "Say hello in one word.";
const PLACE = PLACED_WORDS / 7;

/** 40 words that are specific to a place, or those of several places. */
function words(place: number, places = 1): string {
  return WORDS.slice(place * PLACE, (place + places) * PLACE).join(" ");
}

function text(content: string): JsonObject {
  return { type: "text", text: content };
}

function user(content: string | readonly JsonObject[]): JsonObject {
  return { role: "user", content };
}

function assistant(content: string | readonly JsonObject[]): JsonObject {
  return { role: "assistant", content };
}

const NAMES = ["get_weather", "get_time", "find_city", "save_note", "plan_day"];
const SCHEMA = { type: "object", properties: { city: { type: "string" } } };

function tools(endpoint: Generation): JsonObject {
  return {
    tools: NAMES.map((name) =>
      endpoint === "messages"
        ? { name, description: "A tool.", input_schema: SCHEMA }
        : {
          type: "function",
          function: { name, description: "A tool.", parameters: SCHEMA },
        }
    ),
  };
}

function use(id: string, name: string): JsonObject {
  return { type: "tool_use", id, name, input: { city: "Paris" } };
}

function result(id: string, content: string | readonly JsonObject[]) {
  return { type: "tool_result", tool_use_id: id, content };
}

function call(id: string, name: string): JsonObject {
  return {
    id,
    type: "function",
    function: { name, arguments: '{"city":"Paris"}' },
  };
}

function answer(id: string, content: string | readonly JsonObject[]) {
  return { role: "tool", tool_call_id: id, content };
}

/** A form: its members of the body besides the usual ones, and whether it asks for a stream. */
interface Form {
  readonly stream: boolean;
  readonly more: JsonObject;
}

const streamedForm = (more: JsonObject): Form => ({ stream: true, more });
const wholeForm = (more: JsonObject): Form => ({ stream: false, more });

/** Six turns before the last one. */
const TURNS = [1, 2, 3, 4, 5, 6].map((place) =>
  place % 2 === 1 ? user(words(place)) : assistant(words(place))
);

/** An output limit that allows a long reply. */
const LONG_REPLY = 1030;

/** The request forms, by endpoint; labels are `ENDPOINT/ROUTE/FORM`. */
const REQUEST_FORMS: Readonly<
  Record<Generation, Readonly<Record<string, Form>>>
> = {
  messages: {
    "plain": streamedForm({ temperature: 0 }),
    "long": streamedForm({ messages: [user(`${words(0, 7)} ${ASKED}`)] }),
    "temperature-half": wholeForm({ temperature: 0.5 }),
    "temperature-one": streamedForm({ temperature: 1 }),
    "top_p-one": wholeForm({ top_p: 1 }),
    "top_p-stream": streamedForm({ top_p: 0.5 }),
    "stops": streamedForm({ stop_sequences: ["QQ", "\n\nZZ", "%%", "@@"] }),
    "metadata": streamedForm({ metadata: { user_id: "user-4711" } }),
    "empty": wholeForm({
      system: "",
      stop_sequences: [],
      metadata: {},
      tools: [],
    }),
    "system-text": streamedForm({ system: "You are brief." }),
    "blocks": streamedForm({
      system: [text(words(0)), text(words(1))],
      messages: [
        user([text(words(2)), text(words(3))]),
        assistant([text(words(4)), text(words(5))]),
        user([text(words(6)), text(ASKED)]),
      ],
    }),
    "image": wholeForm({
      messages: [user([{
        type: "image",
        source: { type: "base64", media_type: "image/png", data: PIXEL },
      }, text(ASKED)])],
    }),
    "turns": streamedForm({
      system: words(0),
      messages: [...TURNS, user(ASKED)],
    }),
    "tools": streamedForm(tools("messages")),
    "tool-turns": streamedForm({
      ...tools("messages"),
      messages: [
        user(ASKED),
        assistant([
          text(words(0)),
          use("toolu_a1", "get_weather"),
          use("toolu_b2", "get_time"),
        ]),
        user([
          result("toolu_a1", words(1, 2)),
          {
            ...result("toolu_b2", [text(words(3)), text(words(4))]),
            is_error: true,
          },
          text(words(5, 2)),
        ]),
      ],
    }),
    "tool-turns-bare": wholeForm({
      ...tools("messages"),
      messages: [
        user(ASKED),
        assistant([use("toolu_a1", "get_weather")]),
        user([result("toolu_a1", "")]),
        assistant([use("toolu_b2", "get_time")]),
        user([result("toolu_b2", "Noon.")]),
      ],
    }),
    "max_tokens-one": wholeForm({ max_tokens: 1 }),
    "max_tokens-many": wholeForm({ max_tokens: LONG_REPLY }),
  },
  chat: {
    "plain": streamedForm({ temperature: 0 }),
    "long": streamedForm({ messages: [user(`${words(0, 7)} ${ASKED}`)] }),
    "temperature-above-one": wholeForm({ temperature: 1.5 }),
    "temperature-two": streamedForm({ temperature: 2 }),
    "turns": streamedForm({
      messages: [{ role: "system", content: words(0) }, ...TURNS, user(ASKED)],
    }),
    "parts": streamedForm({
      messages: [
        { role: "system", content: [text(words(0)), text(words(1))] },
        user([text(words(2)), text(words(3))]),
        assistant(words(4)),
        user([text(words(5)), text(words(6)), text(ASKED)]),
      ],
    }),
    "image": wholeForm({
      messages: [user([{
        type: "image_url",
        image_url: { url: `data:image/png;base64,${PIXEL}` },
      }, text(ASKED)])],
    }),
    "tools": streamedForm(tools("chat")),
    "tool-turns": streamedForm({
      ...tools("chat"),
      messages: [
        user(ASKED),
        {
          ...assistant(words(0)),
          tool_calls: [
            call("call_a1", "get_weather"),
            call("call_b2", "get_time"),
          ],
        },
        answer("call_a1", words(1, 2)),
        answer("call_b2", [text(words(3)), text(words(4))]),
        user(words(5, 2)),
      ],
    }),
    "tool-turns-bare": wholeForm({
      ...tools("chat"),
      messages: [
        user(ASKED),
        {
          role: "assistant",
          content: null,
          tool_calls: [call("call_a1", "get_weather")],
        },
        answer("call_a1", ""),
        { role: "assistant", tool_calls: [call("call_b2", "get_time")] },
        answer("call_b2", "Noon."),
      ],
    }),
    "max_tokens-none": streamedForm({ max_tokens: undefined }),
    "max_tokens-one": wholeForm({ max_tokens: 1 }),
  },
};

/** Number of requests that may be repeated for other models. */
const AGAIN = 8;

const COUNT = GENERATION.reduce(
  (sum, endpoint) => sum + Object.keys(REQUEST_FORMS[endpoint]).length,
  0,
);

/** The first route of each endpoint in a live run, all in a replay run. */
function routesFor(
  endpoint: Generation,
  session: Parameters<Scenario["play"]>[0],
) {
  return session.mode === "live"
    ? [firstRoute(session, endpoint)]
    : session.routes(endpoint);
}

const DOCUMENTED: Scenario = {
  name: "documented-forms",
  about:
    "Requests in every documented form: ends of ranges, forms of content, histories with turns and tools",
  mode: "both",
  cost: together(
    calls(COUNT + AGAIN, 16),
    // Two forms allow more output: one without a limit and one with a long reply; each may be
    // repeated twice.
    () => ({
      requests: 0,
      inputTokens: COUNT * 350,
      outputTokens: 3 * (LONG_REPLY + 256),
    }),
  ),
  play: (session) => {
    const allowance = new RepeatAllowance(AGAIN);
    // No fixture is named: the replay upstream counts the input it receives.
    return runConcurrently(
      GENERATION.flatMap((endpoint) =>
        routesFor(endpoint, session).flatMap((route) =>
          Object.entries(REQUEST_FORMS[endpoint]).map(
            ([form, { stream, more }]) => () =>
              sendUntilAccepted(
                session,
                route,
                allowance,
                (asked) =>
                  plainRequest(endpoint, asked, form, ASKED, {
                    max_tokens: 16,
                    ...(stream ? streamed(endpoint) : {}),
                    ...more,
                  }),
              ),
          )
        )
      ),
    );
  },
};

export const REQUEST_FORM_SCENARIOS: readonly Scenario[] = [DOCUMENTED];
