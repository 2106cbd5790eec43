/**
 * A request of a signed-in person.
 */
import type { Holder } from "../accounts/credential_kind.ts";
import { keyHash } from "../accounts/key.ts";
import type { SessionRecord } from "../accounts/repositories/session_repository.ts";

/** Why the input of a form was refused. */
export interface Problem {
  /** Name of the field in the form; absent: the form as a whole. */
  readonly field?: string;
  /** What is wrong with it, in words of a page. */
  readonly text: string;
  /** What is wrong with further fields. */
  readonly others?: readonly Problem[];
}

/** A request with a valid session. */
export interface Visit {
  /** Found by the cookie, and still valid. */
  readonly session: SessionRecord;
  /** Every form of this session carries it. */
  readonly formToken: string;
  /** The fields of the form; empty for GET. Its token was checked. */
  readonly form: URLSearchParams;
  /** Number of notices for the operator; absent: not known now, or no operator's page. */
  readonly notices?: number;
  /** Why the form is shown again, with what `form` has. */
  readonly problem?: Problem;
}

export interface AccountVisit extends Visit {
  /** The credential behind the session. */
  readonly holder: Holder;
}

/** The form token of a session: it depends on the cookie, which no page contains. */
export function formTokenOf(secret: string): string {
  return keyHash(`form:${secret}`).slice(0, 32);
}

/** The credential behind a session of an account; undefined for an operator's. */
export function holderOf(session: SessionRecord): Holder | undefined {
  const { kind, subject, accountId } = session;
  return kind === "operator" || accountId === undefined
    ? undefined
    : { kind, id: subject, accountId };
}
