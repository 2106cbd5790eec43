/**
 * Writes a call for the first of some candidates whose format can express it.
 */
import { ApiError } from "../../translate/model/error.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import type { Operation, PreparedCall, Reply } from "../upstream/operation.ts";

/**
 * The first candidate from `next` whose format can express the request. Adds the others to
 * `incompatible`.
 *
 * @param fits whether a call can still be made at a candidate; absent: at each
 * @throws {ApiError} the first candidate's refusal, if none is compatible
 */
export async function firstCompatible(
  operation: Operation<Reply>,
  next: () => Candidate | undefined,
  incompatible: Candidate[],
  fits: (call: PreparedCall<Reply>) => boolean = () => true,
): Promise<PreparedCall<Reply> | undefined> {
  let refusal: ApiError | undefined;
  for (;;) {
    const candidate = next();
    if (candidate === undefined) {
      if (refusal === undefined) return undefined;
      throw refusal;
    }
    try {
      const prepared = operation.prepare(candidate);
      const call = prepared instanceof Promise ? await prepared : prepared;
      if (fits(call)) return call;
      incompatible.push(candidate);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal ??= error;
      incompatible.push(candidate);
    }
  }
}
