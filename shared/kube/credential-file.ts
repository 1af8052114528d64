// Reads a file that holds credentials, as it is between two rotations.

/**
 * A program that replaces a file may empty it first. An empty file means "in between": without a
 * token the API server would take us for somebody else.
 */
export async function readCredential(path: string, signal: AbortSignal): Promise<string> {
  // With the first call, and not with each start of a function.
  const { readFile } = process.getBuiltinModule('node:fs/promises');
  const text = await readFile(path, { encoding: 'utf8', signal });
  if (text.trim() === '') throw new Error(`${path} is empty`);
  return text;
}
