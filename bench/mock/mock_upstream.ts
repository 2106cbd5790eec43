/**
 * The upstream of the benchmark, a process of its own: it answers with prebuilt bytes as the tag in
 * the prompt requests. It writes its port as one line and exits at the end of stdin. Arguments: the
 * port, 0 for a free one; for TLS also the path of the certificate, without `.pem` and `.key`.
 */
import { ByteBuffer, HttpReader, writeAll } from "../load/http_bytes.ts";
import {
  fastStream,
  type PacedReply,
  pacedStream,
  type ReadyReply,
  wholeReply,
} from "./mock_replies.ts";
import type { UpstreamDialect } from "./mock_bodies.ts";
import { exitWithStdin, sendMessage } from "../load/child.ts";
import { DEFAULT_PLAN, parsePlan, type ReplyPlan } from "../load/reply_plan.ts";
import { stampClock, writeStamp } from "../load/stamp.ts";

/** The tag must be within this many bytes of the start of the body. */
const TAG_WITHIN = 2_000;

const decoder = new TextDecoder();

function dialectOf(path: string): UpstreamDialect {
  if (path.includes("enerateContent")) return "generate_content";
  if (path.includes("/responses")) return "responses";
  return path.includes("/chat/completions") ? "chat_completions" : "messages";
}

const ready = new Map<string, ReadyReply>();
const paced = new Map<string, PacedReply>();

function cached<T>(made: Map<string, T>, key: string, make: () => T): T {
  const found = made.get(key);
  if (found !== undefined) return found;
  const fresh = make();
  made.set(key, fresh);
  return fresh;
}

async function serve(connection: Deno.TcpConn | Deno.TlsConn): Promise<void> {
  if ("setNoDelay" in connection) connection.setNoDelay(true);
  const reader = new HttpReader(connection);
  const body = new ByteBuffer();
  for (;;) {
    const head = await reader.head();
    if (head === undefined) return;
    body.clear();
    await reader.body(head, (bytes) => body.add(bytes));
    const path = head.split(" ", 2)[1] ?? "";
    const plan =
      parsePlan(decoder.decode(body.bytes.subarray(0, TAG_WITHIN))) ??
        DEFAULT_PLAN;
    if (plan.waitMs > 0) {
      await new Promise((resolve) => setTimeout(resolve, plan.waitMs));
    }
    const dialect = dialectOf(path);
    const isStream = dialect === "generate_content"
      ? path.includes(":stream")
      : asksForStream(body.bytes);
    await answer(connection, dialect, isStream, plan);
  }
}

const STREAM_FIELD = /"stream" *: *true/;

function asksForStream(body: Uint8Array): boolean {
  // The field is before or after the messages, the only long part of the body.
  return STREAM_FIELD.test(decoder.decode(body.subarray(0, TAG_WITHIN))) ||
    STREAM_FIELD.test(decoder.decode(body.subarray(-TAG_WITHIN)));
}

async function answer(
  connection: Deno.Conn,
  dialect: UpstreamDialect,
  isStream: boolean,
  plan: ReplyPlan,
): Promise<void> {
  const key = [dialect, isStream, ...Object.values(plan)].join(" ");
  if (isStream && plan.perSecond > 0) {
    const reply = cached(paced, key, () => pacedStream(dialect, plan));
    return await sendPaced(connection, reply, plan.perSecond);
  }
  const { writes } = cached(
    ready,
    key,
    () => isStream ? fastStream(dialect, plan) : wholeReply(dialect, plan),
  );
  for (const bytes of writes) await writeAll(connection, bytes);
}

async function sendPaced(
  connection: Deno.Conn,
  { opening, frames, closing }: PacedReply,
  perSecond: number,
): Promise<void> {
  await writeAll(connection, opening);
  const startedMs = performance.now();
  for (const [index, frame] of frames.entries()) {
    // Relative to the start, so that a late event does not delay the next one.
    const dueMs = startedMs + index * 1000 / perSecond;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const bytes = frame.bytes.slice();
    writeStamp(bytes, frame.stampAt, stampClock());
    await writeAll(connection, bytes);
  }
  await writeAll(connection, closing);
}

const [port = "0", certificate] = Deno.args;
const address = { hostname: "127.0.0.1", port: Number(port) };
const listener = certificate === undefined
  ? Deno.listen(address)
  : Deno.listenTls({
    ...address,
    cert: Deno.readTextFileSync(`${certificate}.pem`),
    key: Deno.readTextFileSync(`${certificate}.key`),
    alpnProtocols: ["http/1.1"],
  });
exitWithStdin();
sendMessage({ port: listener.addr.port });
for await (const connection of listener) {
  serve(connection).catch(() => {
    // The client disconnected or the proxy was stopped; the load generator reports it if it
    // matters.
  }).finally(() => connection.close());
}
