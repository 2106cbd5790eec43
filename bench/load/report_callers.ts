/**
 * Callers of a report, in a process of their own with the lowest priority: their own processor time
 * delays no call.
 */
import { setPriority } from "node:os";
import { receiveMessages, sendMessage } from "./child.ts";

/** The message that starts the calls. */
export interface ReportCalls {
  /** Address of the report. */
  readonly url: string;
  readonly key: string;
  /** How many ask at the same time, each again when it is answered; after a 429 when it permits. */
  readonly callers: number;
  readonly seconds: number;
}

/** Replies by status. */
export type ReportReplies = Readonly<Record<string, number>>;

const LOWEST = 19;

async function ask(job: ReportCalls): Promise<ReportReplies> {
  const replies: Record<string, number> = {};
  const endMs = performance.now() + job.seconds * 1000;
  await Promise.all(Array.from({ length: job.callers }, async () => {
    while (performance.now() < endMs) {
      const response = await fetch(job.url, {
        headers: { "x-api-key": job.key },
      });
      await response.arrayBuffer();
      const { status } = response;
      replies[status] = (replies[status] ?? 0) + 1;
      if (status !== 429) continue;
      const seconds = Number(response.headers.get("retry-after"));
      await new Promise((resolve) => void setTimeout(resolve, seconds * 1000));
    }
  }));
  return replies;
}

if (import.meta.main) {
  setPriority(0, LOWEST);
  for await (const message of receiveMessages(Deno.stdin.readable)) {
    // Its shape is {@linkcode ReportCalls}.
    sendMessage(await ask(message as ReportCalls));
  }
  Deno.exit(0);
}
