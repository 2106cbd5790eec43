/** The mutants of every area. */
import type { Mutant } from "../reference_gateway/mutant.ts";
import { AUTH_MUTANTS } from "./auth/faults.ts";
import { MODELS_MUTANTS } from "./models/faults.ts";
import { MESSAGE_REPLY_MUTANTS } from "./message_reply/faults.ts";
import { MESSAGE_STREAM_MUTANTS } from "./message_stream/faults.ts";
import { CHAT_REPLY_MUTANTS } from "./chat_reply/faults.ts";
import { CHAT_STREAM_MUTANTS } from "./chat_stream/faults.ts";
import { SAME_DIALECT_MUTANTS } from "./equivalence/faults_same_dialect.ts";
import { ERRORS_MUTANTS } from "./errors/faults.ts";
import { EQUIVALENCE_MUTANTS } from "./equivalence/faults.ts";
import { TOOLS_MUTANTS } from "./tools/faults.ts";
import { UPSTREAM_MUTANTS } from "./upstream/faults.ts";
import { HOSTILE_MUTANTS } from "./hostile/faults.ts";
import { LIMITS_MUTANTS } from "./limits/faults.ts";
import { RESPONSES_MUTANTS } from "./responses/faults.ts";
import { TRANSPORT_MUTANTS } from "./transport/faults.ts";

/** All mutants; checks refer to them by name. */
export const MUTANTS: readonly Mutant[] = [
  ...AUTH_MUTANTS,
  ...MODELS_MUTANTS,
  ...MESSAGE_REPLY_MUTANTS,
  ...MESSAGE_STREAM_MUTANTS,
  ...CHAT_REPLY_MUTANTS,
  ...CHAT_STREAM_MUTANTS,
  ...SAME_DIALECT_MUTANTS,
  ...ERRORS_MUTANTS,
  ...EQUIVALENCE_MUTANTS,
  ...TOOLS_MUTANTS,
  ...UPSTREAM_MUTANTS,
  ...HOSTILE_MUTANTS,
  ...LIMITS_MUTANTS,
  ...TRANSPORT_MUTANTS,
  ...RESPONSES_MUTANTS,
];
