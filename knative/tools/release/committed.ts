// A release names its commit, so what is in it has to be what that commit has.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

/** There is something that the commit does not have. */
export class NotCommitted extends Error {
  override readonly name = 'NotCommitted';
}

const root = resolve(import.meta.dirname, '../../..');

export async function assertCommitted(repository = root): Promise<void> {
  const git = promisify(execFile)('git', ['status', '--porcelain'], { cwd: repository });
  // An archive of the sources has no history, and its images name no commit.
  const { stdout } = await git.catch(() => ({ stdout: '' }));
  const [first] = stdout.split('\n', 1);
  if (first === undefined || first === '') return;
  throw new NotCommitted(`A release names its commit, which is without this: ${first.trim()}`);
}
