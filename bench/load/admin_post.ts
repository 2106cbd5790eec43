/** The admin token of the benchmarks' gateways. */
export const ADMIN_TOKEN = "an-admin-token-of-a-benchmark";

/** A new record of the admin API. */
interface Created {
  readonly id: string;
  /** Set for a new key. */
  readonly key: string;
  /** Set for a new token. */
  readonly token: string;
}

/**
 * Posts to the admin API.
 *
 * @throws {Error} if it is refused
 */
export async function adminPost(
  url: string,
  path: string,
  body: unknown,
): Promise<Created> {
  const response = await fetch(`${url}/admin/v1/${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return await response.json();
}
