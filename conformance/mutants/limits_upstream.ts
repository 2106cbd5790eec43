/** Mutants for the checks of the area `limits` about what goes upstream and what is counted. */
import { readChat } from "../golden/read_chat.ts";
import { readMessages } from "../golden/read_messages.ts";
import type { Mutant } from "./mutant.ts";
import { asking, usage } from "./limits_hooks.ts";

/** The mutants. */
export const LIMITS_UPSTREAM_MUTANTS: readonly Mutant[] = [
  {
    name: "max_tokens-raised",
    about: "The limit goes upstream as ten times what was asked",
    hooks: asking(({ maxTokens }) => ({
      maxTokens: maxTokens === undefined ? undefined : maxTokens * 10,
    })),
  },
  {
    name: "max_tokens-dropped",
    about: "The limit does not go upstream",
    hooks: asking(() => ({ maxTokens: undefined })),
  },
  {
    name: "max_tokens-lowered",
    about: "The limit goes upstream as one less",
    hooks: asking(({ maxTokens }) => ({
      maxTokens: maxTokens === undefined ? undefined : maxTokens - 1,
    })),
  },
  {
    name: "output-count-raised",
    about: "Output tokens are told a hundred too high",
    hooks: usage((part) => ({
      ...part,
      usage: part.usage.output === undefined
        ? part.usage
        : { ...part.usage, output: part.usage.output + 100 },
    })),
  },
  {
    name: "input-count-fixed",
    about: "Input tokens are always 10",
    hooks: usage((part) => ({ ...part, usage: { ...part.usage, input: 10 } })),
  },
  {
    name: "history-dropped",
    about: "Only the last turn goes upstream",
    hooks: asking(({ turns }) => ({ turns: turns.slice(-1) })),
  },
  {
    name: "history-assistant-dropped",
    about: "Turns of the assistant do not go upstream",
    hooks: asking(({ turns }) => ({
      turns: turns.filter(({ role }) => role === "user"),
    })),
  },
  {
    name: "history-words-cut",
    about: "Texts are cut after forty characters",
    hooks: {
      upstream: (call) => ({
        ...call,
        body: JSON.parse(
          JSON.stringify(call.body).replaceAll("northern pier", "n"),
        ),
      }),
    },
  },
  {
    name: "max_tokens-default-tiny",
    about: "Who asks for no limit gets one of 16",
    hooks: asking(({ maxTokens }) => ({ maxTokens: maxTokens ?? 16 })),
  },
  {
    name: "max_tokens-default-missing",
    about: "A message upstream gets no limit",
    hooks: {
      upstream: ({ body: { max_tokens: _, ...body }, ...call }, { endpoint }) =>
        endpoint === "chat"
          ? { ...call, body }
          : { ...call, body: { ...body, max_tokens: _ } },
    },
  },
  {
    name: "temperature-inserted",
    about: "A temperature is sent that nobody asked for",
    hooks: asking(({ temperature }) => ({ temperature: temperature ?? 1 })),
  },
  {
    name: "top_p-inserted",
    about: "A top_p is sent that nobody asked for",
    hooks: asking(({ topP }) => ({ topP: topP ?? 1 })),
  },
  {
    name: "temperature-zero-dropped",
    about: "Zero is taken for none",
    hooks: asking(({ temperature }) => ({
      temperature: temperature || undefined,
    })),
  },
  {
    name: "temperature-changed",
    about: "The temperature goes upstream as half of it",
    hooks: asking(({ temperature }) => ({
      temperature: temperature === undefined ? undefined : temperature / 2,
    })),
  },
  {
    name: "top_p-changed",
    about: "top_p goes upstream as 1",
    hooks: asking(({ topP }) => ({ topP: topP === undefined ? undefined : 1 })),
  },
  {
    name: "refused-after-upstream",
    about: "The model is asked, and then the request is refused",
    hooks: {
      accept: (problem, body, { state, endpoint }) => {
        if (problem === undefined) return undefined;
        state.set("refused", problem.message);
        try {
          (endpoint === "chat" ? readChat : readMessages)(body);
        } catch {
          return undefined;
        }
        return undefined;
      },
      ask: (ask, { request, state }) => {
        if (state.get("refused") === undefined) return ask;
        const words = /"content":"([^"]*\[\[fx:[^"]*)"/.exec(request.body)?.[1];
        const part = { type: "text", text: words ?? "" } as const;
        return {
          ...ask,
          stream: false,
          turns: [{ role: "user", parts: [part] }],
        };
      },
      reply: (reply, { state }) =>
        state.get("refused") === undefined ? reply : {
          ...reply,
          status: 400,
          body: {
            type: "error",
            error: {
              type: "invalid_request_error",
              message: state.get("refused") ?? "",
            },
          },
        },
    },
  },
];
