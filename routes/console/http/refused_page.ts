/**
 * An error of a page whose visitor is known: it is shown in the frame of the visitor's pages.
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { ApiError } from "../../../translate/model/error.ts";
import { faultsOf, FormFaults } from "./form_faults.ts";

/** An error with the session in which it happened. */
export class RefusedPage extends FormFaults {
  /** Whose page it is. */
  readonly visit: Visit;
  /** Shows the form again with the problem of its input; absent: the request has no form. */
  readonly again: ((visit: Visit) => Promise<HttpReply>) | undefined;

  /** The page of `error`. */
  constructor(
    error: ApiError,
    visit: Visit,
    again?: (visit: Visit) => Promise<HttpReply>,
  ) {
    super(error, faultsOf(error).slice(1));
    this.visit = visit;
    this.again = again;
  }
}
