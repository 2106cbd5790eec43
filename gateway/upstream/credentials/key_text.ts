/** A key is sent as a header: visible ASCII characters only. */
export const KEY_TEXT: RegExp = /^[\x21-\x7e]+$/;
