/**
 * Ends a reply whose body is not needed: reads it, because the gateway notices a client that leaves
 * a file unread only some time later; a live list never ends, and is left.
 */
export async function endReply(reply: Response): Promise<void> {
  const type = reply.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) await reply.body?.cancel();
  else await reply.arrayBuffer();
}
