// Test files that a run of vitest is to leave out: the ladder says so to `vitest.config.ts`.

import { env } from 'node:process';

const SETTING = 'BALLAST_LEFT_OUT';

/** From the top of the repository, as they are told. */
export const leftOutFiles = (): readonly string[] =>
  JSON.parse(env[SETTING] ?? '[]') as readonly string[];

/** Also when it is none: a ladder below a ladder leaves out its own. */
export const leavingOut = (files: readonly string[]): Readonly<Record<string, string>> => ({
  [SETTING]: JSON.stringify(files),
});
