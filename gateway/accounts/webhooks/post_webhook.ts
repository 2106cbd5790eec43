/**
 * Sends a webhook: one POST to the address that the operator has set for the account.
 *
 * No redirect is followed: it could lead to an address that the operator did not set. The
 * reply's body is not read.
 */
import { VERSION } from "../../version.ts";
import { signedHeaders, type UnsignedWebhook } from "./signature.ts";

/** Where a webhook goes. */
interface WebhookTarget {
  /** `https://…`, or `http://` on this machine. */
  readonly url: string;
  /** Signs the message; from {@linkcode newWebhookSecret}. */
  readonly secret: string;
}

/** {@linkcode postWebhook}; other functions replace it in tests. */
export type PostWebhook = typeof postWebhook;

/** The longest wait for the reply's status. */
const TIMEOUT_MS = 10_000;

/**
 * Sends a message. Resolves to the reason why it was not accepted, for operators; undefined
 * if it was. The reason contains neither the address nor the secret.
 */
export async function postWebhook(
  message: UnsignedWebhook,
  target: WebhookTarget,
  signal: AbortSignal,
): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(target.url, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "user-agent": `model-gateway/${VERSION}`,
        ...signedHeaders(message, target.secret),
      },
      body: message.body,
      signal: AbortSignal.any([signal, timeout]),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `status ${response.status}`;
  } catch (error) {
    // The error's own message repeats the address, which may contain a secret.
    return timeout.aborted
      ? "no reply in time"
      : error instanceof Deno.errors.NotCapable
      ? "the process may not connect to the address"
      : "the address could not be reached";
  }
}
