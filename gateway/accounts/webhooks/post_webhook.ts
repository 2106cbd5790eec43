/**
 * Sends a webhook: one POST to the address that the operator has set for the account.
 *
 * No redirect is followed: it could lead to an address that the operator did not set. Nothing is
 * sent to a name that leads to a link-local address; through a proxy, which resolves the name, only
 * such an address itself is known. The reply's body is not read.
 */
import { ApiError } from "../../../translate/model/error.ts";
import { gatewayTimers } from "../../timers.ts";
import {
  LINK_LOCAL_NOTE,
  NOT_PERMITTED_NOTE,
} from "../../upstream/http/unreachable_note.ts";
import {
  type ClientOptions,
  upstreamClient,
} from "../../upstream/http/http_client.ts";
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
const LIMITS = {
  connectTimeoutMs: TIMEOUT_MS,
  firstByteTimeoutMs: TIMEOUT_MS,
  idleTimeoutMs: TIMEOUT_MS,
};

/**
 * Sends a message. Resolves to the reason why it was not accepted, for operators; undefined
 * if it was. The reason contains neither the address nor the secret.
 *
 * @param options how the address is reached; absent: directly
 */
export async function postWebhook(
  message: UnsignedWebhook,
  target: WebhookTarget,
  signal: AbortSignal,
  options: ClientOptions = {},
): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const client = upstreamClient(LIMITS, gatewayTimers(), options);
  try {
    const { status, body } = await client.call({
      url: target.url,
      headers: {
        "content-type": "application/json",
        "user-agent": `model-gateway/${VERSION}`,
        ...signedHeaders(message, target.secret),
      },
      body: new TextEncoder().encode(message.body),
      signal: AbortSignal.any([signal, timeout]),
    });
    body.cancel();
    return status < 300 ? undefined : `status ${status}`;
  } catch (error) {
    if (timeout.aborted) return "no reply in time";
    // Other texts are about upstreams.
    const note = error instanceof ApiError ? error.details.note : undefined;
    return note === LINK_LOCAL_NOTE || note === NOT_PERMITTED_NOTE
      ? note
      : "the address could not be reached";
  } finally {
    await client.close();
  }
}
