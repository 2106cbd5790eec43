/** Mutants for the checks of the area `limits` about requests upstream and token counts. */
import { readChat } from "../../reference_gateway/read_chat.ts";
import { readMessages } from "../../reference_gateway/read_messages.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";
import { asking, usage } from "./hooks.ts";

/** Part of `LIMITS_MUTANTS`. */
export const LIMITS_UPSTREAM_MUTANTS: readonly Mutant[] = [
  {
    name: "max_tokens-raised",
    about: "The limit sent upstream is ten times the requested one",
    hooks: asking(({ maxTokens }) => ({
      maxTokens: maxTokens === undefined ? undefined : maxTokens * 10,
    })),
  },
  {
    name: "max_tokens-dropped",
    about: "The limit is not sent upstream",
    hooks: asking(() => ({ maxTokens: undefined })),
  },
  {
    name: "max_tokens-lowered",
    about: "The limit sent upstream is one too low",
    hooks: asking(({ maxTokens }) => ({
      maxTokens: maxTokens === undefined ? undefined : maxTokens - 1,
    })),
  },
  {
    name: "output-count-raised",
    about: "Output tokens are reported a hundred too high",
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
    about: "Only the last turn is sent upstream",
    hooks: asking(({ turns }) => ({ turns: turns.slice(-1) })),
  },
  {
    name: "history-assistant-dropped",
    about: "Turns of the assistant are not sent upstream",
    hooks: asking(({ turns }) => ({
      turns: turns.filter(({ role }) => role === "user"),
    })),
  },
  {
    name: "history-words-cut",
    about: "Texts are truncated to forty characters",
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
    about: "A request without a limit gets a limit of 16",
    hooks: asking(({ maxTokens }) => ({ maxTokens: maxTokens ?? 16 })),
  },
  {
    name: "max_tokens-default-missing",
    about: "A message upstream receives no limit",
    hooks: {
      upstream: ({ body: { max_tokens: _, ...body }, ...call }, { endpoint }) =>
        endpoint === "chat"
          ? { ...call, body }
          : { ...call, body: { ...body, max_tokens: _ } },
    },
  },
  {
    name: "temperature-inserted",
    about: "A temperature is sent that the client did not set",
    hooks: asking(({ temperature }) => ({ temperature: temperature ?? 1 })),
  },
  {
    name: "top_p-inserted",
    about: "A top_p is sent that the client did not set",
    hooks: asking(({ topP }) => ({ topP: topP ?? 1 })),
  },
  {
    name: "temperature-zero-dropped",
    about: "Zero is read as absent",
    hooks: asking(({ temperature }) => ({
      temperature: temperature || undefined,
    })),
  },
  {
    name: "temperature-changed",
    about: "The temperature sent upstream is halved",
    hooks: asking(({ temperature }) => ({
      temperature: temperature === undefined ? undefined : temperature / 2,
    })),
  },
  {
    name: "top_p-changed",
    about: "top_p sent upstream is always 1",
    hooks: asking(({ topP }) => ({ topP: topP === undefined ? undefined : 1 })),
  },
  {
    name: "refused-after-upstream",
    about: "The request is refused only after the upstream was called",
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
      modelRequest: (modelRequest, { request, state }) => {
        if (state.get("refused") === undefined) return modelRequest;
        const words = /"content":"([^"]*\[\[fx:[^"]*)"/.exec(request.body)?.[1];
        const part = { type: "text", text: words ?? "" } as const;
        return {
          ...modelRequest,
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
