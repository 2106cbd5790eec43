import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "./test_gateway.ts";

/** Runs a test with a gateway of its own. */
export async function withGateway(
  run: (gateway: TestGateway) => Promise<void>,
  options: TestGatewayOptions = {},
): Promise<void> {
  await using gateway = await startTestGateway(options);
  await run(gateway);
}
