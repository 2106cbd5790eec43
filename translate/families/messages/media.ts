/**
 * Refusals of media that the messages and the Converse formats do not take.
 */
import { type ApiError, invalidField } from "../../model/error.ts";
import type { FieldNames } from "../../model/field_names.ts";
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
} from "../../model/request.ts";

/** The media types of images that the formats take. */
export const PICTURES: readonly string[] = [
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
];

/** The reasons to refuse media. */
const REFUSALS = {
  sound: "",
  address: " by its address; send its bytes",
  picture: ` unless it is ${PICTURES.join(", ")}`,
  document: " unless it is application/pdf or text",
  office: " unless it is a PDF, a Word or Excel document or text",
} as const;

/** The error for media that cannot be sent. `words` are the client's field names. */
export function refusedMedia(
  part: ImagePart | DocumentPart | AudioPart,
  words: FieldNames,
  reason: keyof typeof REFUSALS,
): ApiError {
  return invalidField(
    part.at ?? words.messages,
    `${words[part.type]} cannot be sent to this model${REFUSALS[reason]}`,
  );
}
