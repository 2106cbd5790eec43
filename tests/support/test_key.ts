/** The key that a test gateway accepts. In a file of its own: programs that load no gateway use it, too. */
export const TEST_KEY = "sk-test-0123456789abcdef";
