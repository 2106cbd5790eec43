/**
 * The health check of the image, which has neither a shell nor curl: exit code 0 while the gateway
 * can serve.
 */
const port = Deno.env.get("PORT") ?? "8787";
const response = await fetch(`http://127.0.0.1:${port}/readyz`, {
  signal: AbortSignal.timeout(4_000),
});
if (!response.ok) Deno.exit(1);
