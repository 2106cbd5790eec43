/**
 * `accounts import FILE`: many accounts at once.
 */
import { createHash } from "node:crypto";
import { invalidField } from "../../translate/model/error.ts";
import { check } from "../../translate/model/schema.ts";
import type { Admin } from "../accounts/repositories/admin.ts";
import {
  IMPORT_OPERATIONS,
  type ImportReply,
  importReply,
  MAX_IMPORT_CHARS,
} from "../admin/account_import.ts";
import { textTable } from "./text_table.ts";

/**
 * Runs the operation with the text of a file.
 *
 * @throws {ApiError} from the operation; `invalid_request` for a file that is too large
 */
export async function importFile(
  path: string,
  { apply = false, idempotency_key: key }: Readonly<Record<string, unknown>>,
  admin: Admin,
  read: (path: string) => AsyncIterable<string>,
): Promise<ImportReply> {
  let file = "";
  for await (const piece of read(path)) {
    file += piece;
    if (file.length > MAX_IMPORT_CHARS) {
      throw invalidField(
        "file",
        `must have at most ${MAX_IMPORT_CHARS} characters`,
      );
    }
  }
  const [operation] = IMPORT_OPERATIONS;
  return check(
    importReply,
    await operation?.run(admin, {
      body: { file, apply },
      idempotencyKey: typeof key === "string"
        ? key
        : createHash("sha256").update(file).digest("hex"),
    }),
  );
}

/** A line for each of the file. */
export function importText(
  { applied, changes, failed, data }: ImportReply,
): string {
  return [
    textTable({
      data: data.map(({ line, account, changes: own, error, key }) => ({
        line,
        account,
        [applied ? "done" : "would"]: error === null
          ? own.join("; ") || "nothing, it is so already"
          : "",
        error: error?.message ?? "",
        ...(applied ? { key: key ?? "" } : {}),
      })),
    }),
    failed > 0
      ? `${failed} of ${data.length} lines have an error${
        applied ? "; the others are done" : ": nothing would be done"
      }.`
      : applied
      ? `${changes} changes are made. Keys are shown this time only.`
      : `${changes} changes would be made: --apply makes them.`,
  ].join("\n\n");
}
