/** Clients of the official libraries that call a test gateway and never repeat a call. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { AzureOpenAI } from "openai";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../test_gateway.ts";

/** A client of the gateway at an address. */
export function openaiAt(url: string, apiKey: string = TEST_KEY): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

/** A client that calls by Azure's convention. */
export function azureAt(url: string): AzureOpenAI {
  return new AzureOpenAI({
    endpoint: url,
    apiKey: TEST_KEY,
    apiVersion: "2025-04-01-preview",
    maxRetries: 0,
  });
}

/** A client of the messages format. */
export function anthropicAt(url: string, apiKey: string = TEST_KEY): Anthropic {
  return new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
}

/** Runs a test with a client of a gateway that has this configuration file. */
export async function withOpenai(
  configFile: string,
  run: (client: OpenAI, gateway: TestGateway) => Promise<void>,
): Promise<void> {
  await using gateway = await startTestGateway({ configFile });
  await run(openaiAt(gateway.url), gateway);
}
