// The user that runs us, by number: in a container it may be one that no file of users knows, and
// then asking the system for more about it fails.

/** Windows has none, and runs no parts either. */
export const userId = (): number => process.getuid?.() ?? 0;
