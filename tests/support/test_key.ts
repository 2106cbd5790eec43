/** The key that a test gateway accepts; here for programs that load no gateway. */
export const TEST_KEY = "sk-test-0123456789abcdef";
