/** Mutants for the checks of the area `upstream`: gateways that change the conversation. */
import type { Faults } from "../../suite/check.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type {
  ModelRequest,
  Turn,
  TurnPart,
} from "../../reference_gateway/part.ts";

/** A mutant that changes the request as the reference gateway understood it. */
export function mutant(
  change: (request: ModelRequest, x: Context) => ModelRequest,
): Hooks {
  return { modelRequest: change };
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
export function text(change: (text: string) => string): Hooks {
  const hook = parts((part) => {
    if (part.type !== "text") return [part];
    const [marker = ""] = /\[\[fx:.*$/s.exec(part.text) ?? [];
    const words = part.text.slice(0, part.text.length - marker.length);
    return [{ ...part, text: change(words) + marker }];
  });
  return hook === undefined ? {} : { modelRequest: hook };
}

export function turnOf(role: Turn["role"], words: string): Turn {
  return { role, parts: [{ type: "text", text: words }] };
}

/** The faults that several checks are proved with. */
export const REPEATED_FAULTS_CONVERSATION: Faults = {
  "last-text-only": mutant((request) => ({
    ...request,
    turns: request.turns.slice(-1).map((turn) => ({
      ...turn,
      parts: turn.parts.slice(-1),
    })),
  })),
  "texts-reversed": mutant((request) => ({
    ...request,
    turns: request.turns.map((turn) => ({
      ...turn,
      parts: [...turn.parts].reverse(),
    })).reverse(),
  })),
};

/** Instructions of the chat format are lost. */
export const systemLostOnChat: Hooks = mutant((request, { endpoint }) =>
  endpoint === "chat" ? { ...request, system: "" } : request
);

/** Instructions are lost. */
export const systemLost: Hooks = mutant((request) => ({
  ...request,
  system: "",
}));
