/**
 * Every wire format that the gateway knows. A new one is a folder beside this file and a line in it.
 *
 * @module
 */
import { chatCompletions } from "./chat_completions/mod.ts";
import type { UpstreamDialect } from "./dialect.ts";
import { generateContent } from "./generate_content/mod.ts";
import { messages } from "./messages/mod.ts";
import type { DialectName } from "./request.ts";

const DIALECTS: Readonly<Record<DialectName, UpstreamDialect>> = {
  messages,
  chat_completions: chatCompletions,
  generate_content: generateContent,
};

/** The dialect of a name, as an upstream speaks it. */
export function upstreamDialect(name: DialectName): UpstreamDialect {
  return DIALECTS[name];
}
