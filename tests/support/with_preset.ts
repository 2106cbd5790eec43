/**
 * A gateway with one model, at a compatible host on loopback with the habits of a preset.
 */
import {
  COMPLETION,
  type HostUpstream,
  startHostUpstream,
} from "./upstreams/host_upstream.ts";
import { startTestGateway, type TestGateway } from "./test_gateway.ts";

/** The only model of the gateway that {@linkcode withPreset} starts. */
export const MODEL = "house-model";

/** Starts a compatible host and a gateway in front of it. */
export async function withPreset(
  preset: string | undefined,
  run: (gateway: TestGateway, host: HostUpstream) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
  upstreamModel = "m",
): Promise<void> {
  await using host = startHostUpstream();
  host.answer(() => Response.json(COMPLETION));
  await using gateway = await startTestGateway({
    realVendors: true,
    env: { ...env },
    configFile: JSON.stringify({
      vendors: {
        host: {
          kind: "openai_compatible",
          ...(preset === undefined ? {} : { preset }),
          base_url: `${host.url}/v1`,
          auth: "none",
        },
      },
      models: {
        [MODEL]: {
          price: {
            input: 1,
            output: 1,
            cache_read: 1,
            cache_write: 1,
            cache_write_1h: 1,
            audio_input: 1,
          },
          candidates: [{ vendor: "host", upstream_model: upstreamModel }],
        },
      },
    }),
  });
  await run(gateway, host);
}
