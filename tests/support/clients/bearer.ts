/** A request with a credential: a GET, or with a body a POST of it. */
export function bearer(token: string, body?: unknown): RequestInit {
  return {
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
    },
    ...(body === undefined
      ? {}
      : { method: "POST", body: JSON.stringify(body) }),
  };
}
