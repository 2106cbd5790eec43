/**
 * What a session of the console was opened with.
 */
import {
  isPerson,
  type SessionRecord,
} from "../../../gateway/accounts/repositories/session_repository.ts";

/** With its article, and what it permits. */
export function sessionText(
  { subject, kind }: SessionRecord,
): string {
  if (kind === "key") return "an API key";
  const means = subject.startsWith("link_")
    ? "a sign-in link"
    : isPerson(subject)
    ? "the company's account"
    : "an account token";
  return `${means} (${kind})`;
}
