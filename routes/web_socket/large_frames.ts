/**
 * Large frames of a client as fragments, so that each is unmasked when it arrives: the package `ws`
 * unmasks a frame at once when its last byte has come, which for 25 MB takes 30 to 60 ms. A frame
 * that breaks a rule is left as it is; `ws` refuses it. Frames: RFC 6455, section 5.2.
 */
import { joinPieces } from "../../translate/bytes/buffers.ts";

/** Payload of one fragment: a multiple of the mask's length, and written with two bytes. */
const FRAGMENT_BYTES = 32 * 1024;
const FINAL = 0x80;
const MASKED = 0x80;
const OPCODE = 0x0f;
const RESERVED = 0x70;
const TWO_BYTES = 126;
const EIGHT_BYTES = 127;
const MASK_BYTES = 4;
/** Opcodes above are of control frames, or unknown. */
const LAST_DATA_OPCODE = 2;

/** The frame whose payload arrives. */
interface OpenFrame {
  /** Bytes of its payload that have not arrived. */
  left: number;
  /** Absent: it is passed on as it is. */
  readonly split?: {
    readonly isFinal: boolean;
    readonly mask: Uint8Array;
    /** Opcode of the next fragment: 0 from the second on. */
    opcode: number;
    /** Payload that waits for the rest of its fragment. */
    held: Uint8Array[];
    heldBytes: number;
  };
}

/** The frames that one client sends. */
export class LargeFrames {
  readonly #maxBytes: number;
  /** The beginning of a frame whose head is not complete. */
  #head = new Uint8Array();
  #frame: OpenFrame | undefined;

  /** @param maxBytes payload of a frame that is too large: it is left as it is */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The frames in these bytes, as far as they can be passed on. */
  split(bytes: Uint8Array): Uint8Array {
    const out: Uint8Array[] = [];
    let isChanged = this.#isHolding();
    for (let rest = bytes; rest.length > 0;) {
      rest = this.#frame === undefined
        ? this.#readHead(rest, out)
        : this.#readPayload(this.#frame, rest, out);
      isChanged ||= this.#isHolding();
    }
    return isChanged ? joinPieces(out) : bytes;
  }

  #isHolding(): boolean {
    return this.#head.length > 0 || this.#frame?.split !== undefined;
  }

  #readHead(
    bytes: Uint8Array,
    out: Uint8Array[],
  ): Uint8Array {
    const begun = this.#head.length;
    const all = begun === 0 ? bytes : joinPieces([this.#head, bytes]);
    const size = headSize(all);
    if (size === undefined || all.length < size) {
      this.#head = all.slice();
      return all.subarray(all.length);
    }
    this.#head = new Uint8Array();
    const head = all.subarray(0, size);
    this.#frame = this.#openFrame(head);
    if (this.#frame.split === undefined) out.push(head);
    if (this.#frame.left === 0) this.#frame = undefined;
    return all.subarray(size);
  }

  #openFrame(head: Uint8Array): OpenFrame {
    const [first = 0, second = 0] = head;
    const left = payloadSize(head);
    const opcode = first & OPCODE;
    const isLarge = left > FRAGMENT_BYTES && left <= this.#maxBytes;
    const isRight = (first & RESERVED) === 0 && (second & MASKED) !== 0 &&
      opcode <= LAST_DATA_OPCODE;
    if (!isLarge || !isRight) return { left };
    return {
      left,
      split: {
        isFinal: (first & FINAL) !== 0,
        mask: head.slice(-MASK_BYTES),
        opcode,
        held: [],
        heldBytes: 0,
      },
    };
  }

  #readPayload(
    frame: OpenFrame,
    bytes: Uint8Array,
    out: Uint8Array[],
  ): Uint8Array {
    const { split } = frame;
    const wanted = split === undefined
      ? frame.left
      : Math.min(frame.left, FRAGMENT_BYTES - split.heldBytes);
    const piece = bytes.subarray(0, wanted);
    frame.left -= piece.length;
    if (frame.left === 0) this.#frame = undefined;
    if (split === undefined) out.push(piece);
    else {
      split.held.push(piece);
      split.heldBytes += piece.length;
      if (frame.left === 0 || split.heldBytes === FRAGMENT_BYTES) {
        out.push(fragmentHead(split, frame.left === 0), ...split.held);
        split.opcode = 0;
        split.held = [];
        split.heldBytes = 0;
      }
    }
    return bytes.subarray(piece.length);
  }
}

/** Bytes of a frame's head; undefined if it needs more bytes. */
function headSize([, second]: Uint8Array): number | undefined {
  if (second === undefined) return undefined;
  const length = second & ~MASKED;
  const lengthBytes = length === EIGHT_BYTES ? 8 : length === TWO_BYTES ? 2 : 0;
  return 2 + lengthBytes + ((second & MASKED) === 0 ? 0 : MASK_BYTES);
}

/** The payload's size by a complete head; a size beyond whole numbers is rounded. */
function payloadSize(head: Uint8Array): number {
  const view = new DataView(head.buffer, head.byteOffset);
  const length = view.getUint8(1) & ~MASKED;
  if (length === TWO_BYTES) return view.getUint16(2);
  return length === EIGHT_BYTES ? Number(view.getBigUint64(2)) : length;
}

function fragmentHead(
  { isFinal, mask, opcode, heldBytes }: NonNullable<OpenFrame["split"]>,
  isLast: boolean,
): Uint8Array {
  return new Uint8Array([
    (isFinal && isLast ? FINAL : 0) | opcode,
    MASKED | TWO_BYTES,
    heldBytes >> 8,
    heldBytes & 0xff,
    ...mask,
  ]);
}
