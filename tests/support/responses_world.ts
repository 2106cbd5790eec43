/**
 * A gateway whose only model is at an upstream that speaks the Responses format.
 */
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { anthropicAt, openaiAt } from "./clients/library_clients.ts";
import {
  type ResponsesUpstream,
  startResponsesUpstream,
} from "./upstreams/responses_upstream.ts";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "./test_gateway.ts";

export const RESPONSES_MODEL = "house-model";

export interface ResponsesWorld {
  readonly gateway: TestGateway;
  readonly upstream: ResponsesUpstream;
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
}

/** Runs a test against a gateway whose model {@linkcode RESPONSES_MODEL} has this upstream. */
export async function withResponsesUpstream(
  run: (world: ResponsesWorld) => Promise<void>,
  options: Partial<TestGatewayOptions> = {},
): Promise<void> {
  await using upstream = startResponsesUpstream();
  await using gateway = await startTestGateway({
    realVendors: true,
    ...options,
    env: {
      B_KEY: "key-b",
      VENDORB_API_KEY: "key-of-b",
      VENDORB_BASE_URL: `${upstream.url}/v1`,
      ...options.env,
    },
    configFile: JSON.stringify({
      vendors: {
        b: {
          kind: "vendorb",
          base_url: `${upstream.url}/v1`,
          api_key_env: "B_KEY",
        },
      },
      models: {
        [RESPONSES_MODEL]: {
          free: true,
          candidates: [{
            vendor: "b",
            upstream_model: "model-b",
            dialect: "responses",
          }],
        },
      },
    }),
  });
  await run({
    gateway,
    upstream,
    openai: openaiAt(gateway.url),
    anthropic: anthropicAt(gateway.url),
  });
}
