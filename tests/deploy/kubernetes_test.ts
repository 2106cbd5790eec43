/** `deploy/kubernetes/`: each rendered overlay is valid by the published types, and hardened. */
import assert from "node:assert/strict";
import * as kinds from "kubernetes";
import { HEALTH_ROUTES } from "../../routes/health.ts";
import { PLACES, USER } from "../../deploy/image/places.ts";
import { VERSION } from "../../gateway/version.ts";
import { assertSettings } from "../support/deploy/deployed.ts";
import {
  kubectlRender,
  render,
  type Resource,
} from "../support/deploy/kustomize.ts";

const FOLDER = new URL("../../deploy/kubernetes/", import.meta.url).pathname;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold: number;
}

/** What the rules read of a Deployment. */
interface Deployment {
  readonly spec: {
    readonly replicas?: number;
    readonly strategy: { readonly type: string };
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly automountServiceAccountToken: boolean;
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: object;
        readonly topologySpreadConstraints: readonly {
          readonly topologyKey: string;
          readonly labelSelector: { readonly matchLabels: unknown };
        }[];
        readonly containers: readonly {
          readonly image: string;
          readonly ports: readonly {
            readonly name: string;
            readonly containerPort: number;
          }[];
          readonly env: readonly {
            readonly name: string;
            readonly value: string;
          }[];
          readonly startupProbe: Probe;
          readonly readinessProbe: Probe;
          readonly livenessProbe: Probe;
          readonly resources: {
            readonly requests: Readonly<Record<string, string>>;
            readonly limits: Readonly<Record<string, string>>;
          };
          readonly securityContext: object;
          readonly volumeMounts: readonly {
            readonly name: string;
            readonly mountPath: string;
          }[];
        }[];
        readonly volumes: readonly {
          readonly name: string;
          readonly secret?: { readonly secretName: string };
          readonly emptyDir?: object;
          readonly persistentVolumeClaim?: { readonly claimName: string };
        }[];
      };
    };
  };
}

const SECRETS = `/run/secrets/model-gateway`;

/** The keys that the commands of an overlay put into the secret. */
async function secretKeys(overlay: string): Promise<string[]> {
  const text = await Deno.readTextFile(
    `${FOLDER}overlays/${overlay}/kustomization.yaml`,
  );
  return [...text.matchAll(/--from-literal=([a-z_]+)=/g)].map(([, key = ""]) =>
    key
  );
}

function one(resources: readonly Resource[], kind: string): Resource {
  const [found, ...others] = resources.filter((it) => it.kind === kind);
  assert.ok(found !== undefined && others.length === 0, kind);
  return found;
}

for (const overlay of ["postgres", "sqlite"]) {
  Deno.test({
    name:
      `kubectl renders the overlay ${overlay} as these tests do (skipped without it)`,
    ignore: kubectlRender === undefined,
    async fn() {
      const folder = `${FOLDER}overlays/${overlay}`;
      const byKind = (found: readonly Resource[]) =>
        found.toSorted((one, other) => one.kind < other.kind ? -1 : 1);
      assert.deepEqual(
        byKind(kubectlRender?.(folder) ?? []),
        byKind(await render(folder)),
      );
    },
  });

  Deno.test(`the overlay ${overlay} is valid, hardened and has time to end`, async (t) => {
    const resources = await render(`${FOLDER}overlays/${overlay}`);
    const deployment = one(
      resources,
      "Deployment",
    ) as unknown as Deployment;
    const { spec: pod, metadata } = deployment.spec.template;
    const [container, ...others] = pod.containers;
    assert.ok(container !== undefined && others.length === 0);

    await t.step(
      "by the types of Kubernetes and of the Prometheus operator",
      () => {
        for (const resource of resources) {
          const Kind = kinds[resource.kind as keyof typeof kinds];
          assert.ok(Kind !== undefined, resource.kind);
          new Kind(resource as never).validate();
          if (resource.kind !== "Namespace") {
            assert.equal(resource.metadata["namespace"], "model-gateway");
          }
        }
        assert.ok(resources.length >= 7);
        const wrong = new kinds.Deployment(
          { spec: { replicas: "2" } } as never,
        );
        assert.throws(() => wrong.validate(), /replicas must be integer/);
      },
    );

    await t.step("without privileges, as the namespace demands", () => {
      assert.equal(
        (one(resources, "Namespace").metadata["labels"] as object)[
          "pod-security.kubernetes.io/enforce" as never
        ],
        "restricted",
      );
      assert.deepEqual(pod.securityContext, {
        runAsNonRoot: true,
        runAsUser: USER,
        runAsGroup: USER,
        fsGroup: USER,
        fsGroupChangePolicy: "OnRootMismatch",
        seccompProfile: { type: "RuntimeDefault" },
      });
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      assert.equal(pod.automountServiceAccountToken, false);
      for (
        const list of [container.resources.requests, container.resources.limits]
      ) {
        assert.deepEqual(Object.keys(list).toSorted(), ["cpu", "memory"]);
      }
      assert.ok(container.image.endsWith(`:${VERSION}`), container.image);
    });

    await t.step(
      "with settings, secrets as files, and time to end",
      async () => {
        const env = Object.fromEntries(
          container.env.map(({ name, value }) => [name, value]),
        );
        assert.ok(!("envFrom" in container));
        assert.ok("VENDORA_API_KEY_FILE" in env);
        const keys = await secretKeys(overlay);
        assertSettings(env, {
          readable: keys.map((key) => `${SECRETS}/${key}`),
          graceSeconds: pod.terminationGracePeriodSeconds,
        });
        const mounts = new Map(
          container.volumeMounts.map(({ mountPath, name }) => [
            mountPath,
            pod.volumes.find((volume) => volume.name === name),
          ]),
        );
        assert.ok(mounts.get(SECRETS)?.secret?.secretName === "model-gateway");
        assert.ok(mounts.has("/etc/model-gateway"));
        const data = mounts.get(`/${PLACES.data}`);
        const isSqlite = overlay === "sqlite";
        assert.equal(data?.emptyDir !== undefined, !isSqlite);
        assert.equal(data?.persistentVolumeClaim !== undefined, isSqlite);
        assert.equal("DATABASE_URL_FILE" in env, !isSqlite);
      },
    );

    await t.step(
      "with probes that notice an end before it refuses calls",
      () => {
        const paths = HEALTH_ROUTES.map(({ path }) => path);
        for (
          const [probe, path] of [
            [container.startupProbe, "/readyz"],
            [container.readinessProbe, "/readyz"],
            [container.livenessProbe, "/healthz"],
          ] as const
        ) {
          assert.equal(probe.httpGet.path, path);
          assert.ok(paths.includes(path));
          assert.ok(
            container.ports.some(({ name }) => name === probe.httpGet.port),
          );
        }
        const { periodSeconds, timeoutSeconds = 1, failureThreshold } =
          container.readinessProbe;
        const delay = Number(
          container.env.find(({ name }) =>
            name === "GATEWAY_SHUTDOWN_DELAY_SECONDS"
          )?.value,
        );
        assert.ok(periodSeconds * failureThreshold + timeoutSeconds < delay);
      },
    );

    await t.step("with objects that select the pods and their port", () => {
      const { labels } = metadata;
      const spec = (kind: string) =>
        one(resources, kind)["spec"] as never as {
          readonly selector: { readonly matchLabels: unknown };
          readonly podSelector: { readonly matchLabels: unknown };
          readonly ports: readonly { readonly name: string }[];
          readonly endpoints: readonly { readonly port: string }[];
          readonly egress: readonly {
            readonly ports: readonly { readonly port: number }[];
          }[];
          readonly minReplicas: number;
          readonly maxUnavailable: number;
          readonly accessModes: readonly string[];
        };
      assert.deepEqual(spec("Service").selector, labels);
      assert.deepEqual(spec("NetworkPolicy").podSelector.matchLabels, labels);
      assert.deepEqual(spec("ServiceMonitor").selector.matchLabels, labels);
      assert.deepEqual(
        spec("ServiceMonitor").endpoints.map(({ port }) => port),
        spec("Service").ports.map(({ name }) => name),
      );
      const ports = spec("NetworkPolicy").egress.flatMap(({ ports }) =>
        ports.map(({ port }) => port)
      );
      assert.equal(ports.includes(5432), overlay === "postgres");
      if (overlay === "postgres") {
        assert.equal(spec("PodDisruptionBudget").maxUnavailable, 1);
        assert.deepEqual(
          pod.topologySpreadConstraints.map((
            { topologyKey, labelSelector },
          ) => [
            topologyKey,
            labelSelector.matchLabels,
          ]),
          [
            ["topology.kubernetes.io/zone", labels],
            ["kubernetes.io/hostname", labels],
          ],
        );
        assert.deepEqual(
          spec("PodDisruptionBudget").selector.matchLabels,
          labels,
        );
        assert.ok(spec("HorizontalPodAutoscaler").minReplicas >= 2);
        // The autoscaler's number would be overwritten.
        assert.equal(deployment.spec.replicas, undefined);
        assert.equal(deployment.spec.strategy.type, "RollingUpdate");
      } else {
        assert.deepEqual(spec("PersistentVolumeClaim").accessModes, [
          "ReadWriteOncePod",
        ]);
        assert.equal(deployment.spec.replicas, 1);
        assert.deepEqual(deployment.spec.strategy, { type: "Recreate" });
        for (const kind of ["PodDisruptionBudget", "HorizontalPodAutoscaler"]) {
          assert.ok(!resources.some((it) => it.kind === kind), kind);
        }
      }
    });
  });
}
