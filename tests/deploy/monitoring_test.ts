/** `deploy/monitoring/`: promtool judges rules and metrics, a real Prometheus every query. */
import assert from "node:assert/strict";
import { prometheusRule } from "../../deploy/kubernetes/prometheus_rule.ts";
import { dashboard } from "../../deploy/monitoring/dashboard.ts";
import { run } from "../../deploy/image/run.ts";
import { ADMIN_TOKEN } from "../support/console/visitor.ts";
import { readDocuments } from "../support/deploy/kustomize.ts";
import {
  hasPrometheus,
  MONITORING,
  startPrometheus,
} from "../support/deploy/prometheus.ts";
import { MODEL, withCandidates } from "../support/with_candidates.ts";
import { bearer } from "../support/clients/bearer.ts";

const PAGE = new URL("../../docs/alerts.md", import.meta.url);

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: { readonly severity: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

async function rulesOf(name: string): Promise<readonly Rule[]> {
  const [document] = await readDocuments(`${MONITORING}${name}`);
  const { groups } = document as unknown as {
    groups: readonly { rules: readonly Rule[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}

/** The rules that fire, by the tests of promtool. */
async function testedAlerts(): Promise<Set<string>> {
  const text = await Deno.readTextFile(`${MONITORING}alerts_test.yaml`);
  return new Set(
    [...text.matchAll(/alertname="(\w+)"\}/g)].map(([, name = ""]) => name),
  );
}

Deno.test("every alert has a severity, a test that it fires, and a section of what to do", async () => {
  const page = await Deno.readTextFile(PAGE);
  const tested = await testedAlerts();
  const alerts = await rulesOf("alerts.yaml");
  for (const { alert = "", labels, annotations } of alerts) {
    assert.match(labels?.severity ?? "", /^(page|ticket)$/, alert);
    assert.ok(tested.has(alert), `${alert} is not tested`);
    assert.equal(
      annotations?.["runbook"],
      `docs/alerts.md#${alert.toLowerCase()}`,
    );
    assert.match(
      page,
      new RegExp(
        `^## ${alert}\n\n- \\*\\*Look at\\*\\*: [^]*?\n- \\*\\*Do\\*\\*: `,
        "m",
      ),
    );
  }
  const sections = [...page.matchAll(/^## (Gateway\w+)$/gm)].map(([, name]) =>
    name
  );
  assert.deepEqual(sections, alerts.map(({ alert }) => alert));
});

Deno.test("dashboard.json is what its script makes", async () => {
  assert.equal(
    await Deno.readTextFile(`${MONITORING}dashboard.json`),
    dashboard(),
    "deno task dashboard",
  );
});

Deno.test("prometheus_rule.yaml is what its script makes, with every rule", async () => {
  const file = new URL(
    "../../deploy/kubernetes/base/prometheus_rule.yaml",
    import.meta.url,
  );
  assert.equal(
    await Deno.readTextFile(file),
    await prometheusRule(),
    "deno task prometheus-rule",
  );
  const [rule] = await readDocuments(file.pathname);
  const { groups } = rule?.["spec"] as unknown as {
    groups: readonly { rules: readonly Rule[] }[];
  };
  assert.deepEqual(groups.flatMap(({ rules }) => rules), [
    ...await rulesOf("recording_rules.yaml"),
    ...await rulesOf("alerts.yaml"),
  ]);
});

Deno.test({
  name: "promtool accepts the rules, and their tests pass (skipped without it)",
  ignore: !hasPrometheus,
  async fn() {
    for (const name of ["recording_rules.yaml", "alerts.yaml"]) {
      await run("promtool", ["check", "rules", `${MONITORING}${name}`]);
    }
    await run("promtool", ["test", "rules", `${MONITORING}alerts_test.yaml`]);
  },
});

/** `read_replica_test.ts` has them: this gateway has no replica. */
const OF_REPLICA = [
  "gateway_read_replica_up",
  "gateway_read_replica_lag_seconds",
];

/** Panels of failures and of a replica: a gateway without them has none of their series. */
const EMPTY_PANELS = [
  "Breakers that are not closed",
  "Read replica, seconds behind",
];

Deno.test({
  name:
    "promtool accepts the metrics, and every query of the dashboard and the rules has samples in Prometheus (skipped without it)",
  ignore: !hasPrometheus,
  fn: () =>
    withCandidates(
      { env: { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN } },
      async ({ gateway, a, ask }) => {
        await gateway.accounts.runAudit();
        gateway.gateway.events?.count("configuration_refused");
        const calls = async (): Promise<void> => {
          a.play([], { status: 529 });
          await (await ask()).text();
          a.play(["ok"]);
          await (await ask()).text();
          await (await ask({ body: { model: "unknown" } })).text();
        };
        await calls();
        const text = await metricsText(gateway.url);
        await promtoolCheck(text);

        const { host } = new URL(gateway.url);
        await using prometheus = await startPrometheus([host], ADMIN_TOKEN);
        await prometheus.until(
          `gateway_cost_micro_usd_total{model="${MODEL}"}`,
        );
        // Rates are of what changes between two looks.
        await calls();
        await prometheus.until(
          "rate(gateway_upstream_fallbacks_total[5m]) > 0",
        );
        await prometheus.until(
          "job_model:gateway_time_to_first_byte_seconds:p95_rate5m > 0",
        );
        const { panels }: {
          panels: { title: string; targets?: { expr: string }[] }[];
        } = JSON.parse(dashboard());
        let asked = 0;
        for (const { title, targets = [] } of panels) {
          for (const { expr } of targets) {
            const samples = await prometheus.query(
              expr.replaceAll("$job", ".*").replaceAll("$model", ".*"),
            );
            asked++;
            assert.ok(
              samples.length > 0 || EMPTY_PANELS.includes(title),
              `${title}: ${expr} has no samples`,
            );
          }
        }
        assert.ok(asked > 25, "hardly any query was asked");
        for (const { record = "" } of await rulesOf("recording_rules.yaml")) {
          assert.ok((await prometheus.query(record)).length > 0, record);
        }
        // A name that no metric has would never fire.
        for (const { alert, expr } of await rulesOf("alerts.yaml")) {
          for (const [name] of expr.matchAll(/\b(?:gateway|process)_\w+/g)) {
            assert.ok(
              text.includes(`# TYPE ${name.replace(/_bucket$/, "")} `) ||
                OF_REPLICA.includes(name) || /:/.test(expr),
              `${alert}: there is no metric ${name}`,
            );
          }
        }
        const refused = await prometheus.until(
          'ALERTS{alertname="GatewayConfigurationRefused"}',
        );
        assert.equal(refused[0]?.metric["severity"], "ticket");
      },
    ),
});

async function metricsText(url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`, bearer(ADMIN_TOKEN));
  assert.equal(response.status, 200);
  return await response.text();
}

/** Judges names, units, help texts and types; without complaint there is no output. */
async function promtoolCheck(text: string): Promise<void> {
  const child = new Deno.Command("promtool", {
    args: ["check", "metrics"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  assert.equal(decode(stdout) + decode(stderr), "");
  assert.equal(code, 0);
}
