import { startChild } from "../load/child.ts";
import type { Upstream } from "../targets/target.ts";

/** Starts the mock upstream with its command-line arguments; the stack ends it. */
export async function startMock(
  stack: AsyncDisposableStack,
  args: readonly string[] = [],
): Promise<Upstream> {
  const mock = stack.use(startChild("mock/mock_upstream.ts", args));
  // The message's shape is defined in mock_upstream.ts.
  const { port } = await mock.receive() as { readonly port: number };
  return { port, pid: mock.pid };
}
