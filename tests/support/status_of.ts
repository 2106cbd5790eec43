/** The status of a reply whose body is not read. */
export async function statusOf(
  reply: Response | Promise<Response>,
): Promise<number> {
  const { status, body } = await reply;
  await body?.cancel();
  return status;
}
