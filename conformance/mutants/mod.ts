/** All mutants, area by area. */
import type { Mutant } from "./mutant.ts";
import { AUTH_MUTANTS } from "./auth.ts";
import { MODELS_MUTANTS } from "./models.ts";
import { MESSAGE_REPLY_MUTANTS } from "./message_reply.ts";
import { MESSAGE_STREAM_MUTANTS } from "./message_stream.ts";
import { CHAT_REPLY_MUTANTS } from "./chat_reply.ts";
import { CHAT_STREAM_MUTANTS } from "./chat_stream.ts";
import { OWN_DIALECT_MUTANTS } from "./own_dialect.ts";
import { ERRORS_MUTANTS } from "./errors.ts";
import { EQUIVALENCE_MUTANTS } from "./equivalence.ts";
import { TOOLS_MUTANTS } from "./tools.ts";
import { UPSTREAM_MUTANTS } from "./upstream.ts";
import { HOSTILE_MUTANTS } from "./hostile.ts";
import { LIMITS_MUTANTS } from "./limits.ts";
import { TRANSPORT_MUTANTS } from "./transport.ts";

/** All mutants. */
export const MUTANTS: readonly Mutant[] = [
  ...AUTH_MUTANTS,
  ...MODELS_MUTANTS,
  ...MESSAGE_REPLY_MUTANTS,
  ...MESSAGE_STREAM_MUTANTS,
  ...CHAT_REPLY_MUTANTS,
  ...CHAT_STREAM_MUTANTS,
  ...OWN_DIALECT_MUTANTS,
  ...ERRORS_MUTANTS,
  ...EQUIVALENCE_MUTANTS,
  ...TOOLS_MUTANTS,
  ...UPSTREAM_MUTANTS,
  ...HOSTILE_MUTANTS,
  ...LIMITS_MUTANTS,
  ...TRANSPORT_MUTANTS,
];
