/**
 * The load generator, a process of its own: it reads jobs and writes their results, one per line.
 * Every reply is checked.
 */
import { receiveMessages, sendMessage } from "./child.ts";
import { ByteBuffer, HttpReader, writeAll } from "./http_bytes.ts";
import type { LoadJob, LoadResult, Quantiles } from "./load_job.ts";
import { replyJudge } from "./reply_judge.ts";
import { stampClock, stampDelta } from "./stamp.ts";
import { quantile } from "../report/statistics.ts";

/** A job ends after this many wrong replies. */
const MAX_FAULTS = 20;
const MAX_REPORTED = 3;

const encoder = new TextEncoder();

interface Destination {
  readonly port: number;
  /** Sent in turn. */
  readonly requests: readonly Uint8Array[];
}

function requestBytes(
  job: LoadJob,
  port: number,
  headers: LoadJob["headers"],
): Uint8Array {
  const head = [
    `POST ${job.path} HTTP/1.1`,
    `host: ${job.host}:${port}`,
    "content-type: application/json",
    `content-length: ${encoder.encode(job.body).length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join("\r\n");
  return encoder.encode(`${head}\r\n\r\n${job.body}`);
}

class Load {
  readonly #job: LoadJob;
  readonly #targets: readonly Destination[];
  readonly #judge;
  readonly #waitsMs: number[] = [];
  readonly #firstsMs: number[] = [];
  readonly #delaysMicros: number[] = [];
  readonly #problems = new Set<string>();
  readonly #overlooked = new Set<string>();
  #faults = 0;
  #open = 0;
  /** Number of requests started at the job's rate. */
  #started = 0;
  #startedMs = 0;
  #sent = 0;

  constructor(job: LoadJob) {
    this.#job = job;
    this.#judge = replyJudge(job.expected);
    this.#targets = [job, ...job.others ?? []].map(({ port, headers }) => ({
      port,
      requests: (job.inTurn ?? [{}]).map((own) =>
        requestBytes(job, port, { ...headers, ...own })
      ),
    }));
  }

  async run(): Promise<LoadResult> {
    const { connections, expected, spreadMs } = this.#job;
    this.#startedMs = performance.now();
    await Promise.all(
      Array.from({ length: connections }, async (_, index) => {
        await sleep(index * spreadMs / connections);
        await this.#runConnection(index);
      }),
    );
    return {
      requests: this.#waitsMs.length,
      events: this.#waitsMs.length * expected.plan.events,
      tookMs: performance.now() - this.#startedMs,
      waits: quantiles(this.#waitsMs),
      firsts: quantiles(this.#firstsMs),
      ...(this.#delaysMicros.length === 0
        ? {}
        : { delays: quantiles(this.#delaysMicros.map((us) => us / 1000)) }),
      faults: this.#faults,
      problems: [...this.#problems],
      overlooked: [...this.#overlooked],
    };
  }

  async #runConnection(index: number): Promise<void> {
    const target = this.#targets[index % this.#targets.length];
    if (target === undefined) throw new Error("the job has no target");
    let made = 0;
    let startMs = await this.#nextStart(made);
    while (startMs !== undefined) {
      try {
        const connection = await Deno.connect({
          hostname: this.#job.host,
          port: target.port,
        });
        try {
          connection.setNoDelay(true);
          const reader = new HttpReader(connection);
          const body = new ByteBuffer();
          let keep = true;
          while (keep && startMs !== undefined) {
            made++;
            const { requests } = target;
            const request = requests[this.#sent++ % requests.length];
            if (request === undefined) throw new Error("there is no request");
            keep = await this.#exchange(
              connection,
              request,
              reader,
              body,
              startMs,
            );
            startMs = await this.#nextStart(made);
          }
        } finally {
          connection.close();
        }
      } catch (error) {
        made++;
        this.#fault(error instanceof Error ? error.message : String(error));
        startMs = await this.#nextStart(made);
      }
    }
  }

  /**
   * Waits until a connection may start its next request; returns since when, undefined at the end.
   */
  async #nextStart(made: number): Promise<number | undefined> {
    if (this.#faults >= MAX_FAULTS) return undefined;
    const { until } = this.#job;
    const nowMs = performance.now();
    if (!("ms" in until)) {
      return made < until.requestsEach ? nowMs : undefined;
    }
    if (until.perSecond === undefined) {
      return made === 0 || nowMs - this.#startedMs < until.ms
        ? nowMs
        : undefined;
    }
    const afterMs = this.#started++ * 1000 / until.perSecond;
    if (afterMs >= until.ms) return undefined;
    const dueMs = this.#startedMs + afterMs;
    if (dueMs <= nowMs) return dueMs;
    await sleep(dueMs - nowMs);
    return performance.now();
  }

  /** One request and its reply. Returns whether the connection can be reused. */
  async #exchange(
    connection: Deno.TcpConn,
    request: Uint8Array,
    reader: HttpReader,
    body: ByteBuffer,
    startMs: number,
  ): Promise<boolean> {
    await writeAll(connection, request);
    const head = await reader.head();
    if (head === undefined) {
      throw new Error("the connection was closed instead of a reply");
    }
    body.clear();
    const arrivals: { readonly length: number; readonly at: number }[] = [];
    const isPaced = this.#job.expected.plan.perSecond > 0;
    let isFirst = true;
    await reader.body(head, (bytes) => {
      body.add(bytes);
      if (isPaced) arrivals.push({ length: body.length, at: stampClock() });
      if (isFirst) {
        this.#firstsMs.push(performance.now() - startMs);
        this.#noteOpen();
      }
      isFirst = false;
    });
    const waitedMs = performance.now() - startMs;
    let arrival = 0;
    const problem = head.startsWith("HTTP/1.1 200 ")
      ? this.#judge(body.bytes, (stamp, endsAt) => {
        while ((arrivals[arrival]?.length ?? Infinity) < endsAt) arrival++;
        this.#delaysMicros.push(stampDelta(stamp, arrivals[arrival]?.at ?? 0));
      })
      : {
        text: `${head.slice(9, 12)} ${
          new TextDecoder().decode(body.bytes.subarray(0, 200))
        }`,
        textIsWhole: false,
      };
    if (problem === undefined) this.#waitsMs.push(waitedMs);
    else if (this.#job.lenient === true && problem.textIsWhole) {
      this.#waitsMs.push(waitedMs);
      this.#overlooked.add(problem.text);
    } else this.#fault(problem.text);
    return !/\r\nconnection: *close/.test(head);
  }

  #noteOpen(): void {
    this.#open++;
    if (
      this.#job.reportsOpen === true && this.#open === this.#job.connections
    ) sendMessage({ open: true });
  }

  #fault(message: string): void {
    this.#faults++;
    if (this.#problems.size < MAX_REPORTED) this.#problems.add(message);
  }
}

function quantiles(values: readonly number[]): Quantiles {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

for await (const job of receiveMessages(Deno.stdin.readable)) {
  // The message's shape is defined in load_job.ts.
  sendMessage(await new Load(job as LoadJob).run());
}
