/** Tests with a replay server and a client on a bare socket. */
import { type ReplayServer, startReplay } from "../mod.ts";
import { RawClient } from "../server/raw_client.ts";

export function bodyFor(
  path: string,
  text: string,
  stream = true,
): Record<string, unknown> {
  if (path.startsWith("/v1beta")) {
    return { contents: [{ role: "user", parts: [{ text }] }] };
  }
  return {
    model: "m",
    max_tokens: 9,
    stream,
    messages: [{ role: "user", content: text }],
  };
}

export function chat(marker: string, stream = true): Record<string, unknown> {
  return bodyFor("/v1/chat/completions", `[[fx:${marker}]]`, stream);
}

async function withReplay(
  run: (server: ReplayServer) => Promise<void>,
): Promise<void> {
  await using server = await startReplay();
  await run(server);
}

export function test(
  name: string,
  run: (server: ReplayServer, caller: RawClient) => Promise<void>,
): void {
  Deno.test(name, () =>
    withReplay(async (server) => {
      using caller = await RawClient.connect(server.port);
      await run(server, caller);
    }));
}
