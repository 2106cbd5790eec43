/**
 * Every wire format that the gateway supports. To add one, add a folder to `formats/` and a line
 * here.
 */
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { converse } from "./formats/converse/mod.ts";
import type { UpstreamDialect } from "./dialect.ts";
import { generateContent } from "./formats/generate_content/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";
import type { DialectName } from "./model/request.ts";

const DIALECTS: Readonly<Record<DialectName, UpstreamDialect>> = {
  messages,
  chat_completions: chatCompletions,
  generate_content: generateContent,
  responses,
  converse,
};

export function upstreamDialect(name: DialectName): UpstreamDialect {
  return DIALECTS[name];
}
