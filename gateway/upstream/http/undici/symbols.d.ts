/**
 * Types of `undici/lib/core/symbols.js`.
 */
declare const symbols: {
  /** The key of a socket's parser. */
  readonly kParser: unique symbol;
};
export default symbols;
