/**
 * Why the gateway closes a web socket (RFC 6455, 7.4.1).
 */
export const CLOSED = {
  normal: 1000,
  goingAway: 1001,
  notText: 1003,
  refused: 1008,
  tooLarge: 1009,
  failed: 1011,
} as const;
