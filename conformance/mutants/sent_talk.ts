/** Mutants for the checks of the area `upstream`: gateways that change the conversation on its way. */
import type { Context, Hooks } from "../golden/hooks.ts";
import type { Ask, Turn, TurnPart } from "../golden/part.ts";
import type { Mutant } from "./mutant.ts";

/** A mutant that changes what the request is understood to ask. */
export function mutant(
  name: string,
  about: string,
  change: (ask: Ask, x: Context) => Ask,
): Mutant {
  return { name, about, hooks: { ask: change } };
}

/** Changes the parts of the turns. */
export function parts(
  change: (part: TurnPart) => readonly TurnPart[],
): Hooks["ask"] {
  return (ask) => ({
    ...ask,
    turns: ask.turns.map((turn) => ({
      ...turn,
      parts: turn.parts.flatMap(change),
    })),
  });
}

/** Changes the text outside the marker. */
function text(change: (text: string) => string): Hooks {
  const ask = parts((part) => {
    if (part.type !== "text") return [part];
    const [marker = ""] = /\[\[fx:.*$/s.exec(part.text) ?? [];
    const words = part.text.slice(0, part.text.length - marker.length);
    return [{ ...part, text: change(words) + marker }];
  });
  return ask === undefined ? {} : { ask };
}

function said(role: Turn["role"], words: string): Turn {
  return { role, parts: [{ type: "text", text: words }] };
}

/** The mutants. */
export const TALK_MUTANTS: readonly Mutant[] = [
  mutant("history-cut", "Only the last turn is sent", (ask) => ({
    ...ask,
    turns: ask.turns.slice(-1),
  })),
  mutant(
    "long-history-cut",
    "Only the last eleven turns are sent",
    (ask) => ({ ...ask, turns: ask.turns.slice(-11) }),
  ),
  mutant(
    "history-reversed",
    "The earlier turns are sent last first",
    (ask) => ({
      ...ask,
      turns: [...ask.turns.slice(0, -1).reverse(), ...ask.turns.slice(-1)],
    }),
  ),
  mutant("middle-turn-lost", "The second turn is left out", (ask) => ({
    ...ask,
    turns: ask.turns.length < 3
      ? ask.turns
      : ask.turns.filter((_, index) => index !== 1),
  })),
  mutant(
    "assistant-turns-are-users",
    "All turns are sent as the user's",
    (ask) => ({
      ...ask,
      turns: ask.turns.map((turn) => ({ ...turn, role: "user" })),
    }),
  ),
  {
    name: "text-trimmed",
    about: "Blanks at the ends of texts are taken away",
    hooks: text((words) => words.trim()),
  },
  {
    name: "blanks-collapsed",
    about: "Blanks in a row become one",
    hooks: text((words) => words.replaceAll(/ +/g, " ")),
  },
  {
    name: "text-escaped",
    about: "Texts are escaped for a page",
    hooks: text((words) => words.replaceAll("<", "&lt;")),
  },
  {
    name: "text-decomposed",
    about: "Texts are brought into another Unicode form",
    hooks: text((words) => words.normalize("NFD")),
  },
  {
    name: "text-composed",
    about: "Accents are joined with their letters",
    hooks: text((words) => words.normalize("NFC")),
  },
  {
    name: "long-text-cut",
    about: "Of long texts the middle is left out",
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
    about: "Line ends become those of another system",
    hooks: text((words) => words.replaceAll("\n", "\r\n")),
  },
  {
    name: "text-invented",
    about: "A sentence is added to the user's text",
    hooks: text((words) => `Be helpful. ${words}`),
  },
  mutant(
    "turn-invented",
    "A greeting is put before the conversation",
    (ask) => ({
      ...ask,
      turns: [said("user", "Hello."), said("assistant", "Hi!"), ...ask.turns],
    }),
  ),
  mutant("instruction-invented", "An instruction is added", (ask) => ({
    ...ask,
    system: `${ask.system}You are a helpful assistant.`,
  })),
  mutant("system-lost", "Instructions are lost", (ask) => ({
    ...ask,
    system: "",
  })),
  mutant(
    "system-lost-on-chat",
    "Instructions of the chat format are lost",
    (ask, { endpoint }) => endpoint === "chat" ? { ...ask, system: "" } : ask,
  ),
  mutant("system-as-user-text", "Instructions become a user's turn", (ask) => ({
    ...ask,
    system: "",
    turns: ask.system === ""
      ? ask.turns
      : [said("user", ask.system), ...ask.turns],
  })),
  mutant("system-twice", "Instructions are sent twice", (ask) => ({
    ...ask,
    system: ask.system + ask.system,
  })),
  mutant(
    "system-first-line-only",
    "Instructions lose all but a line",
    (ask) => ({
      ...ask,
      system: ask.system.split("\n")[0] ?? "",
    }),
  ),
  mutant(
    "last-text-only",
    "Of the user's texts only the last is sent",
    (ask) => ({
      ...ask,
      turns: ask.turns.slice(-1).map((turn) => ({
        ...turn,
        parts: turn.parts.slice(-1),
      })),
    }),
  ),
  mutant("texts-reversed", "Texts are sent last first", (ask) => ({
    ...ask,
    turns: ask.turns.map((turn) => ({
      ...turn,
      parts: [...turn.parts].reverse(),
    })).reverse(),
  })),
];
