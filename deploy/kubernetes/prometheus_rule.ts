/**
 * The rules of `deploy/monitoring/` as an object of the Prometheus operator.
 * `deno task prometheus-rule` writes `base/prometheus_rule.yaml`.
 */

const HEAD =
  `# The rules of deploy/monitoring, written by: deno task prometheus-rule
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: model-gateway
spec:
  groups:
`;

/** The object, as text. */
export async function prometheusRule(): Promise<string> {
  const groups = ["recording_rules.yaml", "alerts.yaml"].map(async (name) => {
    const url = new URL(`../monitoring/${name}`, import.meta.url);
    const [first, ...lines] = (await Deno.readTextFile(url)).split("\n");
    if (first !== "groups:") throw new Error(`${name} begins with ${first}`);
    return lines.map((line) => line === "" ? "" : `  ${line}`).join("\n");
  });
  return HEAD + (await Promise.all(groups)).join("");
}

if (import.meta.main) {
  await Deno.writeTextFile(
    new URL("base/prometheus_rule.yaml", import.meta.url),
    await prometheusRule(),
  );
}
