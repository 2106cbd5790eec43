/**
 * `GET /admin/v1/ledger/export`: the ledger as JSON Lines or CSV, read from the store as fast as the reader takes it.
 *
 * @module
 */
import { exportLedger } from "../../gateway/admin/ledger.ts";
import type { OpenRoute } from "../route.ts";
import { admitted, type DeskOf, queryOf } from "./door.ts";

/** The route. */
export function ledgerExportRoute(deskOf: DeskOf): OpenRoute {
  return {
    access: "open",
    method: "GET",
    path: "/admin/v1/ledger/export",
    operation: "exportLedger",
    async handle(context) {
      const admin = admitted(context, deskOf);
      const { contentType, text } = exportLedger(admin, queryOf(context.query));
      // The first piece is read before the status is told: a store that is down is a 503, not half a file.
      let next = await text.next();
      const encoder = new TextEncoder();
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        async pull(controller) {
          if (next.done === true) return controller.close();
          controller.enqueue(encoder.encode(next.value));
          next = await text.next();
        },
        async cancel() {
          await text.return();
        },
      });
      return { status: 200, headers: { "content-type": contentType }, body };
    },
  };
}
