/**
 * Debian's Prometheus: a server with the rules of `deploy/monitoring/` that scrapes gateways every
 * second.
 */
import { join } from "node:path";
import { stringify } from "yaml";
import { run } from "../../../deploy/image/run.ts";
import { withTimeout } from "../with_timeout.ts";

/** The folder of the rules. */
export const MONITORING: string =
  new URL("../../../deploy/monitoring/", import.meta.url).pathname;

/** Whether the server and `promtool` are installed. */
export const hasPrometheus: boolean = await Promise.all(
  ["prometheus", "promtool"].map((program) => run(program, ["--version"])),
).then(() => true, () => false);

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** A running server; disposing of it ends it. */
interface Prometheus extends AsyncDisposable {
  /** The samples of a query now; rejects where the query is not valid. */
  query(expr: string): Promise<Sample[]>;
  /** Resolves once a query has samples. */
  until(expr: string): Promise<Sample[]>;
}

/** Starts a server for the job `model-gateway`. */
export async function startPrometheus(
  targets: readonly string[],
  token: string,
): Promise<Prometheus> {
  const folder = await Deno.makeTempDir();
  const config = join(folder, "prometheus.yaml");
  await Deno.writeTextFile(
    config,
    stringify({
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      scrape_configs: [{
        job_name: "model-gateway",
        authorization: { credentials: token },
        static_configs: [{ targets }],
      }],
      rule_files: ["recording_rules.yaml", "alerts.yaml"].map((name) =>
        join(MONITORING, name)
      ),
    }),
  );
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${listener.addr.port}`;
  listener.close();
  const child = new Deno.Command("prometheus", {
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=${address}`,
      "--log.level=error",
    ],
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  const query = async (expr: string): Promise<Sample[]> => {
    const response = await fetch(`http://${address}/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query: expr }),
    });
    const reply: { error?: string; data: { result: Sample[] } } = await response
      .json();
    if (reply.error !== undefined) throw new Error(`${expr}: ${reply.error}`);
    return reply.data.result;
  };
  /** The server reports nothing by itself. */
  const polled = async <T>(ask: () => Promise<T | undefined>): Promise<T> => {
    for (;;) {
      const found = await ask();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  await withTimeout(
    polled(() =>
      fetch(`http://${address}/-/ready`).then(async (response) => {
        await response.body?.cancel();
        return response.ok ? true : undefined;
      }, () => undefined)
    ),
    "Prometheus is not ready",
  );
  return {
    query,
    until: (expr) =>
      withTimeout(
        polled(async () => {
          const found = await query(expr);
          return found.length > 0 ? found : undefined;
        }),
        `${expr} has no samples`,
      ),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}
