/**
 * The load generator, as a process of its own: a job in a line, its result in a line. Every reply is judged.
 *
 * @module
 */
import { say, told } from "./child.ts";
import { ByteHeap, HttpReader, writeAll } from "./http_bytes.ts";
import type { LoadJob, LoadResult, Quantiles } from "./load_job.ts";
import { replyJudge } from "./reply_judge.ts";
import { stampClock, stampDelta } from "./stamp.ts";
import { quantile } from "./statistics.ts";

/** A target that answers nothing right is not asked for ever. */
const MOST_FAULTS = 20;
const MOST_TOLD = 3;

const encoder = new TextEncoder();

class Load {
  readonly #job: LoadJob;
  readonly #request: Uint8Array;
  readonly #judge;
  readonly #waitsMs: number[] = [];
  readonly #delaysMicros: number[] = [];
  readonly #told = new Set<string>();
  readonly #overlooked = new Set<string>();
  #faults = 0;
  #open = 0;
  #startedMs = 0;

  constructor(job: LoadJob) {
    this.#job = job;
    this.#judge = replyJudge(job.expected);
    const body = encoder.encode(job.body);
    const head = [
      `POST ${job.path} HTTP/1.1`,
      `host: ${job.host}:${job.port}`,
      "content-type: application/json",
      `content-length: ${body.length}`,
      ...Object.entries(job.headers).map(([name, value]) =>
        `${name}: ${value}`
      ),
    ].join("\r\n");
    this.#request = encoder.encode(`${head}\r\n\r\n${job.body}`);
  }

  async run(): Promise<LoadResult> {
    const { connections, expected, spreadMs } = this.#job;
    this.#startedMs = performance.now();
    await Promise.all(
      Array.from({ length: connections }, async (_, index) => {
        await sleep(index * spreadMs / connections);
        await this.#lane();
      }),
    );
    return {
      requests: this.#waitsMs.length,
      events: this.#waitsMs.length * expected.plan.events,
      tookMs: performance.now() - this.#startedMs,
      waits: quantiles(this.#waitsMs),
      ...(this.#delaysMicros.length === 0
        ? {}
        : { delays: quantiles(this.#delaysMicros.map((us) => us / 1000)) }),
      faults: this.#faults,
      told: [...this.#told],
      overlooked: [...this.#overlooked],
    };
  }

  async #lane(): Promise<void> {
    let made = 0;
    while (this.#goesOn(made)) {
      try {
        const connection = await Deno.connect({
          hostname: this.#job.host,
          port: this.#job.port,
        });
        try {
          connection.setNoDelay(true);
          const reader = new HttpReader(connection);
          const body = new ByteHeap();
          let keep = true;
          while (keep && this.#goesOn(made)) {
            made++;
            keep = await this.#exchange(connection, reader, body);
          }
        } finally {
          connection.close();
        }
      } catch (error) {
        made++;
        this.#fault(error instanceof Error ? error.message : String(error));
      }
    }
  }

  #goesOn(made: number): boolean {
    if (this.#faults >= MOST_FAULTS) return false;
    const { until } = this.#job;
    return "ms" in until
      ? made === 0 || performance.now() - this.#startedMs < until.ms
      : made < until.requestsEach;
  }

  /** One request. Gives whether the connection can be used again. */
  async #exchange(
    connection: Deno.TcpConn,
    reader: HttpReader,
    body: ByteHeap,
  ): Promise<boolean> {
    const askedMs = performance.now();
    await writeAll(connection, this.#request);
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
      if (isFirst) this.#opened();
      isFirst = false;
    });
    const waitedMs = performance.now() - askedMs;
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

  #opened(): void {
    this.#open++;
    if (
      this.#job.tellsOpen === true && this.#open === this.#job.connections
    ) say({ open: true });
  }

  #fault(message: string): void {
    this.#faults++;
    if (this.#told.size < MOST_TOLD) this.#told.add(message);
  }
}

function quantiles(values: readonly number[]): Quantiles {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

for await (const job of told(Deno.stdin.readable)) {
  // What comes in is what the benchmark wrote.
  say(await new Load(job as LoadJob).run());
}
