/** Mutants for the checks of the area `upstream`: gateways that change the conversation. */
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type {
  ModelRequest,
  Turn,
  TurnPart,
} from "../../reference_gateway/part.ts";
import type { Mutant } from "../../reference_gateway/mutant.ts";

/** A mutant that changes the request as the reference gateway understood it. */
export function mutant(
  name: string,
  about: string,
  change: (request: ModelRequest, x: Context) => ModelRequest,
): Mutant {
  return { name, about, hooks: { modelRequest: change } };
}

/** Changes the parts of the turns. */
export function parts(
  change: (part: TurnPart) => readonly TurnPart[],
): Hooks["modelRequest"] {
  return (request) => ({
    ...request,
    turns: request.turns.map((turn) => ({
      ...turn,
      parts: turn.parts.flatMap(change),
    })),
  });
}

/** Changes text, except for the marker. */
function text(change: (text: string) => string): Hooks {
  const hook = parts((part) => {
    if (part.type !== "text") return [part];
    const [marker = ""] = /\[\[fx:.*$/s.exec(part.text) ?? [];
    const words = part.text.slice(0, part.text.length - marker.length);
    return [{ ...part, text: change(words) + marker }];
  });
  return hook === undefined ? {} : { modelRequest: hook };
}

function turnOf(role: Turn["role"], words: string): Turn {
  return { role, parts: [{ type: "text", text: words }] };
}

/** Part of `SENT_MUTANTS`. */
export const CONVERSATION_MUTANTS: readonly Mutant[] = [
  mutant("history-cut", "Only the last turn is sent", (request) => ({
    ...request,
    turns: request.turns.slice(-1),
  })),
  mutant(
    "long-history-cut",
    "Only the last eleven turns are sent",
    (request) => ({ ...request, turns: request.turns.slice(-11) }),
  ),
  mutant(
    "history-reversed",
    "The earlier turns are sent in reverse order",
    (request) => ({
      ...request,
      turns: [
        ...request.turns.slice(0, -1).reverse(),
        ...request.turns.slice(-1),
      ],
    }),
  ),
  mutant("middle-turn-lost", "The second turn is left out", (request) => ({
    ...request,
    turns: request.turns.length < 3
      ? request.turns
      : request.turns.filter((_, index) => index !== 1),
  })),
  mutant(
    "assistant-turns-are-users",
    "All turns are sent as the user's",
    (request) => ({
      ...request,
      turns: request.turns.map((turn) => ({ ...turn, role: "user" })),
    }),
  ),
  {
    name: "text-trimmed",
    about: "Whitespace at the ends of texts is removed",
    hooks: text((words) => words.trim()),
  },
  {
    name: "blanks-collapsed",
    about: "Repeated whitespace is collapsed",
    hooks: text((words) => words.replaceAll(/ +/g, " ")),
  },
  {
    name: "text-escaped",
    about: "Texts are escaped for HTML",
    hooks: text((words) => words.replaceAll("<", "&lt;")),
  },
  {
    name: "text-decomposed",
    about: "Texts are converted to another Unicode normalisation form",
    hooks: text((words) => words.normalize("NFD")),
  },
  {
    name: "text-composed",
    about: "Accents are composed with their letters",
    hooks: text((words) => words.normalize("NFC")),
  },
  {
    name: "long-text-cut",
    about: "The middle of long texts is left out",
    hooks: text((words) =>
      words.length > 32_768 ? words.slice(0, 8192) + words.slice(-8192) : words
    ),
  },
  {
    name: "emoji-lost",
    about: "Characters beyond the basic plane are lost",
    hooks: text((words) => words.replaceAll(/[\u{10000}-\u{10ffff}]/gu, "")),
  },
  {
    name: "line-ends-changed",
    about: "Line ends are converted",
    hooks: text((words) => words.replaceAll("\n", "\r\n")),
  },
  {
    name: "text-invented",
    about: "A sentence is added to the user's text",
    hooks: text((words) => `Be helpful. ${words}`),
  },
  mutant(
    "turn-invented",
    "A greeting is added before the conversation",
    (request) => ({
      ...request,
      turns: [
        turnOf("user", "Hello."),
        turnOf("assistant", "Hi!"),
        ...request.turns,
      ],
    }),
  ),
  mutant("instruction-invented", "An instruction is added", (request) => ({
    ...request,
    system: `${request.system}You are a helpful assistant.`,
  })),
  mutant("system-lost", "Instructions are lost", (request) => ({
    ...request,
    system: "",
  })),
  mutant(
    "system-lost-on-chat",
    "Instructions of the chat format are lost",
    (request, { endpoint }) =>
      endpoint === "chat" ? { ...request, system: "" } : request,
  ),
  mutant(
    "system-as-user-text",
    "Instructions become a user's turn",
    (request) => ({
      ...request,
      system: "",
      turns: request.system === ""
        ? request.turns
        : [turnOf("user", request.system), ...request.turns],
    }),
  ),
  mutant("system-twice", "Instructions are sent twice", (request) => ({
    ...request,
    system: request.system + request.system,
  })),
  mutant(
    "system-first-line-only",
    "Only one line of the instructions is sent",
    (request) => ({
      ...request,
      system: request.system.split("\n")[0] ?? "",
    }),
  ),
  mutant(
    "last-text-only",
    "Only the last of the user's texts is sent",
    (request) => ({
      ...request,
      turns: request.turns.slice(-1).map((turn) => ({
        ...turn,
        parts: turn.parts.slice(-1),
      })),
    }),
  ),
  mutant("texts-reversed", "Texts are sent in reverse order", (request) => ({
    ...request,
    turns: request.turns.map((turn) => ({
      ...turn,
      parts: [...turn.parts].reverse(),
    })).reverse(),
  })),
];
