/** Mutants for the checks of the area `equivalence`. */
import { REPETITION_MUTANTS } from "./faults_repetition.ts";
import { FIXTURE_MUTANTS } from "./faults_fixtures.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** All mutants of the area `equivalence`. */
export const EQUIVALENCE_MUTANTS: readonly Mutant[] = [
  {
    name: "chat-loses-last-text",
    about: "The chat endpoint loses full stops",
    hooks: {
      part: (part, { endpoint }) =>
        endpoint === "chat" && part.type === "text"
          ? [{ ...part, text: part.text.replace(".", "") }]
          : [part],
    },
  },
  {
    name: "chat-second-tool-lost",
    about: "The chat endpoint passes on only one tool call",
    hooks: {
      part: (part, { endpoint, state }) => {
        if (endpoint !== "chat") return [part];
        if (part.type === "tool" && !state.has("call")) {
          state.set("call", part.call);
        }
        const later = (part.type === "tool" || part.type === "args") &&
          part.call !== state.get("call");
        return later ? [] : [part];
      },
    },
  },
  {
    name: "chat-input-doubled",
    about: "The chat endpoint counts the prompt twice",
    hooks: {
      part: (part, { endpoint }) =>
        endpoint === "chat" && part.type === "usage" &&
          part.usage.input !== undefined
          ? [{ ...part, usage: { ...part.usage, input: part.usage.input * 2 } }]
          : [part],
    },
  },
  {
    name: "chat-tool-stop-lost",
    about:
      "Tool calls on the chat endpoint end with the finish reason of plain text",
    hooks: {
      reply: (reply, { endpoint }) =>
        endpoint === "chat"
          ? {
            ...reply,
            body: JSON.parse(
              JSON.stringify(reply.body).replace('"tool_calls"}', '"stop"}'),
            ),
          }
          : reply,
    },
  },
  ...FIXTURE_MUTANTS,
  ...REPETITION_MUTANTS,
];
