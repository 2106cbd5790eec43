/** Whether two values of `DATABASE_URL` differ in user and password at most. */
export function isSameStore(first: string, second: string): boolean {
  return first === second || withoutLogin(first) === withoutLogin(second);
}

function withoutLogin(address: string): string {
  return address.startsWith("sqlite:")
    ? address
    : address.replace(/^([a-z]+:\/\/)[^/?#]*@/, "$1");
}
