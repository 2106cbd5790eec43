/**
 * Reads the body of a form.
 */
import { readBytes } from "../../../gateway/http/request_body.ts";
import { ApiError } from "../../../translate/model/error.ts";
import type { RouteContext } from "../../route.ts";

const FORM_TEXT = new TextDecoder("utf-8", { ignoreBOM: true });

/** Largest form of a signed-in person, in bytes. */
export const MAX_FORM_BYTES = 1024 * 1024;
/** Largest form of anybody else: many are read at once, and each holds a few short fields. */
export const MAX_OPEN_FORM_BYTES = 16 * 1024;

/**
 * The fields of a form of at most `maxBytes`.
 *
 * @throws {ApiError} `unsupported_media`, `too_large`, `request_timeout`, `invalid_request`
 */
export async function readForm(
  context: RouteContext,
  maxBytes: number,
): Promise<URLSearchParams> {
  if (typeOf(context) !== "application/x-www-form-urlencoded") {
    throw new ApiError(
      "unsupported_media",
      "content-type must be application/x-www-form-urlencoded",
      { retryable: false },
    );
  }
  return new URLSearchParams(
    FORM_TEXT.decode(await formBytes(context, maxBytes)),
  );
}

/**
 * The fields of a form with files, each as text.
 *
 * @throws {ApiError} as {@linkcode readForm}; `invalid_request` for a malformed form
 */
export async function readFileForm(
  context: RouteContext,
  maxBytes: number,
): Promise<URLSearchParams> {
  if (typeOf(context) !== "multipart/form-data") {
    return await readForm(context, MAX_FORM_BYTES);
  }
  const bytes = await formBytes(context, maxBytes);
  const fields = new URLSearchParams();
  try {
    const form = await new Response(new Uint8Array(bytes), {
      headers: {
        "content-type": context.request.headers.get("content-type") ?? "",
      },
    }).formData();
    for (const [name, value] of form) {
      fields.append(
        name,
        typeof value === "string" ? value : await value.text(),
      );
    }
  } catch {
    throw new ApiError("invalid_request", "the form could not be read", {
      retryable: false,
    });
  }
  return fields;
}

function typeOf({ request }: RouteContext): string | undefined {
  return request.headers.get("content-type")?.split(";")[0]?.trim()
    .toLowerCase();
}

function formBytes(
  { request, gateway }: RouteContext,
  maxBytes: number,
): Promise<Uint8Array> {
  return readBytes(
    request,
    { maxBytes, timeoutMs: gateway.config.bodyTimeoutMs },
    gateway.timers,
  );
}
